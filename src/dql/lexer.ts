/**
 * Hot: bench/dql-parser.ts. One pass over the character codes of a request, for queries, schema requests, mutation
 * and upsert blocks alike (reference/dql 4.1, 1.4). What a character means depends on where it stands: between the
 * fields of a block, between the round brackets of a call, inside a mutation … Each place is a function below, which
 * reads until the place changes and returns the next one.
 */
import type { Steps } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import type { Look } from "../model/request-budget.ts";
import { locate } from "../base/position.ts";
import { noFunctions, type FunctionSyntaxes } from "./functions.ts";
import { T, type TokenKind, type Tokens } from "./token.ts";
import {
  isDigit,
  isHexDigit,
  isNameBegin,
  isNamePart,
  printRune,
  quoteRune,
  skipIri,
} from "../base/characters.ts";

type Place = (lexer: Lexer) => Place | undefined;

/** Text → tokens. Throws Fault E_DQL_SYNTAX (`while lexing <text> at line L column C: …`). */
export function lex(text: string, functions: FunctionSyntaxes): Tokens {
  const lexer = new Lexer(text, functions);
  let place: Place | undefined = lexTop;
  while (place !== undefined) place = place(lexer);
  return lexer;
}

/** `lex` that rests every few milliseconds where `look` says so: for bodies of facts. */
export function* lexInSteps(text: string, look: Look): Steps<Tokens> {
  const lexer = new Lexer(text, noFunctions);
  let place: Place | undefined = lexTop;
  for (let next = charactersAtOnce; place !== undefined;) {
    place = place(lexer);
    if (lexer.position < next) continue;
    next = lexer.position + charactersAtOnce;
    yield look(charactersAtOnce >> 7);
  }
  return lexer;
}

/** Characters of facts that are passed over between two looks: a millisecond or two. */
const charactersAtOnce = 262_144;

/** Tokens that there is room for at first: facts are one token, however long. */
const capacityMax = 65_536;

/** Arrays of a text that was read, for the next one: making them costs more than filling them. */
let spare: Pick<Tokens, "kinds" | "starts" | "ends" | "literals"> | undefined;
const spareMax = 4096;

/** Gives the arrays back. The tokens must not be used any more. */
export function releaseTokens({ kinds, starts, ends, literals }: Tokens): void {
  if (kinds.length <= spareMax) spare = { kinds, starts, ends, literals };
}

class Lexer implements Tokens {
  readonly text: string;
  readonly functions: FunctionSyntaxes;
  count = 0;
  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  literals: Int32Array;
  literalCount = 0;
  /** Of the token being read, and of the next character. */
  start = 0;
  position = 0;
  /** Open braces, round brackets, and braces of an upsert block. */
  curls = 0;
  rounds = 0;
  upsertCurls = 0;
  /** Where to go on after a name, a comment or an IRI. */
  place: Place = lexTop;
  /** For each open round bracket, what of its content is lifted. */
  readonly calls: CallKind[] = [];

  constructor(text: string, functions: FunctionSyntaxes) {
    this.text = text;
    this.functions = functions;
    const capacity = Math.min((text.length >> 1) + 8, capacityMax);
    const arrays = spare !== undefined && spare.kinds.length >= capacity ? spare : undefined;
    spare = undefined;
    const size = Math.max(capacity, 256);
    this.kinds = arrays?.kinds ?? new Uint8Array(size);
    this.starts = arrays?.starts ?? new Int32Array(size);
    this.ends = arrays?.ends ?? new Int32Array(size);
    this.literals = arrays?.literals ?? new Int32Array(size);
  }

  /** The next character's code, −1 at the end. */
  peek(): number {
    return this.position < this.text.length ? this.text.charCodeAt(this.position) : -1;
  }

  emit(kind: TokenKind): void {
    const i = this.count++;
    if (i === this.kinds.length) this.grow();
    this.kinds[i] = kind;
    this.literals[i] = 0;
    this.starts[i] = this.start;
    this.ends[i] = this.position;
    this.start = this.position;
  }

  /** Emits the single character that was peeked. */
  emitOne(kind: TokenKind): void {
    this.position++;
    this.emit(kind);
  }

  ignore(): void {
    this.start = this.position;
  }

  word(): string {
    return this.text.slice(this.start, this.position);
  }

  skipName(): void {
    const { text } = this;
    let i = this.position;
    while (i < text.length && isNamePart(text.charCodeAt(i))) i++;
    this.position = i;
  }

  fail(message: string): never {
    const { line, column } = locate(this.text, this.start);
    throw new Fault(
      "E_DQL_SYNTAX",
      `while lexing ${this.text} at line ${line} column ${column}: ${message}`,
    );
  }

  /** `<message>U+0041 'A'` for the character at the position. */
  failAt(message: string): never {
    const code = this.text.codePointAt(this.position);
    return this.fail(message + printRune(code ?? -1));
  }

  private grow(): void {
    const capacity = this.kinds.length * 2;
    this.kinds = widen(this.kinds, new Uint8Array(capacity));
    this.starts = widen(this.starts, new Int32Array(capacity));
    this.ends = widen(this.ends, new Int32Array(capacity));
    this.literals = widen(this.literals, new Int32Array(capacity));
  }
}

function widen<A extends Uint8Array | Int32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

// Outside of everything. Characters that mean nothing are passed over (they end up in front of the next word).

function lexTop(lexer: Lexer): Place | undefined {
  if (lexer.upsertCurls !== 0) return lexUpsert;
  lexer.place = lexTop;
  for (;;) {
    const code = lexer.peek();
    switch (code) {
      case -1:
        if (lexer.position > lexer.start) lexer.emit(T.text);
        lexer.emit(T.eof);
        return undefined;
      case 123: // {
        lexer.position++;
        lexer.curls++;
        lexer.emit(T.leftCurl);
        return lexBlockStart;
      case 125: // }
        return lexer.fail("Too many right curl");
      case 35: // #
        return lexComment;
      case 40: // (
        lexer.emit(T.text);
        openRound(lexer);
        return lexQuery;
      case 9:
      case 10:
      case 13:
      case 32:
        lexer.position++;
        lexer.ignore();
        break;
      default:
        if (isNameBegin(code)) return lexOperation;
        lexer.position++;
    }
  }
}

function lexOperation(lexer: Lexer): Place {
  lexer.skipName();
  const word = lexer.word();
  switch (word) {
    case "mutation":
      lexer.emit(T.operation);
      return lexMutation;
    case "fragment":
    case "query":
      lexer.emit(T.operation);
      return lexQuery;
    case "schema":
      lexer.emit(T.operation);
      return lexSchema;
    case "upsert":
      lexer.emit(T.upsert);
      return lexUpsert;
    default:
      return lexer.fail(`Invalid operation type: ${word}`);
  }
}

/** Behind the first `{`: a mutation, or the name of a query block. */
function lexBlockStart(lexer: Lexer): Place {
  lexer.place = lexBlockStart;
  for (;;) {
    const code = lexer.peek();
    if (isBlank(code)) {
      lexer.position++;
      lexer.ignore();
    } else if (isNameBegin(code)) {
      lexer.skipName();
      const word = lexer.word();
      if (word === "set" || word === "delete" || word === "del") {
        lexer.emit(T.mutationOperation);
        return lexMutation;
      }
      lexer.emit(T.name);
      return lexQuery;
    } else if (code === 60) {
      return lexQuery;
    } else if (code === 35) {
      return lexComment;
    } else if (code === -1) {
      return lexer.fail("Invalid DQL");
    } else {
      return lexer.failAt("Unexpected character while lexing DQL: ");
    }
  }
}

/** Between the fields of a block. */
function lexQuery(lexer: Lexer): Place {
  lexer.place = lexQuery;
  for (;;) {
    const code = lexer.peek();
    if (isNameBegin(code)) {
      lexer.skipName();
      lexer.emit(T.name);
      continue;
    }
    switch (code) {
      case 9:
      case 10:
      case 13:
      case 32:
        lexer.position++;
        lexer.ignore();
        break;
      case 123:
        lexer.curls++;
        lexer.emitOne(T.leftCurl);
        break;
      case 125:
        lexer.curls--;
        lexer.emitOne(T.rightCurl);
        if (lexer.curls === 0) return lexTop;
        break;
      case 40:
        openRound(lexer);
        return lexCall;
      case 58:
        lexer.emitOne(T.colon);
        break;
      case 64:
        lexer.emitOne(T.at);
        return lexTag;
      case 44:
        lexer.emitOne(T.comma);
        break;
      case 46:
        lexer.emitOne(T.period);
        break;
      case 45:
        lexer.emitOne(T.operator);
        break;
      case 42:
        lexer.emitOne(T.star);
        break;
      case 60:
        return lexIri;
      case 35:
        return lexComment;
      case -1:
        return lexer.fail("Unclosed action");
      default:
        return lexer.failAt("Unrecognized character in lexText: ");
    }
  }
}

function openRound(lexer: Lexer): void {
  lexer.calls.push(callKindOf(lexer));
  lexer.emitOne(T.leftRound);
  lexer.rounds++;
}

/** Between the round brackets of a call or an argument list. */
function lexCall(lexer: Lexer): Place {
  lexer.place = lexCall;
  // A comma was read and nothing behind it yet. Brackets and signs do not count as something.
  let isEmpty = false;
  for (;;) {
    const code = lexer.peek();
    if (isNamePart(code) && code !== 46) {
      lexer.skipName();
      emitWord(lexer);
      isEmpty = false;
      continue;
    }
    switch (code) {
      case 9:
      case 10:
      case 13:
      case 32:
        lexer.position++;
        lexer.ignore();
        break;
      case 34:
        isEmpty = false;
        lexString(lexer);
        emitString(lexer);
        break;
      case 44:
        if (isEmpty) return lexer.fail("Consecutive commas not allowed.");
        isEmpty = true;
        lexer.emitOne(T.comma);
        break;
      case 40:
        openRound(lexer);
        break;
      case 41:
        if (lexer.rounds === 0) return lexer.fail("Unexpected right round bracket");
        lexer.calls.pop();
        lexer.rounds--;
        lexer.emitOne(T.rightRound);
        if (isEmpty) return lexer.fail("Empty Argument");
        if (lexer.rounds === 0) return lexQuery;
        break;
      case 58:
        lexer.emitOne(T.colon);
        break;
      case 36:
        lexer.emitOne(T.dollar);
        break;
      case 64:
        lexer.emitOne(T.at);
        return lexTag;
      case 47:
        if (isEmpty) return lexRegex;
        lexer.emitOne(T.operator);
        break;
      case 43:
      case 45:
      case 42:
      case 37:
        lexer.emitOne(T.operator);
        break;
      case 60:
      case 62:
      case 61:
      case 33: {
        const next = lexComparison(lexer, code);
        if (next !== undefined) return next;
        break;
      }
      case 91:
        lexer.emitOne(T.leftSquare);
        break;
      case 93:
        lexer.emitOne(T.rightSquare);
        break;
      case 123:
        isEmpty = false;
        lexer.emitOne(T.leftCurl);
        break;
      case 125:
        lexer.emitOne(T.rightCurl);
        break;
      case 35:
        return lexComment;
      case 46:
        lexer.emitOne(T.period);
        break;
      case -1:
        return lexer.fail("Unclosed Brackets");
      default:
        return lexer.failAt("Unrecognized character inside a func: ");
    }
  }
}

/** `=`, `==`, `<`, `<=`, `!=` …, or the start of `<iri>`. */
function lexComparison(lexer: Lexer, code: number): Place | undefined {
  const next = lexer.text.charCodeAt(lexer.position + 1);
  const isDouble = next === 60 || next === 62 || next === 61 || next === 33;
  if (code === 61 && !isDouble) {
    lexer.emitOne(T.equal);
    return undefined;
  }
  if (code === 60 && next !== 32 && next !== 9 && next !== 61) return lexIri;
  lexer.position += isDouble ? 2 : 1;
  lexer.emit(T.operator);
  return undefined;
}

/** What can be lifted out of the text between two round brackets, so that requests of one shape share a plan. */
type CallKind = "nothing" | "values" | "uids" | "paging";

/** Of the bracket that is about to be opened. */
function callKindOf(lexer: Lexer): CallKind {
  const last = lexer.count - 1;
  if (last < 0 || lexer.kinds[last] !== T.name) return "nothing";
  if (last > 0 && lexer.kinds[last - 1] === T.at) return "nothing";
  const name = lexer.text.slice(lexer.starts[last], lexer.ends[last]).toLowerCase();
  // A field, which takes a password as a function takes a value.
  if (name === "checkpwd") return "values";
  const literals = lexer.functions.get(name)?.literals ?? "none";
  return literals === "none" ? "paging" : literals;
}

function emitWord(lexer: Lexer): void {
  const isLiteral =
    isDigit(lexer.text.charCodeAt(lexer.start)) &&
    endsArgument(lexer) &&
    isPlainInteger(lexer) &&
    isLifted(lexer);
  lexer.emit(T.name);
  if (isLiteral) lexer.literals[lexer.count - 1] = ++lexer.literalCount;
}

function emitString(lexer: Lexer): void {
  const isLiteral =
    lexer.calls[lexer.calls.length - 1] === "values" &&
    endsArgument(lexer) &&
    isLifted(lexer) &&
    !hasEscape(lexer);
  lexer.emit(T.name);
  if (isLiteral) lexer.literals[lexer.count - 1] = ++lexer.literalCount;
}

/** Whether an argument stands where the last token ended that is a value whatever it says. */
function isLifted(lexer: Lexer): boolean {
  const last = lexer.count - 1;
  const before = lexer.kinds[last];
  switch (lexer.calls[lexer.calls.length - 1]) {
    case "values":
      return before === T.comma || before === T.leftSquare;
    case "uids":
      return before === T.comma || before === T.leftRound;
    case "paging":
      return before === T.colon && last > 0 && isPagingWord(tokenText(lexer, last - 1));
    default:
      return false;
  }
}

/** A literal that something else follows could be part of a longer name. */
function endsArgument(lexer: Lexer): boolean {
  const code = lexer.peek();
  return code === 44 || code === 41 || code === 93;
}

function hasEscape(lexer: Lexer): boolean {
  for (let i = lexer.start; i < lexer.position; i++) {
    const code = lexer.text.charCodeAt(i);
    if (code === 92 || code === 10 || code === 13) return true;
  }
  return false;
}

/** 1 … 999999999999999, or up to 13 hexadecimal digits: one way to read it, and never zero. */
function isPlainInteger(lexer: Lexer): boolean {
  const { text, start, position } = lexer;
  const length = position - start;
  if (length > 15) return false;
  if (text.charCodeAt(start) !== 48) return areAll(text, start, position, isDigit);
  if (length < 3 || text.charCodeAt(start + 1) !== 120) return false;
  return (
    areAll(text, start + 2, position, isHexDigit) && !areAll(text, start + 2, position, isZero)
  );
}

function areAll(text: string, from: number, to: number, test: (code: number) => boolean): boolean {
  for (let i = from; i < to; i++) if (!test(text.charCodeAt(i))) return false;
  return true;
}

function isZero(code: number): boolean {
  return code === 48;
}

function isPagingWord(word: string): boolean {
  return word === "first" || word === "offset" || word === "after";
}

function tokenText(lexer: Lexer, index: number): string {
  return lexer.text.slice(lexer.starts[index], lexer.ends[index]);
}

/** `"…"`: stops behind the closing quote. */
function lexString(lexer: Lexer): void {
  const { text } = lexer;
  for (let i = lexer.position + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      lexer.position = i + 1;
      return;
    }
    if (code === 92) {
      i++;
      const escaped = i < text.length ? text.charAt(i) : "\ufffd";
      if (!"uvtbnrf\"'\\".includes(escaped)) {
        const rune = text.codePointAt(i);
        const shown = rune === undefined ? "\ufffd" : String.fromCodePoint(rune);
        lexer.fail(`Not a valid escape char: '${shown}'`);
      }
    }
  }
  lexer.fail("Unexpected end of input.");
}

function lexRegex(lexer: Lexer): Place {
  const { text } = lexer;
  for (let i = lexer.position + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 92) i++;
    else if (code === 47) {
      i++;
      while (i < text.length && isLetter(text.charCodeAt(i))) i++;
      lexer.position = i;
      lexer.emit(T.regex);
      return lexer.place;
    }
  }
  return lexer.fail("Unclosed regexp");
}

/** Behind `@`: a directive, or the first of a list of languages. */
function lexTag(lexer: Lexer): Place {
  const first = lexer.peek();
  if (!isNameBegin(first) && first !== 46 && first !== 42) {
    return lexer.failAt("Unrecognized character in lexDirective: ");
  }
  for (;;) {
    const code = lexer.peek();
    if (code === 46) {
      lexer.position++;
      break;
    }
    if (!isNameBegin(code) && !isDigit(code) && code !== 45 && code !== 42) break;
    lexer.position++;
  }
  lexer.emit(T.name);
  return lexer.place;
}

/** `<iri>`: a name in which nearly everything is allowed. */
function lexIri(lexer: Lexer): Place {
  const { text } = lexer;
  lexer.position++;
  lexer.ignore();
  lexer.position = skipIri(text, lexer.position);
  lexer.emit(T.name);
  const code = text.codePointAt(lexer.position);
  if (code === undefined) return lexer.fail("Unexpected end of IRI");
  if (code !== 62) {
    return lexer.fail(`Unexpected character ${quoteRune(code)} while parsing IRI`);
  }
  lexer.position++;
  lexer.ignore();
  return lexer.place;
}

function lexComment(lexer: Lexer): Place {
  const { text } = lexer;
  let i = lexer.position;
  while (i < text.length) {
    const code = text.charCodeAt(i++);
    if (code === 10 || code === 13) {
      lexer.position = i;
      lexer.ignore();
      return lexer.place;
    }
  }
  lexer.position = i;
  lexer.ignore();
  lexer.emit(T.eof);
  return lexer.place;
}

// schema(…) {…}

function lexSchema(lexer: Lexer): Place {
  lexer.place = lexSchema;
  for (;;) {
    const code = lexer.peek();
    if (isNameBegin(code)) {
      lexer.skipName();
      lexer.emit(T.name);
    } else if (isBlank(code)) {
      lexer.position++;
      lexer.ignore();
    } else if (code === 123) {
      lexer.curls++;
      lexer.emitOne(T.leftCurl);
    } else if (code === 125) {
      lexer.curls--;
      lexer.emitOne(T.rightCurl);
      if (lexer.curls === 0) return lexTop;
    } else if (code === 60) {
      return lexIri;
    } else if (code === 35) {
      return lexComment;
    } else if (code === -1) {
      return lexer.fail("Unclosed schema action");
    } else {
      const kind = schemaPunctuation(code);
      if (kind === undefined) return lexer.failAt("Unrecognized character inside schema: ");
      lexer.emitOne(kind);
    }
  }
}

function schemaPunctuation(code: number): TokenKind | undefined {
  switch (code) {
    case 40:
      return T.leftRound;
    case 41:
      return T.rightRound;
    case 91:
      return T.leftSquare;
    case 93:
      return T.rightSquare;
    case 58:
      return T.colon;
    case 44:
      return T.comma;
    default:
      return undefined;
  }
}

// { set {…} delete {…} }, and the same inside an upsert block

function lexMutation(lexer: Lexer): Place {
  lexer.place = lexMutation;
  for (;;) {
    const code = lexer.peek();
    if (isNameBegin(code)) {
      lexer.skipName();
      lexer.emit(T.mutationOperation);
    } else if (isBlank(code)) {
      lexer.position++;
      lexer.ignore();
    } else if (code === 123) {
      lexer.curls++;
      lexer.emitOne(T.leftCurl);
      if (lexer.curls >= 2) return lexFacts;
    } else if (code === 125) {
      lexer.curls--;
      lexer.emitOne(T.rightCurl);
      if (lexer.curls === 0) return lexTop;
    } else if (code === 64) {
      return lexCondition;
    } else if (code === 35) {
      return lexComment;
    } else if (code === -1) {
      return lexer.fail("Unclosed mutation action");
    } else {
      return lexer.failAt("Unrecognized character inside mutation: ");
    }
  }
}

/** The N-Quads of a set or delete: everything up to the next `}` outside of quotes. */
function lexFacts(lexer: Lexer): Place {
  const { text } = lexer;
  const until = lexer.position + charactersAtOnce;
  for (let i = lexer.position; i < text.length; i++) {
    if (i >= until) {
      lexer.position = i;
      return lexFacts;
    }
    const code = text.charCodeAt(i);
    if (code === 34) {
      i = skipQuoted(text, i);
      if (i === text.length) return lexer.fail("Unclosed mutation value");
    } else if (code === 123) {
      return lexer.fail("Invalid character '{' inside mutation text");
    } else if (code === 125) {
      lexer.position = i;
      lexer.emit(T.mutationContent);
      return lexMutation;
    }
  }
  return lexer.fail("Unclosed mutation text");
}

/** The offset of the closing quote, or the text's length. */
function skipQuoted(text: string, open: number): number {
  for (let i = open + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) return i;
    if (code === 92) i++;
  }
  return text.length;
}

function lexCondition(lexer: Lexer): Place {
  lexer.position++;
  lexer.skipName();
  const word = lexer.word();
  if (word !== "@if") return lexer.fail(`Expected @if, found [${word}]`);
  return lexEnclosed(lexer, 40, 41, lexMutation);
}

// upsert { query {…} mutation @if(…) {…} fragment name {…} }

function lexUpsert(lexer: Lexer): Place {
  lexer.place = lexUpsert;
  for (;;) {
    const code = lexer.peek();
    if (isNameBegin(code)) {
      return lexUpsertOperation(lexer);
    } else if (isBlank(code)) {
      lexer.position++;
      lexer.ignore();
    } else if (code === 123) {
      lexer.upsertCurls++;
      lexer.emitOne(T.leftCurl);
    } else if (code === 125) {
      lexer.upsertCurls--;
      lexer.emitOne(T.rightCurl);
      if (lexer.upsertCurls === 0) return lexTop;
    } else if (code === 35) {
      return lexComment;
    } else if (code === -1) {
      return lexer.fail("Unclosed upsert block");
    } else {
      return lexer.failAt("Unrecognized character in upsert block: ");
    }
  }
}

function lexUpsertOperation(lexer: Lexer): Place {
  lexer.skipName();
  const word = lexer.word();
  if (word !== "query" && word !== "fragment" && word !== "mutation") {
    return lexer.fail(`Invalid operation type: ${word}`);
  }
  lexer.emit(T.upsertOperation);
  return word === "mutation" ? lexMutation : lexEnclosed(lexer, 123, 125, lexUpsert);
}

/** Everything up to the bracket that closes the first one, as one token. */
function lexEnclosed(lexer: Lexer, open: number, close: number, next: Place): Place {
  let depth = 0;
  for (;;) {
    const code = lexer.peek();
    if (code === -1) return lexer.fail("Matching brackets not found");
    if (code === 34) {
      lexString(lexer);
      continue;
    }
    lexer.position++;
    if (code === open) depth++;
    else if (code === close) {
      depth--;
      if (depth < 0) return lexer.fail(`Unopened ${String.fromCharCode(close)} found`);
      if (depth === 0) {
        lexer.emit(T.upsertContent);
        return next;
      }
    }
  }
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
