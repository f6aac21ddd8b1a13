import { unreachable } from "../base/assert.ts";
import { printBigFloat } from "./bigfloat.ts";
import { quoteGo } from "./conversion-error.ts";
import { printDateTime } from "./datetime.ts";
import { printFloat, printFloatG } from "./float.ts";
import { printGeometry } from "./geometry.ts";
import type { Value } from "./value.ts";
import { printVector } from "./vector.ts";

/** The value as a text, as conversion to string gives it (reference/dql 2.11). */
export function printValueText(value: Value): string {
  switch (value.kind) {
    case "default":
    case "string":
      return value.text;
    case "int":
      return String(value.int);
    case "float":
      return printFloatG(value.float);
    case "bool":
      return value.bool ? "true" : "false";
    case "datetime":
      return printDateTime(value.time);
    case "geo":
      return printGeometry(value.geometry).replaceAll('"', "'");
    case "password":
      return value.hash;
    case "bigfloat":
      return printBigFloat(value.big);
    case "float32vector":
      return printVector(value.vector);
    case "binary":
      return new TextDecoder().decode(value.bytes);
    default:
      return unreachable(value);
  }
}

/** The JSON text of a value in answers of the native endpoint (reference/dql 4.20); "" where nothing is printed. */
export function printValueJson(value: Value): string {
  switch (value.kind) {
    case "default":
    case "string":
      return quoteJson(value.text);
    case "int":
      return String(value.int);
    case "float":
      return Number.isFinite(value.float) ? printFloat(value.float) : "";
    case "bool":
      return value.bool ? "true" : "false";
    case "datetime":
      return `"${printDateTime(value.time)}"`;
    case "geo":
      return printGeometry(value.geometry);
    case "password":
      return "";
    case "bigfloat":
      return value.big.special === undefined ? printBigFloat(value.big) : "";
    case "float32vector":
      return value.vector.length === 0 ? "" : printVector(value.vector);
    case "binary":
      return quoteGo(new TextDecoder().decode(value.bytes));
    default:
      return unreachable(value);
  }
}

/** The JSON text of a value by the JSON standard alone: no HTML escapes, JavaScript's numbers. "" prints nothing. */
export function printValuePlainJson(value: Value): string {
  switch (value.kind) {
    case "default":
    case "string":
      return JSON.stringify(value.text.replace(/\p{Cs}/gu, "\ufffd"));
    case "float":
      return Number.isFinite(value.float) ? JSON.stringify(value.float) : "";
    case "float32vector":
      return JSON.stringify(Array.from(value.vector, (n) => Number(shortest32(n))));
    case "binary":
      return JSON.stringify(new TextDecoder().decode(value.bytes));
    default:
      return printValueJson(value);
  }
}

function shortest32(float: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = float.toPrecision(digits);
    if (Math.fround(Number(text)) === float) return text;
  }
  return String(float);
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const needsEscape = /[\u0000-\u001f"\\<>&\u2028\u2029\ud800-\udfff]/;

/** Quoted and escaped as Go does it: HTML characters and line separators too; a lone surrogate is U+FFFD. */
export function quoteJson(text: string): string {
  if (!needsEscape.test(text)) return `"${text}"`;
  let quoted = '"';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const escape = escapeOf(text, i);
    if (escape === undefined) continue;
    quoted += text.slice(from, i) + escape;
    from = i + 1;
  }
  return quoted + text.slice(from) + '"';
}

function escapeOf(text: string, at: number): string | undefined {
  const unit = text.charCodeAt(at);
  if (unit === 0x22) return '\\"';
  if (unit === 0x5c) return "\\\\";
  if (unit === 0x0a) return "\\n";
  if (unit === 0x0d) return "\\r";
  if (unit === 0x09) return "\\t";
  const isHtml = unit === 0x3c || unit === 0x3e || unit === 0x26;
  if (unit < 0x20 || isHtml || unit === 0x2028 || unit === 0x2029) {
    return "\\u" + unit.toString(16).padStart(4, "0");
  }
  if (unit < 0xd800 || unit > 0xdfff) return undefined;
  return isPaired(text, at, unit) ? undefined : "\\ufffd";
}

function isPaired(text: string, at: number, unit: number): boolean {
  if (unit < 0xdc00) return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
