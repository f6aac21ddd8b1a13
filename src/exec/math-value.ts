/**
 * Arithmetic on single values (reference/dql 4.10). A value for which an operation has no result is "failed": constants
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
import { compareValues, kindIds } from "../model/compare.ts";
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

const operatorWords = new Map([
  ["pow", "func ^"],
  ["logbase", "func log"],
  ["ceil", "fun ceil"],
]);

function wrongType(value: Value, operator: string): MathFailure {
  const word = operatorWords.get(operator) ?? `func ${operator}`;
  return new MathFailure(`Wrong type ${kindIds[value.kind]} encountered for ${word}`);
}

/** The classes of operands that arithmetic knows, by the numbers in which failures name them. */
const classNumbers: Readonly<Partial<Record<Value["kind"], number>>> = {
  int: 0,
  float: 1,
  float32vector: 2,
  bigfloat: 4,
};

const otherClass = 3;

function classOf(value: Value): number {
  return classNumbers[value.kind] ?? otherClass;
}

function wrongClasses(left: number, right: number, operator: string): MathFailure {
  return new MathFailure(`invalid types ${left}, ${right} for func ${operator}`);
}

function wrongTypes(left: Value, right: Value, operator: string): MathFailure {
  return wrongClasses(classOf(left), classOf(right), operator);
}

/** What an operation says that has no result for a vector, or a bigfloat. */
const noResult = "Query: harmless error, e.g. task.Val is nil";

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
      if (operator !== "u-") throw new MathFailure(noResult);
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
      throw new MathFailure(noResult);
  }
}

/** + - * / % pow logbase min max dot. Int with float is float, either with bigfloat is bigfloat. */
export function applyBinary(operator: string, left: Value, right: Value): Value {
  if (operator === "min" || operator === "max") return pick(operator, left, right);
  if (left.kind === "float32vector" || right.kind === "float32vector") {
    return applyVector(operator, left, right);
  }
  if (operator === "dot") {
    const isFloat = classOf(left) + classOf(right) === 1;
    throw isFloat ? wrongClasses(1, 1, operator) : wrongTypes(left, right, operator);
  }
  if (left.kind === "int" && right.kind === "int") return binaryInt(operator, left.int, right.int);
  if (left.kind === "bigfloat" || right.kind === "bigfloat") {
    return makeBig(binaryBig(operator, toBig(left, right), toBig(right, left)));
  }
  const [a, b] = [toFloat(left), toFloat(right)];
  if (a === undefined || b === undefined) throw notNumbers(left, right, operator);
  return makeFloat(binaryFloat(operator, a, b));
}

function notNumbers(left: Value, right: Value, operator: string): MathFailure {
  const areAlike = classOf(left) === classOf(right) && operator !== "*" && operator !== "/";
  return areAlike ? wrongType(left, operator) : wrongTypes(left, right, operator);
}

function toFloat(value: Value): number | undefined {
  if (value.kind === "int") return Number(value.int);
  return value.kind === "float" ? value.float : undefined;
}

function toBig(value: Value, other: Value): BigFloat {
  if (value.kind === "bigfloat") return value.big;
  if (value.kind === "int") return bigFromInt(value.int);
  if (value.kind === "float") return bigFromFloat(value.float);
  throw wrongTypes(value, other, "+");
}

/** The smaller or larger of two numbers, texts or dates. */
function pick(operator: "min" | "max", left: Value, right: Value): Value {
  const order = compareForMath(left, right);
  if (order === undefined) throw notComparable(operator, left, right);
  const chosen = operator === "min" ? (order < 0 ? left : right) : order < 0 ? right : left;
  const isMixed = left.kind !== right.kind;
  return isMixed && chosen.kind === "int" ? makeFloat(Number(chosen.int)) : chosen;
}

function notComparable(operator: string, left: Value, right: Value): MathFailure {
  const isVectorFirst = left.kind === "float32vector" && classOf(right) < 2;
  const areAlike = classOf(left) === otherClass && classOf(right) === otherClass;
  if (!areAlike && !isVectorFirst) return wrongTypes(left, right, operator);
  if (left.kind !== right.kind) {
    return new MathFailure("Arguments of different type can not be compared.");
  }
  return new MathFailure(`Compare not supported for type: ${kindIds[left.kind]}`);
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
      throw new MathFailure(noResult);
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
    throw notScalable(operator, left, right);
  }
  if (isDivision && scalar === 0) throw new MathFailure(zeroDivisor);
  const factor = Math.fround(scalar);
  if (!Number.isFinite(factor)) throw new MathFailure("Float32 overflow");
  const result = vector.vector.map((number) => (isDivision ? number / factor : number * factor));
  return { kind: "float32vector", vector: result };
}

/** A number behind a vector has become a float by then. */
function notScalable(operator: string, left: Value, right: Value): MathFailure {
  if (left.kind !== "float32vector" || classOf(right) === otherClass) {
    return wrongTypes(left, right, operator);
  }
  if (operator === "dot") return wrongClasses(2, 1, operator);
  const isSum = operator === "+" || operator === "-";
  return new MathFailure(isSum ? "Left and right arguments must match" : noResult);
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
