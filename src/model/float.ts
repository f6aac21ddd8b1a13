import { ConversionError, quoteGo } from "./conversion-error.ts";

const decimal =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const hexadecimal =
  /^([+-]?)0[xX]_?((?:[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)?)(?:\.((?:[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)?))?[pP]([+-]?[0-9]+(?:_[0-9]+)*)$/;

/**
 * Everything that Go's strconv.ParseFloat takes: decimal, hexadecimal with `p` exponent, underscores between digits,
 * inf, infinity and nan in any case. NaN is returned, it is the caller who refuses it (`convertValue` does).
 */
export function parseGoFloat(text: string): number {
  const float = readGoFloat(text);
  if (float === undefined) {
    throw new ConversionError(`strconv.ParseFloat: parsing ${quoteGo(text)}: invalid syntax`);
  }
  return float;
}

/** As `parseGoFloat`, undefined for what is no number; one that is out of range throws all the same. */
export function readGoFloat(text: string): number | undefined {
  if (decimal.test(text)) return inRange(text, Number(text.replaceAll("_", "")));
  const word = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (word !== null) return word[1] === "-" ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  const hex = hexadecimal.exec(text);
  if (hex === null) return undefined;
  const whole = (hex[2] ?? "").replaceAll("_", "");
  const fraction = (hex[3] ?? "").replaceAll("_", "");
  if (whole === "" && fraction === "") return undefined;
  const mantissa = BigInt("0x" + whole + fraction);
  const exponent = Number((hex[4] ?? "0").replaceAll("_", "")) - 4 * fraction.length;
  const float = scaleToNumber(mantissa, exponent);
  return inRange(text, hex[1] === "-" ? -float : float);
}

function inRange(text: string, float: number): number {
  if (Number.isFinite(float)) return float;
  throw new ConversionError(`strconv.ParseFloat: parsing ${quoteGo(text)}: value out of range`);
}

/** mantissa · 2^exponent, rounded to the nearest double, ties to even. */
export function scaleToNumber(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  if (mantissa < 0n) return -scaleToNumber(-mantissa, exponent);
  const bits = mantissa.toString(2).length;
  if (bits + exponent > 1025) return Infinity;
  if (bits + exponent < -1080) return 0;
  // The mantissa is cut to 53 bits, or fewer where the result is subnormal; then both factors are exact.
  const kept = Math.min(53, bits + exponent + 1074);
  const shift = bits - kept;
  let whole = mantissa;
  if (shift > 0) {
    const amount = BigInt(shift);
    whole = mantissa >> amount;
    const rest = mantissa - (whole << amount);
    const half = 1n << (amount - 1n);
    if (rest > half || (rest === half && (whole & 1n) === 1n)) whole += 1n;
  }
  const power = shift > 0 ? exponent + shift : exponent;
  const low = Math.max(power, -1074);
  return power > 900
    ? Number(whole) * 2 ** 900 * 2 ** (power - 900)
    : Number(whole) * 2 ** low * 2 ** (power - low);
}

/** As every answer prints floats: Go's %g, shortest digits that read back; exponent below 1e-4 and from 1e6 on. */
export function printFloat(float: number): string {
  return formatG(float, "e");
}

/** As floats become texts (reference/dql 2.11): %G, `1E+07`. */
export function printFloatG(float: number): string {
  return formatG(float, "E");
}

/** The shortest digits that read back as the same 32-bit float, without an exponent however many zeros it takes. */
export function printFloat32F(float: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?E([+-]\d+)$/.exec(printFloat32E(float));
  if (match === null) return printFloat32E(float);
  const [, sign = "", first = "", rest = "", exponent = ""] = match;
  const digits = first + rest;
  const point = Number(exponent) + 1;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The shortest digits that read back as the same 32-bit float, in E notation. */
export function printFloat32E(float: number): string {
  if (!Number.isFinite(float)) return printSpecial(float);
  for (let digits = 0; digits < 8; digits++) {
    const text = float.toExponential(digits);
    if (Math.fround(Number(text)) === float) return padExponent(text, "E", float);
  }
  return padExponent(float.toExponential(8), "E", float);
}

function formatG(float: number, letter: "e" | "E"): string {
  const magnitude = Math.abs(float);
  // The common case first: JavaScript's own shortest digits are written without an exponent here.
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(float);
  if (magnitude === 0) return Object.is(float, -0) ? "-0" : "0";
  if (!Number.isFinite(float)) return printSpecial(float);
  return padExponent(float.toExponential(), letter, float);
}

function printSpecial(float: number): string {
  if (Number.isNaN(float)) return "NaN";
  return float > 0 ? "+Inf" : "-Inf";
}

/** Go writes at least two digits of exponent. */
function padExponent(text: string, letter: "e" | "E", float: number): string {
  const at = text.indexOf("e");
  const exponent = text.slice(at + 2);
  const sign = Object.is(float, -0) ? "-" : "";
  return sign + text.slice(0, at) + letter + text[at + 1] + exponent.padStart(2, "0");
}
