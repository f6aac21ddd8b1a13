/** Parameters of the URL and of the Content-Type, as the reference reads and refuses them (reference/dql 1.2, 1.3). */
import type { ExplainOptions } from "../engine/explain-options.ts";
import { Fault } from "../model/fault.ts";

const trueWords = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const falseWords = new Set(["", "0", "f", "F", "FALSE", "false", "False"]);

/** The first value of a parameter counts; absent and empty are false. */
export function parseBoolParameter(params: URLSearchParams, name: string): boolean {
  const text = params.get(name) ?? "";
  if (trueWords.has(text)) return true;
  if (falseWords.has(text)) return false;
  throw refuse(name, "bool", `strconv.ParseBool: parsing ${quoteParameter(text)}: invalid syntax`);
}

/**
 * `explain` and `profile`: a boolean, `json` (as true) or `text`. A profile holds all that an explanation does, so it
 * is what is given where both are asked for.
 */
export function parseExplainOptions(params: URLSearchParams): ExplainOptions | undefined {
  return parsePlanForm(params, "profile") ?? parsePlanForm(params, "explain");
}

function parsePlanForm(
  params: URLSearchParams,
  kind: ExplainOptions["kind"],
): ExplainOptions | undefined {
  const text = params.get(kind);
  if (text === null) return undefined;
  if (text === "text" || text === "json") return { kind, form: text };
  if (falseWords.has(text)) return undefined;
  if (trueWords.has(text)) return { kind, form: "json" };
  const message = `invalid value [${text}] for parameter ${kind}: one of true, false, json, text`;
  throw new Fault("E_PARAMETER", message);
}

/** Decimal, 0x, 0b, 0o or 0; absent and empty are 0. Numbers beyond 2^53 - 1 lie in every future: they become that. */
export function parseUint(params: URLSearchParams, name: string): number {
  const text = params.get(name) ?? "";
  if (text === "") return 0;
  const digits = /^0[_0-7]+$/.test(text) ? `0o${text.slice(1)}` : text;
  if (
    !/^(?:0|[1-9][\d_]*|0[xX]_?[\da-fA-F][\da-fA-F_]*|0[bB]_?[01][01_]*|0[oO]_?[0-7][0-7_]*)$/.test(
      digits,
    )
  ) {
    throw refuse(
      name,
      "uint64",
      `strconv.ParseUint: parsing ${quoteParameter(text)}: invalid syntax`,
    );
  }
  const value = BigInt(digits.replaceAll("_", ""));
  if (value > 0xffff_ffff_ffff_ffffn) {
    throw refuse(
      name,
      "uint64",
      `strconv.ParseUint: parsing ${quoteParameter(text)}: value out of range`,
    );
  }
  return Number(value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : value);
}

const unitNs: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** A duration such as `1m1.5s` in nanoseconds; undefined when absent, empty or zero. */
export function parseDurationNs(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name) ?? "";
  if (text === "") return undefined;
  const ns = readDurationNs(text);
  if (typeof ns === "string") throw refuse(name, "time.Duration", `time: ${ns}`);
  return ns === 0 ? undefined : ns;
}

/** Elapsed before any work could begin (reference/dql 1.3): less than a microsecond, or negative. */
const timeoutNsMin = 1000;

/** Milliseconds that the client gives the request; 0: as many as the server; negative: the time is over. */
export function parseTimeout(params: URLSearchParams): number {
  const ns = parseDurationNs(params, "timeout");
  if (ns === undefined) return 0;
  return ns < timeoutNsMin ? -1 : ns / 1e6;
}

/** Nanoseconds, or what is wrong with the text. */
export function readDurationNs(text: string): number | string {
  const negative = text.startsWith("-");
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === "0") return 0;
  if (rest === "") return `invalid duration ${quoteParameter(text)}`;
  let ns = 0;
  while (rest !== "") {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return `invalid duration ${quoteParameter(text)}`;
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? "";
    if (unit === "") return `missing unit in duration ${quoteParameter(text)}`;
    const factor = unitNs[unit];
    if (factor === undefined)
      return `unknown unit ${quoteParameter(unit)} in duration ${quoteParameter(text)}`;
    ns += Number(number) * factor;
    rest = rest.slice(unit.length);
  }
  if (ns >= 2 ** 63) return `invalid duration ${quoteParameter(text)}`;
  return negative ? -ns : ns;
}

function refuse(name: string, type: string, detail: string): Fault {
  return new Fault("E_PARAMETER", `while parsing ${name} as ${type}: ${detail}`);
}

/** A string as the reference quotes it in its messages. */
export function quoteParameter(text: string): string {
  let quoted = '"';
  for (const rune of text) {
    const code = rune.codePointAt(0) ?? 0;
    if (rune === '"' || rune === "\\") quoted += `\\${rune}`;
    else if (code >= 0x20 && code !== 0x7f) quoted += rune;
    else quoted += shortEscapes[rune] ?? `\\x${code.toString(16).padStart(2, "0")}`;
  }
  return `${quoted}"`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** `type/subtype` in lower case and the charset; `fault` says what the reference's reader finds wrong. */
export interface MediaType {
  readonly type: string;
  readonly charset: string | undefined;
  readonly fault: string | undefined;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const mediaPattern = new RegExp(`^(?<type>${token})(?:/(?<subtype>${token}))?$`);
const parameterPattern = new RegExp(
  `^\\s*;\\s*(?<name>${token})\\s*=\\s*(?:(?<plain>${token})|"(?<quoted>(?:[^"\\\\]|\\\\.)*)")\\s*`,
);

/** Clients send the same few headers for ever; the bound is against those that do not. */
const knownMediaTypes = new Map<string, MediaType>();
const knownMediaTypesMax = 100;

/** Reads a Content-Type header; an absent one is a fault too. */
export function parseMediaType(header: string | undefined): MediaType {
  const text = header ?? "";
  const known = knownMediaTypes.get(text);
  if (known !== undefined) return known;
  const media = readMediaType(text);
  if (knownMediaTypes.size < knownMediaTypesMax) knownMediaTypes.set(text, media);
  return media;
}

function readMediaType(text: string): MediaType {
  const semicolon = text.indexOf(";");
  const bare = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  const match = mediaPattern.exec(bare);
  if (match === null) return { type: "", charset: undefined, fault: explainMediaType(bare) };
  const given = new Map<string, string | undefined>();
  let rest = semicolon < 0 ? "" : text.slice(semicolon);
  while (rest.trim() !== "" && rest.trim() !== ";") {
    const parameter = parameterPattern.exec(rest);
    if (parameter === null) {
      return { type: bare, charset: undefined, fault: "mime: invalid media parameter" };
    }
    const { name = "", plain, quoted } = parameter.groups ?? {};
    const value = plain ?? quoted;
    const key = name.toLowerCase();
    if (given.has(key) && given.get(key) !== value) {
      return { type: "", charset: undefined, fault: "mime: duplicate parameter name" };
    }
    given.set(key, value);
    rest = rest.slice(parameter[0].length);
  }
  return { type: bare, charset: given.get("charset"), fault: undefined };
}

function explainMediaType(bare: string): string {
  if (bare === "") return "mime: no media type";
  const slash = bare.indexOf("/");
  if (slash < 0) return "mime: unexpected content after media type";
  if (slash === 0) return "mime: no media type";
  if (slash === bare.length - 1) return "mime: expected token after slash";
  return "mime: unexpected content after media subtype";
}
