/**
 * Query variables, `query q($a: int = 3) {…}` (reference/dql 4.2): their declaration, their types, and their values.
 */
import { attempt, ConversionError, quoteGo } from "../model/conversion-error.ts";
import { parseBool } from "../model/convert.ts";
import { parseGoFloat } from "../model/float.ts";
import { parseInt64, parseUint64 } from "../model/int.ts";
import { defaultLimits, makeLimitFault, type Limits } from "../model/limits.ts";
import { parseVector } from "../model/vector.ts";
import type { Literal, QueryParameters } from "./ast.ts";
import { failPlainly } from "./cursor.ts";

interface Parameter {
  value: string;
  /** "" where it is not declared. */
  type: string;
}

interface OpenLiteral {
  text: string;
  quoted: boolean;
  readonly token: number;
  readonly parameter: string;
}

/** The query variables of one request while its text is read. Values go in when everything is declared. */
/** Uids of variables are cheaper than conditions. */
const uidsPerCondition = 9;

export class ParameterTable {
  private readonly all = new Map<string, Parameter>();
  private readonly declared = new Map<string, { type: string; default: string }>();
  private readonly uids = new Set<string>();
  private readonly numbers = new Set<string>();
  private readonly pending: (() => void)[] = [];
  private isRebindable = true;
  /** The uids of each variable that was used, and how many came of using one again. */
  private readonly uidTexts = new Map<string, readonly string[]>();
  private repeated = 0;
  private readonly conditionsMax: number;

  constructor(
    values: ReadonlyMap<string, string>,
    { filterConditionsMax }: Pick<Limits, "filterConditionsMax"> = defaultLimits,
  ) {
    this.conditionsMax = filterConditionsMax * uidsPerCondition;
    for (const [name, value] of values) this.all.set(name, { value, type: "" });
  }

  declare(name: string, type: string): void {
    const known = this.all.get(name);
    if (known === undefined) this.all.set(name, { value: "", type });
    else known.type = type;
    this.declared.set(name, { type, default: "" });
  }

  /** A default counts where no value, or the empty one, was sent. */
  setDefault(name: string, value: string): void {
    const known = this.all.get(name);
    if (known === undefined) return;
    if (known.value === "") known.value = value;
    this.declared.set(name, { type: known.type, default: value });
  }

  /** Behind a list of declarations: everything that was sent must be in it and have its type. */
  check(): void {
    for (const [name, parameter] of this.all) checkType(name, parameter.type, parameter.value);
  }

  /** A literal that will have the variable's value. */
  literal(name: string): Literal {
    const literal: OpenLiteral = { text: name, quoted: false, token: -1, parameter: name };
    this.pending.push(() => {
      const { value, type } = this.get(name);
      literal.text = value;
      literal.quoted = plainType(type) === "string";
    });
    return literal;
  }

  /** A literal inside of math, where the type of the variable decides what it is. */
  mathLiteral(name: string): Literal {
    this.numbers.add(name);
    const literal: OpenLiteral = { text: name, quoted: false, token: -1, parameter: name };
    this.pending.push(() => {
      const known = this.all.get(name);
      if (known === undefined) failPlainly("Variable not found in math");
      if (known.value === "") failPlainly("No value found");
      if (known.type === "" || known.type.endsWith("!")) {
        failPlainly(`Type ${quoteGo(known.type)} not supported`);
      }
      literal.text = toMathText(known.type, known.value);
      literal.quoted = known.type === "string";
    });
    return literal;
  }

  /** The value is handed to `use`, whose result depends on it: other values may give another tree. */
  onValue(name: string, use: (value: string, isKnown: boolean) => void): void {
    this.isRebindable = false;
    this.pending.push(() => {
      const known = this.all.get(name);
      use(known?.value ?? "", known !== undefined);
    });
  }

  /** A value that must be declared; other values may give another tree. */
  onDeclaredValue(name: string, use: (value: string) => void): void {
    this.isRebindable = false;
    this.pending.push(() => use(this.get(name).value));
  }

  /** `uid($ids)`: one uid or a list of them, handed to `use` as literals. */
  onUids(name: string, isKnown: (known: boolean) => void, use: (uids: Literal[]) => void): void {
    this.uids.add(name);
    this.pending.push(() => {
      isKnown(this.all.has(name));
      const { value } = this.get(name);
      const texts = this.uidsOf(name, value);
      if (value.trimStart().startsWith("[")) this.isRebindable = false;
      use(texts.map((text) => ({ text, quoted: false, token: -1, parameter: name })));
    });
  }

  /** A list stands in the request once, and in its tree as often as it is used. */
  private uidsOf(name: string, value: string): readonly string[] {
    let texts = this.uidTexts.get(name);
    if (texts === undefined) {
      this.uidTexts.set(name, (texts = parseUidList(value)));
      return texts;
    }
    this.repeated += texts.length;
    if (this.repeated > this.conditionsMax) {
      const text = `the uids of variables that are used again are more than ${this.conditionsMax}`;
      throw makeLimitFault("filter-conditions", text);
    }
    return texts;
  }

  /** Puts the values in. */
  substitute(): void {
    for (const put of this.pending) put();
  }

  toQueryParameters(): QueryParameters | undefined {
    if (this.declared.size === 0) return undefined;
    const { declared, isRebindable, uids, numbers } = this;
    return { declared, isRebindable, uids, numbers };
  }

  private get(name: string): Parameter {
    const known = this.all.get(name);
    if (known === undefined || known.type === "") failPlainly(`Variable not defined ${name}`);
    return known;
  }
}

/**
 * The values of another request with the same text, by name, checked as `parseQuery` would check them. Undefined
 * where they could give another tree, so that the text has to be parsed again.
 */
export function readQueryParameters(
  parameters: QueryParameters,
  values: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | undefined {
  if (!parameters.isRebindable) return undefined;
  for (const name of values.keys()) {
    if (!parameters.declared.has(name)) failPlainly(`Type of variable ${name} not specified`);
  }
  const result = new Map<string, string>();
  for (const [name, { type, default: fallback }] of parameters.declared) {
    const sent = values.get(name);
    const value = sent === undefined || sent === "" ? fallback : sent;
    checkType(name, type, value);
    if (parameters.uids.has(name) && !isUid(value)) return undefined;
    if (parameters.numbers.has(name) && (value === "" || toMathText(type, value) !== value)) {
      return undefined;
    }
    result.set(name, value);
  }
  return result;
}

/** A text that math reads as the declared type: a whole float keeps a point, an int loses its base, a bool is a word. */
function toMathText(type: string, value: string): string {
  if (type === "bool") {
    if (/^(?:1|t|T|TRUE|True)$/.test(value)) return "true";
    return /^(?:0|f|F|FALSE|False)$/.test(value) ? "false" : value;
  }
  if (type === "float" && /^[+-]?\d+$/.test(value)) return `${value}.0`;
  return type === "int" ? String(parseInt64(value, 0)) : value;
}

function isUid(value: string): boolean {
  return /^(?:0x[0-9a-f]{1,13}|[1-9][0-9]{0,14})$/.test(value);
}

function plainType(type: string): string {
  return type.endsWith("!") ? type.slice(0, -1) : type;
}

function checkType(name: string, declared: string, value: string): void {
  if (declared === "") failPlainly(`Type of variable ${name} not specified`);
  if (declared.endsWith("!") && value === "") failPlainly(`Variable ${name} should be initialised`);
  if (value === "") return;
  const type = plainType(declared);
  const read = readers.get(type);
  if (read === undefined) failPlainly(`Type ${quoteGo(type)} not supported`);
  try {
    read(value);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    failPlainly(`${expectations.get(type) ?? ""} but got ${value}: ${error.message}`);
  }
}

const readers: ReadonlyMap<string, (value: string) => unknown> = new Map([
  ["int", (value: string): unknown => parseInt64(value, 0)],
  ["float", (value: string): unknown => parseGoFloat(value)],
  ["bool", parseBool],
  ["float32vector", (value: string): unknown => parseVector(value)],
  ["string", (value: string): unknown => value],
]);

const expectations: ReadonlyMap<string, string> = new Map([
  ["int", "Expected an int"],
  ["float", "Expected a float"],
  ["bool", "Expected a bool"],
  ["float32vector", "Expected a vector32float"],
]);

/** `0x1`, or `[0x1, 2, 3]`. */
function parseUidList(value: string): string[] {
  const packed = value.replace(/[ \t\n\v\f\r]/g, "");
  if (packed === "") failPlainly("ID can't be empty");
  if (!packed.startsWith("[")) return [checkedUid(packed)];
  const inner = packed.slice(1, -1);
  if (!packed.endsWith("]") || /[[)]/.test(inner)) {
    failPlainly(`Invalid id list at root. Got: ${packed}`);
  }
  return inner
    .split(/[,\]]/)
    .filter((text) => text !== "")
    .map(checkedUid);
}

function checkedUid(text: string): string {
  try {
    parseUint64(text, 0);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    failPlainly(error.message);
  }
  return text;
}

/** Whether a text is an unsigned integer, in any base, or a name; "large" where it has more than 64 bits. */
export function judgeUid(text: string): "uid" | "large" | "name" {
  if (/^(?:[1-9][0-9]{0,14}|0x[0-9a-fA-F]{1,15}|0)$/.test(text)) return "uid";
  if (!/^[0-9]/.test(text)) return "name";
  if (attempt(() => parseUint64(text, 0)) !== undefined) return "uid";
  const isInteger = /^(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[1-9][0-9]*)$/.test(text);
  return isInteger ? "large" : "name";
}
