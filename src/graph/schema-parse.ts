/** Schema text → definitions (reference/dql 2.2, 2.3, 2.6). */
import { isVectorIndex } from "../model/definition.ts";
import { locate } from "../base/position.ts";
import type {
  IndexSpec,
  PredicateDefinition,
  PredicateKind,
  SchemaText,
  TypeDefinition,
} from "../model/definition.ts";
import { plainDefinition } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import { attempt } from "../model/conversion-error.ts";
import { parseInt64 } from "../model/int.ts";
import { tokenizers } from "../tokens/tokenizers.ts";
import { describeToken, lexSchema, S, type SchemaToken } from "./schema-tokens.ts";

/**
 * What a schema text says. Refuses everything that needs no stored schema: syntax (`line L column C: …`), types,
 * indexes that do not fit, and what is defined twice. `namespace` only shows in messages (`0-name`); one written in
 * the text (`[0x0] name: string .`) is read over. Throws Fault E_SCHEMA_SYNTAX.
 */
export function parseSchemaText(text: string, namespace: number): SchemaText {
  const parser = new SchemaParser(text, namespace);
  parser.parse();
  return { predicates: [...parser.predicates.values()], types: [...parser.types.values()] };
}

const kinds: ReadonlyMap<string, PredicateKind> = new Map<string, PredicateKind>([
  ["default", "default"],
  ["binary", "binary"],
  ["int", "int"],
  ["float", "float"],
  ["bool", "bool"],
  ["datetime", "datetime"],
  ["geo", "geo"],
  ["uid", "uid"],
  ["string", "string"],
  ["password", "password"],
  ["bigfloat", "bigfloat"],
  ["float32vector", "float32vector"],
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class SchemaParser {
  readonly predicates = new Map<string, PredicateDefinition>();
  readonly types = new Map<string, TypeDefinition>();
  private readonly source: string;
  private readonly namespace: number;
  private readonly tokens: SchemaToken[];
  /** The token taken last. */
  private index = -1;
  /** What is defined twice is told when everything has been read; predicates before types. */
  private repeatedPredicate: string | undefined;
  private repeatedType: string | undefined;

  constructor(source: string, namespace: number) {
    this.source = source;
    this.namespace = namespace;
    this.tokens = lexSchema(source);
  }

  parse(): void {
    for (;;) {
      const token = this.take();
      if (token.kind === S.eof) break;
      if (token.kind === S.newLine) continue;
      if (token.kind === S.leftSquare) {
        this.parseNamespace();
        this.parseDeclaration(this.current());
      } else if (token.kind === S.text) {
        this.parseDeclaration(token);
      } else {
        const found = describeToken(this.source, token);
        this.fail(`Unexpected token: ${found} while parsing schema`);
      }
    }
    if (this.repeatedPredicate !== undefined) {
      refuse(`predicate ${this.repeatedPredicate} defined multiple times`);
    }
    if (this.repeatedType !== undefined) refuse(`type ${this.repeatedType} defined multiple times`);
  }

  /** `[0x1]`; stops at the name behind it. */
  private parseNamespace(): void {
    const number = this.peek();
    if (number.kind !== S.number || this.peek(1).kind !== S.rightSquare) {
      refuse("While parsing namespace:: Typed oes not match the expected");
    }
    this.index += 3;
  }

  private parseDeclaration(token: SchemaToken): void {
    const isType =
      token.text === "type" && this.peek().kind === S.text && this.peek(1).kind === S.leftCurl;
    if (isType) this.parseType();
    else this.parsePredicate(token.text);
  }

  /** The name was taken. */
  private parsePredicate(name: string): void {
    const colon = this.take();
    if (colon.kind === S.at || name.includes("@")) this.fail("Invalid '@' in name");
    if (colon.kind !== S.colon) this.fail("Missing colon");
    const definition = makeDefinition(name);
    this.parseKind(definition);
    while (this.current().kind === S.at) this.parseDirective(definition);
    if (this.current().kind !== S.dot) this.fail("Invalid ending");
    const end = this.take();
    if (end.kind === S.eof) this.index--;
    else if (end.kind !== S.newLine) this.fail("Invalid ending");
    if (this.predicates.has(name)) this.repeatedPredicate ??= name;
    checkNameLength(name);
    this.predicates.set(name, definition);
  }

  /** `int` or `[int]`; stops at what follows. */
  private parseKind(definition: Mutable<PredicateDefinition>): void {
    let token = this.take();
    if (token.kind === S.leftSquare) {
      definition.list = true;
      token = this.take();
    }
    if (token.kind !== S.text) this.fail("Missing Type");
    const kind = kinds.get(token.text.toLowerCase());
    if (kind === undefined) return this.fail("Undefined Type");
    if (definition.list && (kind === "password" || kind === "bool")) {
      this.fail(`Unsupported type for list: [${kind}].`);
    }
    definition.kind = kind;
    const next = this.take();
    if (!definition.list) return;
    if (next.kind !== S.rightSquare) {
      this.fail(`Unclosed [ while parsing schema for: ${definition.name}`);
    }
    this.take();
  }

  /** The `@` was taken; stops behind the directive. */
  private parseDirective(definition: Mutable<PredicateDefinition>): void {
    const token = this.take();
    if (token.kind !== S.text) this.fail("Missing directive name");
    switch (token.text) {
      case "reverse":
        if (definition.kind !== "uid") this.fail("Cannot reverse for non-UID type");
        definition.reverse = true;
        break;
      case "index":
        definition.indexes = this.parseIndexes(definition);
        break;
      case "lang":
        if (definition.kind !== "string" || definition.list) {
          this.fail(
            `@lang directive can only be specified for string type. Got: [${definition.kind}] for attr: [${this.qualify(definition.name)}]`,
          );
        }
        definition.lang = true;
        break;
      case "count":
      case "upsert":
      case "unique":
      case "noconflict":
        definition[token.text] = true;
        break;
      default:
        this.fail("Invalid index specification");
    }
    this.take();
  }

  /** `(term, exact)`; the word `index` was taken. */
  private parseIndexes(definition: PredicateDefinition): IndexSpec[] {
    const { kind, name } = definition;
    if (kind === "uid" || kind === "default" || kind === "password") {
      this.fail(`Indexing not allowed on predicate ${this.qualify(name)} of type ${kind}`);
    }
    if (this.peek().kind !== S.leftRound) {
      this.fail(`Require type of tokenizer for pred: ${this.qualify(name)} for indexing.`);
    }
    const specs: IndexSpec[] = [];
    let hasSortable = false;
    let before = this.take();
    for (;;) {
      const spec = this.parseIndex(definition);
      const isSortable = tokenizers.get(spec.tokenizer)?.sortable === true;
      if (isSortable && hasSortable) {
        this.fail(`Only one index tokenizer can be sortable for ${this.qualify(name)}`, before);
      }
      hasSortable ||= isSortable;
      if (specs.some((other) => other.tokenizer === spec.tokenizer)) {
        this.fail(`Duplicate tokenizers defined for predicate ${this.qualify(name)}`, before);
      }
      specs.push(spec);
      before = this.take();
      if (before.kind === S.rightRound) return specs;
      if (before.kind !== S.comma) {
        this.fail(
          `Expected ',' or ')' but found '${before.text}' for predicate '${this.qualify(name)}'`,
        );
      }
    }
  }

  private parseIndex(definition: PredicateDefinition): IndexSpec {
    const token = this.take();
    const { kind, name } = definition;
    if (token.kind !== S.text) {
      this.fail(`Expected token or VectorFactory name, but found '${token.text}'`);
    }
    const tokenizer = token.text.toLowerCase();
    if (isVectorIndex({ tokenizer })) return this.parseVectorIndex(definition, token);
    const known = tokenizers.get(tokenizer);
    if (known === undefined) return this.fail(`Invalid tokenizer ${token.text}`);
    if (known.kind !== kind) {
      this.fail(`Tokenizer: ${tokenizer} isn't valid for predicate: ${name} of type: ${kind}`);
    }
    return { tokenizer };
  }

  private parseVectorIndex(definition: PredicateDefinition, token: SchemaToken): IndexSpec {
    const { kind, name } = definition;
    if (kind !== "float32vector") {
      this.fail(`IndexFactory: hnsw isn't valid for predicate: ${name} of type: ${kind}`);
    }
    const options = this.parseOptions();
    for (const { key, value } of options) {
      const wrong = judgeVectorOption(key, value);
      if (wrong !== undefined) {
        this.fail(`IndexFactory: hnsw issues this error: '${wrong}'`, token);
      }
    }
    return { tokenizer: "hnsw", options };
  }

  /** `(metric: "cosine", …)`, or nothing. */
  private parseOptions(): { key: string; value: string }[] {
    const next = this.peek();
    if (next.kind === S.comma || next.kind === S.rightRound) return [];
    this.take();
    if (next.kind !== S.leftRound) {
      this.fail(`unexpected '${next.text}' found when expecting '('`);
    }
    const options: { key: string; value: string }[] = [];
    for (;;) {
      const key = this.expect(S.text, "option name");
      this.expect(S.colon, "':'");
      const value = this.expect(S.quoted, "quoted text");
      options.push({ key, value: value.slice(1, -1) });
      const end = this.take();
      if (end.kind === S.rightRound) return options;
      if (end.kind !== S.comma) {
        this.fail(`unexpected '${end.text}' found when expecting ',' or ')'`);
      }
    }
  }

  private expect(kind: number, what: string): string {
    const token = this.take();
    if (token.kind !== kind) {
      this.fail(`unexpected '${token.text}' found when expecting ${what}`);
    }
    return token.text;
  }

  /** The word `type` was taken. */
  private parseType(): void {
    const name = this.take().text;
    this.take();
    const fields: string[] = [];
    for (;;) {
      const token = this.take();
      if (token.kind === S.rightCurl) break;
      if (token.kind === S.newLine) continue;
      if (token.kind !== S.text) this.fail(`Unexpected token. Got ${token.text}`);
      fields.push(token.text);
      this.parseFieldEnd();
    }
    const end = this.take();
    if (end.kind !== S.newLine && end.kind !== S.eof) {
      const found = describeToken(this.source, end);
      this.fail(`Expected new line or EOF after type declaration. Got ${found}`);
    }
    this.index--;
    const repeated = fields.find((field, i) => fields.indexOf(field) !== i);
    if (repeated !== undefined) this.fail(`Duplicate fields with name: ${repeated}`);
    if (this.types.has(name)) this.repeatedType ??= name;
    this.types.set(name, { name, fields });
  }

  /** The end of the line; before it an old form may name a type, which is read over. */
  private parseFieldEnd(): void {
    let token = this.take();
    if (token.kind === S.newLine) return;
    if (token.kind !== S.colon) {
      this.fail(`Missing colon in type declaration. Got ${token.text}`);
    }
    token = this.take();
    const isList = token.kind === S.leftSquare;
    if (isList) token = this.take();
    if (token.kind !== S.text) {
      this.fail(`Missing field type in type declaration. Got ${token.text}`);
    }
    token = this.take();
    if (token.kind === S.exclamation) token = this.take();
    if (isList) {
      if (token.kind !== S.rightSquare) {
        this.fail(`Expected matching square bracket. Got ${token.text}`);
      }
      token = this.take();
      if (token.kind === S.exclamation) token = this.take();
    }
    if (token.kind !== S.newLine) {
      this.fail(`Expected new line after field declaration. Got ${token.text}`);
    }
  }

  private take(): SchemaToken {
    if (this.index < this.tokens.length - 1) this.index++;
    return this.current();
  }

  private current(): SchemaToken {
    return this.tokens[Math.min(this.index, this.tokens.length - 1)] ?? this.last();
  }

  private peek(ahead = 0): SchemaToken {
    return this.tokens[this.index + 1 + ahead] ?? this.last();
  }

  private last(): SchemaToken {
    return { kind: S.eof, text: "", offset: this.source.length };
  }

  /** With the namespace, as messages show predicates. */
  private qualify(name: string): string {
    return `${this.namespace}-${name}`;
  }

  private fail(message: string, token: SchemaToken = this.current()): never {
    const { line, column } = locate(this.source, token.offset);
    return refuse(`line ${line} column ${column}: ${message}`);
  }
}

function refuse(message: string): never {
  throw new Fault("E_SCHEMA_SYNTAX", message);
}

function makeDefinition(name: string): Mutable<PredicateDefinition> {
  return { ...plainDefinition(name) };
}

const nameBytesMax = 65535;

function checkNameLength(name: string): void {
  if (name.length * 3 <= nameBytesMax) return;
  const bytes = new TextEncoder().encode(name);
  if (bytes.length <= nameBytesMax) return;
  const start = new TextDecoder().decode(bytes.subarray(0, 80));
  refuse(`Predicate name length cannot be bigger than 2^16. Predicate: ${start}`);
}

const metrics: ReadonlySet<string> = new Set(["euclidean", "cosine", "dotproduct"]);
const wholeOptions: ReadonlySet<string> = new Set([
  "exponent",
  "maxLevels",
  "efConstruction",
  "efSearch",
]);

/** What is wrong with an option of hnsw. */
function judgeVectorOption(key: string, value: string): string | undefined {
  if (key === "metric") {
    return metrics.has(value) ? undefined : `Can't create a vector index for ${value}`;
  }
  if (!wholeOptions.has(key)) return `option ${key} is not allowed!`;
  if (attempt(() => parseInt64(value)) !== undefined) return undefined;
  return `strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`;
}
