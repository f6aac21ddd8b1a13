/**
 * Arithmetic on single values (dql.md 4.10). A value for which an operation has no result is "failed": constants
 * report the reason, in columns the node is left out.
 */
import {
  addBig,
  bigFromFloat,
  bigFromInt,
  ceilBig,
  compareBig,
  divideBig,
  floorBig,
  multiplyBig,
  negateBig,
  signBig,
  sqrtBig,
  subtractBig,
} from "../model/bigfloat.ts";
import { compareValues } from "../model/compare.ts";
import { compareDateTimes, secondsOf } from "../model/datetime.ts";
import {
  addInt64,
  divideInt64,
  multiplyInt64,
  remainderInt64,
  subtractInt64,
  type Int64,
} from "../model/int.ts";
import type { BigFloat, Value } from "../model/value.ts";

/** An operation without a result, and why. */
export class MathFailure extends Error {
  override readonly name = "MathFailure";
}

type Of<K extends Value["kind"]> = Extract<Value, { readonly kind: K }>;

const overflow = "Integer overflow";
const zeroDivisor = "Division by zero";

/** Infinite results are the largest floats, NaN is 0. */
export function clampFloat(float: number): number {
  if (float === Infinity) return Number.MAX_VALUE;
  if (float === -Infinity) return -Number.MAX_VALUE;
  return Number.isNaN(float) ? 0 : float;
}

function makeFloat(float: number): Value {
  return { kind: "float", float: clampFloat(float) };
}

function makeInt(int: Int64 | undefined): Value {
  if (int === undefined) throw new MathFailure(overflow);
  return { kind: "int", int };
}

function makeBig(big: BigFloat): Value {
  return { kind: "bigfloat", big };
}

function wrongType(value: Value, operator: string): MathFailure {
  return new MathFailure(`Wrong type ${value.kind} encountered for func ${operator}`);
}

function wrongTypes(left: Value, right: Value, operator: string): MathFailure {
  return new MathFailure(`invalid types ${left.kind}, ${right.kind} for func ${operator}`);
}

/** ln exp sqrt u- floor ceil since. `nowMs` is the clock's milliseconds. */
export function applyUnary(operator: string, value: Value, nowMs: number): Value {
  if (operator === "since") {
    if (value.kind !== "datetime") throw wrongType(value, operator);
    return makeFloat(nowMs / 1000 - secondsOf(value.time));
  }
  switch (value.kind) {
    case "int":
      return unaryInt(operator, value.int);
    case "float":
      return makeFloat(unaryFloat(operator, value.float));
    case "bigfloat":
      return makeBig(unaryBig(operator, value));
    case "float32vector":
      if (operator !== "u-") throw wrongType(value, operator);
      return { kind: "float32vector", vector: value.vector.map((number) => -number) };
    default:
      throw wrongType(value, operator);
  }
}

function unaryInt(operator: string, int: Int64): Value {
  switch (operator) {
    case "u-":
      return makeInt(subtractInt64(0, int));
    case "floor":
    case "ceil":
      return { kind: "int", int };
    default:
      return makeFloat(unaryFloat(operator, Number(int)));
  }
}

function unaryFloat(operator: string, float: number): number {
  switch (operator) {
    case "u-":
      return -float;
    case "floor":
      return Math.floor(float);
    case "ceil":
      return Math.ceil(float);
    case "exp":
      return Math.exp(float);
    case "ln":
      if (float < 0) throw new MathFailure("Log of negative number");
      return Math.log(float);
    case "sqrt":
      if (float < 0) throw new MathFailure("Root of negative number");
      return Math.sqrt(float);
    default:
      throw new MathFailure(`Unhandled Math operator: ${operator}`);
  }
}

function unaryBig(operator: string, value: Of<"bigfloat">): BigFloat {
  switch (operator) {
    case "u-":
      return negateBig(value.big);
    case "floor":
      return floorBig(value.big);
    case "ceil":
      return ceilBig(value.big);
    case "sqrt":
      if (signBig(value.big) < 0) throw new MathFailure("Root of negative number");
      return sqrtBig(value.big);
    default:
      throw wrongType(value, operator);
  }
}

/** + - * / % pow logbase min max dot. Int with float is float, either with bigfloat is bigfloat. */
export function applyBinary(operator: string, left: Value, right: Value): Value {
  if (operator === "min" || operator === "max") return pick(operator, left, right);
  if (left.kind === "float32vector" || right.kind === "float32vector") {
    return applyVector(operator, left, right);
  }
  if (left.kind === "int" && right.kind === "int") return binaryInt(operator, left.int, right.int);
  if (left.kind === "bigfloat" || right.kind === "bigfloat") {
    return makeBig(binaryBig(operator, toBig(left, right), toBig(right, left)));
  }
  const [a, b] = [toFloat(left), toFloat(right)];
  if (a === undefined || b === undefined) throw wrongTypes(left, right, operator);
  return makeFloat(binaryFloat(operator, a, b));
}

function toFloat(value: Value): number | undefined {
  if (value.kind === "int") return Number(value.int);
  return value.kind === "float" ? value.float : undefined;
}

function toBig(value: Value, other: Value): BigFloat {
  if (value.kind === "bigfloat") return value.big;
  if (value.kind === "int") return bigFromInt(value.int);
  if (value.kind === "float") return bigFromFloat(value.float);
  throw wrongTypes(value, other, "bigfloat");
}

/** The smaller or larger of two numbers, texts or dates. */
function pick(operator: "min" | "max", left: Value, right: Value): Value {
  const order = compareForMath(left, right);
  if (order === undefined) throw wrongTypes(left, right, operator);
  const chosen = operator === "min" ? (order < 0 ? left : right) : order < 0 ? right : left;
  const isMixed = left.kind !== right.kind;
  return isMixed && chosen.kind === "int" ? makeFloat(Number(chosen.int)) : chosen;
}

function binaryInt(operator: string, a: Int64, b: Int64): Value {
  switch (operator) {
    case "+":
      return makeInt(addInt64(a, b));
    case "-":
      return makeInt(subtractInt64(a, b));
    case "*":
      return makeInt(multiplyInt64(a, b));
    case "/":
      if (b === 0) throw new MathFailure(zeroDivisor);
      return makeInt(divideInt64(a, b));
    case "%":
      if (b === 0) throw new MathFailure(zeroDivisor);
      return makeInt(remainderInt64(a, b));
    case "pow":
      return makeFloat(power(Number(a), Number(b)));
    default:
      return makeFloat(binaryFloat(operator, Number(a), Number(b)));
  }
}

function binaryFloat(operator: string, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      if (b === 0) throw new MathFailure(zeroDivisor);
      return a / b;
    case "%":
      if (b === 0) throw new MathFailure(zeroDivisor);
      return a % b;
    case "pow":
      if (a < 0 && !Number.isInteger(b)) {
        throw new MathFailure("Fractional power of negative number");
      }
      return power(a, b);
    case "logbase":
      if (a < 0 || b < 0) throw new MathFailure("Log of negative number");
      if (b === 1) throw new MathFailure(zeroDivisor);
      return Math.log(a) / Math.log(b);
    default:
      throw new MathFailure(`Unhandled Math operator: ${operator}`);
  }
}

/** Half powers are roots, which are rounded correctly. */
function power(base: number, exponent: number): number {
  if (exponent === 0.5) return Math.sqrt(base);
  if (exponent === -0.5) return 1 / Math.sqrt(base);
  return base ** exponent;
}

function binaryBig(operator: string, a: BigFloat, b: BigFloat): BigFloat {
  switch (operator) {
    case "+":
      return addBig(a, b);
    case "-":
      return subtractBig(a, b);
    case "*":
      return multiplyBig(a, b);
    case "/":
      if (signBig(b) === 0) throw new MathFailure(zeroDivisor);
      return divideBig(a, b);
    default:
      throw new MathFailure(`Wrong type bigfloat encountered for func ${operator}`);
  }
}

/** vector ± vector, scalar · vector, vector · scalar, vector / scalar, vector dot vector; in 32 bits. */
function applyVector(operator: string, left: Value, right: Value): Value {
  if (left.kind === "float32vector" && right.kind === "float32vector") {
    return applyVectors(operator, left, right);
  }
  const vector = left.kind === "float32vector" ? left : right;
  const scalar = toFloat(left.kind === "float32vector" ? right : left);
  const isDivision = operator === "/" && left.kind === "float32vector";
  if (
    vector.kind !== "float32vector" ||
    scalar === undefined ||
    (operator !== "*" && !isDivision)
  ) {
    throw wrongTypes(left, right, operator);
  }
  if (isDivision && scalar === 0) throw new MathFailure(zeroDivisor);
  const factor = Math.fround(scalar);
  if (!Number.isFinite(factor)) throw new MathFailure("Float32 overflow");
  const result = vector.vector.map((number) => (isDivision ? number / factor : number * factor));
  return { kind: "float32vector", vector: result };
}

function applyVectors(
  operator: string,
  left: Of<"float32vector">,
  right: Of<"float32vector">,
): Value {
  if (operator !== "+" && operator !== "-" && operator !== "dot") {
    throw wrongTypes(left, right, operator);
  }
  const [a, b] = [left.vector, right.vector];
  if (a.length !== b.length) throw new MathFailure("The length of vectors must match");
  if (operator === "dot") {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
    return makeFloat(sum);
  }
  const sign = operator === "+" ? 1 : -1;
  return { kind: "float32vector", vector: a.map((number, i) => number + sign * (b[i] ?? 0)) };
}

/**
 * < > <= >= == != of two numbers, texts, dates or bigfloats; undefined for anything else, a bigfloat beside another
 * number included (the node is left out).
 */
export function applyComparison(operator: string, left: Value, right: Value): boolean | undefined {
  const isMixed = left.kind !== right.kind && !(isNumber(left) && isNumber(right));
  const order = isMixed ? undefined : compareForMath(left, right);
  if (order === undefined) return undefined;
  switch (operator) {
    case "<":
      return order < 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    case ">=":
      return order >= 0;
    case "==":
      return order === 0;
    default:
      return order !== 0;
  }
}

function compareForMath(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) return compareValues(left, right);
  if (isText(left) && left.kind === right.kind) return compareValues(left, right);
  if (left.kind === "datetime" && right.kind === "datetime") {
    return compareDateTimes(left.time, right.time);
  }
  if (left.kind === "bigfloat" || right.kind === "bigfloat") {
    const isComparable = isNumber(left) || isNumber(right) || left.kind === right.kind;
    return isComparable ? compareBig(toBig(left, right), toBig(right, left)) : undefined;
  }
  return undefined;
}

function isNumber(value: Value): boolean {
  return value.kind === "int" || value.kind === "float";
}

function isText(value: Value): boolean {
  return value.kind === "string" || value.kind === "default";
}
