import { ConversionError, quoteGo } from "./conversion-error.ts";
import { scaleToNumber } from "./float.ts";
import { normalizeInt64, type Int64 } from "./int.ts";
import type { BigFloat } from "./value.ts";

/** Binary floating point with 200 bits, rounded to nearest, ties to even: (1/3)·3 is 1 (reference/dql 2.1). */
const precision = 200;

/** Values stay within 2^±65536, so that exact decimal digits stay affordable; beyond is `exponent overflow`. */
const exponentMax = 65536;

const bigZero: BigFloat = { mantissa: 0n, exponent: 0 };
const infinity: BigFloat = { mantissa: 1n, exponent: 0, special: "Inf" };
const negativeInfinity: BigFloat = { mantissa: -1n, exponent: 0, special: "-Inf" };

/** Rounds to 200 bits and strips trailing zero bits, so that equal values have equal parts. */
export function makeBigFloat(mantissa: bigint, exponent: number): BigFloat {
  if (mantissa === 0n) return bigZero;
  const rounded = roundTo(mantissa < 0n ? -mantissa : mantissa, exponent, precision);
  if (rounded.exponent + bitLength(rounded.mantissa) > exponentMax) {
    return mantissa < 0n ? negativeInfinity : infinity;
  }
  if (rounded.exponent < -exponentMax - precision) return bigZero;
  const zeros = trailingZeros(rounded.mantissa);
  const odd = rounded.mantissa >> BigInt(zeros);
  return { mantissa: mantissa < 0n ? -odd : odd, exponent: rounded.exponent + zeros };
}

/** Cuts a positive mantissa to so many bits, to nearest, ties to even. */
function roundTo(
  mantissa: bigint,
  exponent: number,
  bits: number,
): { mantissa: bigint; exponent: number } {
  const excess = bitLength(mantissa) - bits;
  if (excess <= 0) return { mantissa, exponent };
  const shift = BigInt(excess);
  let kept = mantissa >> shift;
  const rest = mantissa - (kept << shift);
  const half = 1n << (shift - 1n);
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept += 1n;
  return { mantissa: kept, exponent: exponent + excess };
}

function bitLength(positive: bigint): number {
  const hex = positive.toString(16);
  return hex.length * 4 - Math.clz32(parseInt(hex[0] ?? "0", 16)) + 28;
}

function trailingZeros(positive: bigint): number {
  let zeros = 0;
  let rest = positive;
  while ((rest & 0xffffffffn) === 0n) {
    rest >>= 32n;
    zeros += 32;
  }
  const low = Number(rest & 0xffffffffn);
  return zeros + 31 - Math.clz32(low & -low);
}

const form = new RegExp(
  "^([+-]?)(?:0[xX](?<hex>_?[0-9a-fA-F_]*(?:\\.[0-9a-fA-F_]*)?)|0[bB](?<binary>_?[01_]*(?:\\.[01_]*)?)" +
    "|0[oO](?<octal>_?[0-7_]*(?:\\.[0-7_]*)?)|(?<decimal>[0-9_]*(?:\\.[0-9_]*)?))" +
    "(?:(?<letter>[eEpP])(?<power>[+-]?[0-9_]*))?",
);

/** Text as Go's big.Float reads it: decimal, 0x, 0b, 0o, exponents `e` and `p`, underscores, Inf; its error texts. */
export function parseBigFloat(text: string): BigFloat {
  const word = /^([+-]?)(?:Inf|inf)$/.exec(text);
  if (word !== null) return word[1] === "-" ? negativeInfinity : infinity;
  if (text === "") throw refusal(text, "EOF");
  const match = form.exec(text);
  const groups = match?.groups ?? {};
  const written = groups["hex"] ?? groups["binary"] ?? groups["octal"] ?? groups["decimal"] ?? "";
  const digits = written.replace(/[._]/g, "");
  if (match === null || digits === "") throw refusal(text, "number has no digits");
  const letter = (groups["letter"] ?? "").toLowerCase();
  const power = (groups["power"] ?? "0").replaceAll("_", "");
  if (letter !== "" && !/[0-9]/.test(power)) throw refusal(text, "exponent has no digits");
  const rest = text.slice(match[0].length);
  if (rest !== "") throw refusal(text, `expected end of string, found '${rest[0] ?? ""}'`);
  if (
    /__|_$|_\.|\._|^_/.test(written.replace(/^_(?=.)/, groups["decimal"] === undefined ? "" : "_"))
  ) {
    throw refusal(text, "'_' must separate successive digits");
  }
  const point = written.replaceAll("_", "").indexOf(".");
  const fraction = point < 0 ? 0 : written.replaceAll("_", "").length - point - 1;
  const parsed = assemble(digits, fraction, groups, { letter, power: Number(power) });
  if (parsed === undefined) throw refusal(text, "exponent overflow");
  return match[1] === "-" ? negateBig(parsed) : parsed;
}

function refusal(text: string, reason: string): ConversionError {
  return new ConversionError(
    `math/big: cannot unmarshal ${quoteGo(text)} into a *big.Float (${reason})`,
  );
}

/** digits · base^−fraction · exponent part; undefined where it leaves the range. */
function assemble(
  digits: string,
  fraction: number,
  groups: Readonly<Record<string, string | undefined>>,
  exponent: { readonly letter: string; readonly power: number },
): BigFloat | undefined {
  const prefix = groups["hex"] !== undefined ? "0x" : groups["octal"] !== undefined ? "0o" : "0b";
  const isDecimal = groups["decimal"] !== undefined;
  if (digits.length > exponentMax || Math.abs(exponent.power) > 2 * exponentMax) return undefined;
  const mantissa = BigInt(isDecimal ? digits.replace(/^0+(?=.)/, "") : prefix + digits);
  if (mantissa === 0n) return bigZero;
  const bitsPerDigit = prefix === "0x" ? 4 : prefix === "0o" ? 3 : 1;
  let twos = isDecimal ? -fraction : -fraction * bitsPerDigit;
  let fives = isDecimal ? -fraction : 0;
  if (exponent.letter === "p") twos += exponent.power;
  if (exponent.letter === "e") {
    twos += exponent.power;
    fives += exponent.power;
  }
  const value = scaleByFives(mantissa, twos, fives);
  return value.special === undefined ? value : undefined;
}

function scaleByFives(mantissa: bigint, twos: number, fives: number): BigFloat {
  if (fives >= 0) return makeBigFloat(mantissa * 5n ** BigInt(fives), twos);
  return divideExact(mantissa, 5n ** BigInt(-fives), twos);
}

/** a / b · 2^exponent for positive a and b, correctly rounded by a sticky bit. */
function divideExact(a: bigint, b: bigint, exponent: number): BigFloat {
  const shift = Math.max(0, precision + 2 - bitLength(a) + bitLength(b));
  const scaled = a << BigInt(shift);
  const quotient = scaled / b;
  const sticky = quotient * b === scaled ? 0n : 1n;
  return makeBigFloat((quotient << 1n) | sticky, exponent - shift - 1);
}

export function bigFromInt(int: Int64): BigFloat {
  return makeBigFloat(BigInt(int), 0);
}

/** Exact; infinities stay infinite. The float is not NaN. */
export function bigFromFloat(float: number): BigFloat {
  if (!Number.isFinite(float)) return float > 0 ? infinity : negativeInfinity;
  if (Number.isInteger(float)) return makeBigFloat(BigInt(float), 0);
  let scaled = float;
  let exponent = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent--;
  }
  return makeBigFloat(BigInt(scaled), exponent);
}

/** The nearest double. */
export function bigToFloat(big: BigFloat): number {
  if (big.special !== undefined) return big.special === "Inf" ? Infinity : -Infinity;
  return scaleToNumber(big.mantissa, big.exponent);
}

/** Cut towards zero and held within int64. */
export function bigToInt64(big: BigFloat): Int64 {
  if (big.special !== undefined)
    return clampInt64(big.special === "Inf" ? 2n ** 64n : -(2n ** 64n));
  const magnitude = big.mantissa < 0n ? -big.mantissa : big.mantissa;
  const bits = bitLength(magnitude) + big.exponent;
  if (magnitude === 0n || bits <= 0) return 0;
  if (bits > 64) return clampInt64(big.mantissa < 0n ? -(2n ** 64n) : 2n ** 64n);
  const whole = shiftBig(magnitude, big.exponent);
  return clampInt64(big.mantissa < 0n ? -whole : whole);
}

function clampInt64(int: bigint): Int64 {
  const max = 2n ** 63n - 1n;
  return normalizeInt64(int > max ? max : int < -max - 1n ? -max - 1n : int);
}

function shiftBig(mantissa: bigint, exponent: number): bigint {
  return exponent >= 0 ? mantissa << BigInt(exponent) : mantissa >> BigInt(-exponent);
}

export function negateBig(a: BigFloat): BigFloat {
  if (a.special !== undefined) return a.special === "Inf" ? negativeInfinity : infinity;
  return { mantissa: -a.mantissa, exponent: a.exponent };
}

export function addBig(a: BigFloat, b: BigFloat): BigFloat {
  if (a.special !== undefined || b.special !== undefined) return a.special !== undefined ? a : b;
  if (a.mantissa === 0n) return b;
  if (b.mantissa === 0n) return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const left = a.mantissa << BigInt(a.exponent - exponent);
  return makeBigFloat(left + (b.mantissa << BigInt(b.exponent - exponent)), exponent);
}

export function subtractBig(a: BigFloat, b: BigFloat): BigFloat {
  return addBig(a, negateBig(b));
}

export function multiplyBig(a: BigFloat, b: BigFloat): BigFloat {
  if (a.special !== undefined || b.special !== undefined) {
    return signBig(a) * signBig(b) < 0 ? negativeInfinity : infinity;
  }
  return makeBigFloat(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/** The divisor is not zero. */
export function divideBig(a: BigFloat, b: BigFloat): BigFloat {
  if (b.special !== undefined || a.mantissa === 0n) return bigZero;
  if (a.special !== undefined) return signBig(a) * signBig(b) < 0 ? negativeInfinity : infinity;
  const left = a.mantissa < 0n ? -a.mantissa : a.mantissa;
  const right = b.mantissa < 0n ? -b.mantissa : b.mantissa;
  const quotient = divideExact(left, right, a.exponent - b.exponent);
  return signBig(a) * signBig(b) < 0 ? negateBig(quotient) : quotient;
}

/** The operand is not negative. */
export function sqrtBig(a: BigFloat): BigFloat {
  if (a.special !== undefined || a.mantissa === 0n) return a;
  let shift = Math.max(0, 2 * (precision + 2) - bitLength(a.mantissa));
  if ((a.exponent - shift) % 2 !== 0) shift++;
  const scaled = a.mantissa << BigInt(shift);
  const root = squareRoot(scaled);
  const sticky = root * root === scaled ? 0n : 1n;
  return makeBigFloat((root << 1n) | sticky, (a.exponent - shift) / 2 - 1);
}

/** The integer square root, by Newton's method from above. */
function squareRoot(square: bigint): bigint {
  let root = 1n << BigInt((bitLength(square) + 1) >> 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

export function floorBig(a: BigFloat): BigFloat {
  if (a.special !== undefined || a.exponent >= 0) return a;
  if (-a.exponent > precision + 1 && a.mantissa > 0n) return bigZero;
  return makeBigFloat(a.mantissa >> BigInt(-a.exponent), 0);
}

export function ceilBig(a: BigFloat): BigFloat {
  return negateBig(floorBig(negateBig(a)));
}

/** −1, 0 or 1. */
export function signBig(a: BigFloat): number {
  return a.mantissa === 0n ? 0 : a.mantissa < 0n ? -1 : 1;
}

/** Negative, zero or positive. */
export function compareBig(a: BigFloat, b: BigFloat): number {
  const signs = signBig(a) - signBig(b);
  if (signs !== 0) return signs;
  if (a.special !== undefined || b.special !== undefined) {
    return rankSpecial(a) - rankSpecial(b);
  }
  if (a.exponent === b.exponent) {
    return a.mantissa < b.mantissa ? -1 : a.mantissa > b.mantissa ? 1 : 0;
  }
  return signBig(subtractBig(a, b));
}

function rankSpecial(a: BigFloat): number {
  return a.special === "Inf" ? 1 : a.special === "-Inf" ? -1 : 0;
}

/** The shortest decimal digits that read back, in %g form: an exponent below 1e-4 and from 1e6 on. */
export function printBigFloat(big: BigFloat): string {
  if (big.special !== undefined) return big.special === "Inf" ? "+Inf" : "-Inf";
  if (big.mantissa === 0n) return "0";
  const sign = big.mantissa < 0n ? "-" : "";
  const { digits, point } = shortestDigits(big);
  const exponent = point - 1;
  if (exponent < -4 || exponent >= 6) {
    const fraction = digits.length > 1 ? "." + digits.slice(1) : "";
    const power = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0] ?? ""}${fraction}e${exponent < 0 ? "-" : "+"}${power}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * Digits d1 d2 … and the place of the point (0.d1d2… · 10^point). The value and the ends of the interval that
 * rounds to it are written out exactly; the digits are taken until they lie inside of it.
 */
function shortestDigits(big: BigFloat): { digits: string; point: number } {
  const magnitude = big.mantissa < 0n ? -big.mantissa : big.mantissa;
  const widen = precision + 2 - bitLength(magnitude);
  const middle = magnitude << BigInt(widen);
  // Half a unit of the last place is 2; below a power of two the places are half as far apart.
  const below = middle === 1n << BigInt(precision + 1) ? 1n : 2n;
  const exponent = big.exponent - widen;
  // Scaled by 2^exponent (or 5^-exponent, moving the decimal point), all three become integers.
  const scale = exponent >= 0 ? 1n << BigInt(exponent) : 5n ** BigInt(-exponent);
  const value = (middle * scale).toString();
  const upper = ((middle + 2n) * scale).toString();
  const width = upper.length;
  const lower = ((middle - below) * scale).toString().padStart(width, "0");
  const inclusive = (middle & 4n) === 0n;
  const digits = cutDigits(value.padStart(width, "0"), lower, upper, inclusive);
  const leading = /^0*/.exec(digits)?.[0].length ?? 0;
  const point = width - leading + Math.min(0, exponent);
  return { digits: digits.slice(leading).replace(/0+$/, ""), point };
}

function cutDigits(value: string, lower: string, upper: string, inclusive: boolean): string {
  const lowerLast = lower.replace(/0+$/, "").length;
  const upperLast = upper.replace(/0+$/, "").length;
  const valueLast = value.replace(/0+$/, "").length;
  for (let i = 0; i < valueLast; i++) {
    const digit = value.charCodeAt(i);
    const high = upper.charCodeAt(i);
    const canDown = lower.charCodeAt(i) !== digit || (inclusive && i + 1 === lowerLast);
    const canUp = digit !== high && (inclusive || digit + 1 < high || i + 1 < upperLast);
    if (!canDown && !canUp) continue;
    const isUp = canUp && (!canDown || roundsUp(value, i + 1, valueLast));
    return isUp ? increment(value.slice(0, i + 1)) : value.slice(0, i + 1);
  }
  return value;
}

function roundsUp(value: string, at: number, last: number): boolean {
  if (at >= last) return false;
  if (value[at] === "5" && at + 1 === last) return (value.charCodeAt(at - 1) & 1) === 1;
  return value.charCodeAt(at) >= 53;
}

function increment(digits: string): string {
  return (BigInt(digits) + 1n).toString().padStart(digits.length, "0");
}
