/**
 * Hot: bench/nquads.ts. One line of N-Quads → a statement (reference/dql 3.1). One pass over character codes; a refusal
 * of the grammar comes before one of a value in the same line, wherever that stands.
 */
import { locate } from "../base/position.ts";
import { isHexDigit, quoteRune, skipIri } from "../base/characters.ts";
import { unquote } from "../base/unquote.ts";
import { ConversionError } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import type { Facet } from "../model/facet.ts";
import { Fault } from "../model/fault.ts";
import { parseUint64 } from "../model/int.ts";
import type { Value, ValueKind } from "../model/value.ts";
import { FacetReader } from "./facet-reader.ts";
import { splitLanguage, star, type Statement } from "./statement.ts";

/** Which part of the statement is next. Behind the label nothing but facets and the dot may come. */
const atSubject = 0;
const atPredicate = 1;
const atObject = 2;
const atLabel = 3;

/** Kinds of names, by the numbers that messages call them. */
const nameKinds = [6, 7, 8, 9];

export class NQuadReader {
  private line = "";
  private position = 0;
  /** Of what is being read, for messages. */
  private start = 0;
  private place = atSubject;
  private subject = "";
  private predicate = "";
  private language = "";
  private objectId = "";
  private literal: string | undefined;
  private value: Value | undefined;
  private isStarObject = false;
  private facets: Facet[] | undefined;
  private hasEnd = false;
  /** The number of a namespace, where the line has one. */
  label: number | undefined;
  /** The first refusal that is not one of the grammar. */
  private refusal: Error | undefined;

  /** undefined for blank lines and comments. Throws Fault E_RDF_SYNTAX. */
  read(text: string): Statement | undefined {
    const line = text.trim();
    if (line === "" || line.charCodeAt(0) === 35) return undefined;
    this.reset(line);
    this.scan();
    if (this.refusal !== undefined) throw this.refusal;
    if (!this.hasEnd) this.refuse(`invalid end of input. Input: [${line}]`);
    return this.toStatement();
  }

  private reset(line: string): void {
    this.line = line;
    this.position = 0;
    this.start = 0;
    this.place = atSubject;
    this.subject = "";
    this.predicate = "";
    this.language = "";
    this.objectId = "";
    this.literal = undefined;
    this.value = undefined;
    this.isStarObject = false;
    this.facets = undefined;
    this.hasEnd = false;
    this.label = undefined;
    this.refusal = undefined;
  }

  private scan(): void {
    const { line } = this;
    while (this.position < line.length) {
      const code = line.charCodeAt(this.position);
      switch (code) {
        case 32:
        case 9:
          this.position++;
          break;
        case 60: // <
        case 95: // _
          this.start = this.position;
          this.readName(code);
          break;
        case 34: // "
          if (this.place !== atObject) this.fail("Invalid quote for non-object.");
          this.start = this.position;
          this.readLiteral();
          break;
        case 42: // *
          this.position++;
          this.start = this.position;
          this.place++;
          this.takeStar();
          break;
        case 46: // .
          this.position++;
          if (this.place <= atObject) break;
          this.start = this.position;
          this.place = atSubject;
          this.takeEnd();
          break;
        case 40: // (
          if (this.place <= atObject) this.fail("Invalid input: ( at Facet");
          this.readFacets();
          break;
        case 35: // #
          if (this.place !== atSubject) this.fail("Invalid input: # at lexText");
          this.position = line.length;
          break;
        case 117: // u
        case 118: // v
          if (this.place !== atSubject && this.place !== atObject) {
            this.fail(`Unexpected char '${String.fromCharCode(code)}'`);
          }
          this.start = this.position;
          this.readVariable();
          break;
        default:
          this.fail(`Invalid input: ${this.characterAt(this.position)} at lexText`);
      }
    }
  }

  private readName(code: number): void {
    if (this.place > atLabel) this.fail(`Invalid input: ${String.fromCharCode(code)} at lexText`);
    if (code === 60) {
      this.place++;
      this.take(this.readIri());
      return;
    }
    if (this.place === atPredicate) this.fail("Invalid character in lexPredicate: '_'");
    this.place++;
    this.take(this.readBlank());
  }

  /** A name for the part that the place has just left. */
  private take(name: string): void {
    switch (this.place) {
      case atPredicate:
        this.subject = name;
        break;
      case atObject: {
        const split = splitLanguage(name);
        this.predicate = split.predicate;
        this.language = split.language;
        break;
      }
      case atLabel:
        this.objectId = name;
        break;
      default:
        this.takeLabel(name);
    }
  }

  /** `<iri>`; stops behind the `>`. */
  private readIri(): string {
    const { line } = this;
    const from = this.position + 1;
    const to = skipIri(line, from);
    const next = line.codePointAt(to);
    this.start = to;
    if (next === undefined) this.fail("Unexpected end of IRI");
    if (next !== 62) this.fail(`Unexpected character ${quoteRune(next)} while parsing IRI`);
    this.position = to + 1;
    this.start = this.position;
    return line.slice(from, to);
  }

  /** `_:label`; a blank must follow. */
  private readBlank(): string {
    const { line, start } = this;
    const kind = nameKinds[this.place - 1] ?? 0;
    let i = start + 1;
    if (line.charCodeAt(i) !== 58) {
      this.fail(`Invalid character after _. Expected :, found '${this.characterAt(i)}'`);
    }
    i++;
    if (i >= line.length) this.fail("Unexpected end of subject");
    const first = line.codePointAt(i) ?? 0;
    if (!isLabelStart(first)) {
      this.fail(`Invalid character in ${kind} after _: , Got '${this.characterAt(i)}'`);
    }
    i += first > 0xffff ? 2 : 1;
    const rest = i;
    while (i < line.length) {
      const code = line.codePointAt(i) ?? 0;
      if (code !== 46 && !isLabelPart(code)) break;
      i += code > 0xffff ? 2 : 1;
    }
    if (i > rest && line.charCodeAt(i - 1) === 46) this.fail(`Can not end ${kind} with '.'`);
    if (i >= line.length) this.fail(`Unexpected end of ${kind}`);
    const next = line.charCodeAt(i);
    if (next !== 32 && next !== 9) {
      this.fail(`Invalid character '${this.characterAt(i)}' found for itemType: ${kind}`);
    }
    this.position = i;
    this.start = i;
    return line.slice(start, i);
  }

  /** `uid(v)` or `val(v)`, with blanks anywhere between the brackets. */
  private readVariable(): void {
    const { line, place } = this;
    const name = line.charCodeAt(this.position) === 118 ? "val" : "uid";
    for (let i = 0; i < 3; i++) {
      if (line.charCodeAt(this.position + i) !== name.charCodeAt(i)) {
        const found = this.characterAt(this.position + i);
        this.fail(`Unexpected char '${found}' when parsing uid keyword`);
      }
    }
    this.position += 3;
    this.start = this.position;
    this.skipBlanks();
    this.start = this.position;
    if (line.charCodeAt(this.position) !== 40) {
      this.fail(`Expected '(' after uid keyword, found: '${this.characterAt(this.position)}'`);
    }
    this.position++;
    this.skipBlanks();
    this.start = this.position;
    while (this.position < line.length && !isVariableEnd(line.charCodeAt(this.position))) {
      this.position++;
    }
    const variable = line.slice(this.start, this.position);
    if (variable === "") this.fail("Unexpected end of input while reading variable name");
    this.skipBlanks();
    this.start = this.position;
    if (line.charCodeAt(this.position) !== 41) {
      this.fail(`Expected ')' while reading function found: '${this.characterAt(this.position)}'`);
    }
    this.position++;
    this.start = this.position;
    this.place++;
    if (place === atSubject) this.subject = `${name}(${variable})`;
    else this.objectId = `${name}(${variable})`;
  }

  private takeStar(): void {
    if (this.subject === "") this.subject = star;
    else if (this.predicate === "") this.predicate = star;
    else this.isStarObject = true;
  }

  /** Behind the dot only a comment may stand, or nothing. */
  private takeEnd(): void {
    this.hasEnd = true;
    const rest = this.line.slice(this.position).trimStart();
    if (rest !== "" && rest.charCodeAt(0) !== 35) {
      this.note(`invalid end of input. Expected newline or # after . Input: [${this.line}]`);
    }
  }

  /** `"…"` with its language or type. */
  private readLiteral(): void {
    const { line } = this;
    let i = this.position + 1;
    let isEscaped = false;
    while (i < line.length) {
      const code = line.charCodeAt(i);
      if (code === 34) break;
      if (code === 92) {
        isEscaped = true;
        i = this.skipEscape(i);
      } else if (code === 13) {
        this.fail("Invalid character '\r' in literal.");
      } else {
        i++;
      }
    }
    const end = Math.min(i + 1, line.length);
    const literal = i < line.length ? this.toText(end, isEscaped) : undefined;
    if (literal === undefined) this.note("while unquoting: invalid syntax");
    this.literal = literal ?? "";
    this.position = end;
    this.start = end;
    this.place++;
    const next = line.charCodeAt(end);
    if (next === 64) this.readLanguage();
    else if (next === 94) this.readType();
  }

  private toText(end: number, isEscaped: boolean): string | undefined {
    const { line, position } = this;
    return isEscaped ? unquote(line.slice(position, end)) : line.slice(position + 1, end - 1);
  }

  /** The position behind an escape. Whether four digits follow a `\u` is only seen when the text is unquoted. */
  private skipEscape(backslash: number): number {
    const { line } = this;
    const letter = line.charAt(backslash + 1);
    if (letter !== "" && "uvtbnrf\"'\\".includes(letter)) return backslash + 2;
    const digits = letter === "U" ? 8 : letter === "x" ? 2 : 0;
    let i = 0;
    while (i < digits && isHexDigit(line.charCodeAt(backslash + 2 + i))) i++;
    if (digits === 0 || i < digits) {
      this.fail(`Invalid escape character : '${this.characterAt(backslash + 1)}' in literal`);
    }
    return backslash + 2 + digits;
  }

  private readLanguage(): void {
    const { line } = this;
    const from = this.position + 1;
    this.start = from;
    if (!isLetter(line.charCodeAt(from))) {
      this.fail(`Invalid language tag prefix: '${this.characterAt(from)}'`);
    }
    let i = from + 1;
    while (i < line.length && isLanguagePart(line.charCodeAt(i))) i++;
    if (i > from + 1 && line.charCodeAt(i - 1) === 45) {
      this.fail("Invalid character - at the end of language literal.");
    }
    this.language = line.slice(from, i);
    this.position = i;
    this.start = i;
  }

  private readType(): void {
    const { line } = this;
    if (line.charCodeAt(this.position + 1) !== 94) this.fail("Expected ^^ for lexObjectType");
    this.position += 2;
    this.start = this.position;
    if (line.charCodeAt(this.position) !== 60) this.fail("Expected < for lexObjectType");
    this.takeType(this.readIri());
  }

  private takeType(name: string): void {
    if (this.predicate === star || this.subject === star) {
      return this.note("if predicate/subject is *, value should be * as well");
    }
    if (name === "*") return this.note("itemObject can't be *");
    const kind = literalTypes.get(name);
    if (kind === undefined) return this.note(`unrecognized rdf type ${name}`);
    const text = this.literal ?? "";
    if (text === "" && kind !== "string") return this.note("invalid ObjectValue");
    if (this.refusal !== undefined) return;
    try {
      this.value = toValue(text, kind);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      this.note(error.message);
    }
  }

  /** The graph's label: the number of a namespace, which only the whole cluster's loads look at. */
  private takeLabel(name: string): void {
    try {
      this.label = Number(parseUint64(name, 0));
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      this.note(`invalid namespace ID. Input: [${this.line}]`);
    }
  }

  private readFacets(): void {
    const reader = new FacetReader(this.line, this.position);
    const refusal = reader.readAll();
    if (refusal !== undefined) {
      if (refusal.isGrammar) {
        this.start = refusal.start;
        this.fail(refusal.message);
      }
      this.note(`could not parse facet: ${refusal.message}`);
    }
    this.facets = this.facets === undefined ? reader.facets : [...this.facets, ...reader.facets];
    this.position = reader.position;
    this.start = reader.position;
    this.place = atLabel + 2;
  }

  private toStatement(): Statement {
    const { line, subject, predicate, objectId, literal } = this;
    if (this.value === undefined && literal !== undefined && !this.isStarObject) {
      this.value = { kind: "default", text: literal };
    }
    if (subject === "" || predicate === "") {
      this.refuse(`empty required fields in NQuad. Input: [${line}]`);
    }
    if (objectId === "" && this.value === undefined && !this.isStarObject) {
      this.refuse(`no Object in NQuad. Input: [${line}]`);
    }
    if (!isSane(subject) || !isSane(predicate) || !isSane(objectId)) {
      const names = [subject, predicate, objectId].map((name) => JSON.stringify(name));
      this.refuse(
        `NQuad failed sanity check. Subject: ${names[0] ?? ""}, Predicate: ${names[1] ?? ""}, ObjectId: ${names[2] ?? ""}`,
      );
    }
    return {
      subject,
      predicate,
      language: this.language,
      objectId,
      value: this.value,
      isStarObject: this.isStarObject,
      facets: this.facets,
    };
  }

  private skipBlanks(): void {
    while (this.position < this.line.length) {
      const code = this.line.charCodeAt(this.position);
      if (code !== 32 && code !== 9) return;
      this.position++;
    }
  }

  private characterAt(position: number): string {
    const code = this.line.codePointAt(position);
    return code === undefined ? "\ufffd" : String.fromCodePoint(code);
  }

  private fail(message: string): never {
    const { line, column } = locate(this.line, this.start);
    throw new Fault(
      "E_RDF_SYNTAX",
      `while lexing ${this.line} at line ${line} column ${column}: ${message}`,
    );
  }

  private note(message: string): void {
    this.refusal ??= new Fault("E_RDF_SYNTAX", message);
  }

  private refuse(message: string): never {
    throw new Fault("E_RDF_SYNTAX", message);
  }
}

function toValue(text: string, kind: ValueKind): Value {
  // A finished hash, taken as it is.
  if (kind === "password") return { kind, hash: text };
  return convertValue({ kind: "string", text }, kind);
}

const xsd = "http://www.w3.org/2001/XMLSchema#";

const literalTypes: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ["xs:password", "password"],
  ["xs:string", "string"],
  ["xs:date", "datetime"],
  ["xs:dateTime", "datetime"],
  ["xs:int", "int"],
  ["xs:integer", "int"],
  ["xs:positiveInteger", "int"],
  ["xs:boolean", "bool"],
  ["xs:double", "float"],
  ["xs:float", "float"],
  ["xs:base64Binary", "binary"],
  ["xs:decimal", "bigfloat"],
  ["geo:geojson", "geo"],
  ["xs:[]float32", "float32vector"],
  [`${xsd}string`, "string"],
  [`${xsd}dateTime`, "datetime"],
  [`${xsd}date`, "datetime"],
  [`${xsd}int`, "int"],
  [`${xsd}positiveInteger`, "int"],
  [`${xsd}integer`, "int"],
  [`${xsd}boolean`, "bool"],
  [`${xsd}double`, "float"],
  [`${xsd}float`, "float"],
  [`${xsd}gYear`, "datetime"],
  [`${xsd}gYearMonth`, "datetime"],
]);

const letterOrDigit = /[\p{L}\p{Nd}]/u;

/** At least one letter or digit; an absent object is fine. */
function isSane(name: string): boolean {
  if (name === "") return true;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if ((code >= 48 && code <= 57) || isLetter(code)) return true;
  }
  return letterOrDigit.test(name);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

function isLanguagePart(code: number): boolean {
  return isLetter(code) || code === 45 || (code >= 48 && code <= 57);
}

function isVariableEnd(code: number): boolean {
  return code === 32 || code === 9 || code === 41;
}

/** Letters of any script, `_`, `:` and digits. */
function isLabelStart(code: number): boolean {
  if (code < 0x80) return isLetter(code) || code === 95 || code === 58 || isAsciiDigit(code);
  return (
    (code >= 0xc0 && code <= 0x2ff && code !== 0xd7 && code !== 0xf7) ||
    (code >= 0x370 && code <= 0x1fff && code !== 0x37e) ||
    code === 0x200c ||
    code === 0x200d ||
    (code >= 0x2070 && code <= 0x218f) ||
    (code >= 0x2c00 && code <= 0x2fef) ||
    (code >= 0x3001 && code <= 0xd7ff) ||
    (code >= 0xf900 && code <= 0xfdcf) ||
    (code >= 0xfdf0 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0xeffff)
  );
}

function isLabelPart(code: number): boolean {
  return (
    isLabelStart(code) ||
    code === 45 ||
    code === 0xb7 ||
    (code >= 0x300 && code <= 0x36f) ||
    code === 0x203f ||
    code === 0x2040
  );
}

function isAsciiDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
