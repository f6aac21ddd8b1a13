import { unreachable } from "../base/assert.ts";
import {
  bigFromFloat,
  bigFromInt,
  bigToFloat,
  bigToInt64,
  divideBig,
  makeBigFloat,
  parseBigFloat,
  printBigFloat,
  signBig,
} from "./bigfloat.ts";
import { ConversionError, quoteGo } from "./conversion-error.ts";
import { parseDateTime, printDateTime, secondsOf } from "./datetime.ts";
import { parseGoFloat, printFloatG } from "./float.ts";
import { parseGeometry, printGeometry } from "./geometry.ts";
import { parseInt64, truncateToInt64, type Int64 } from "./int.ts";
import type { BigFloat, DateTime, Value, ValueKind } from "./value.ts";
import { parseVector, printVectorText } from "./vector.ts";

/**
 * The value as another kind: the matrix of reference/dql 2.11, for literals on writing and for stored values after a
 * type change. Throws ConversionError with the reference's text (`asFault` gives it a code).
 * A text becomes a password only in the `write` module, which hashes it: here it becomes a hash that nothing matches.
 */
export function convertValue(value: Value, to: ValueKind): Value {
  if (value.kind === to) return value;
  switch (value.kind) {
    case "default":
    case "string":
      return fromText(value.text, to);
    case "int":
      return fromInt(value.int, to);
    case "float":
      return fromFloat(value.float, to);
    case "bool":
      return fromBool(value.bool, to);
    case "datetime":
      return fromDateTime(value.time, to);
    case "geo":
      return toText(value, printGeometry(value.geometry).replaceAll('"', "'"), to);
    case "password":
      return toText(value, value.hash, to);
    case "bigfloat":
      return fromBig(value.big, to);
    case "float32vector":
      return toText(value, printVectorText(value.vector), to);
    case "binary":
      return toText(value, new TextDecoder().decode(value.bytes), to);
    default:
      return unreachable(value);
  }
}

/** The shortest password that is taken, in bytes, and the longest that bcrypt reads to its end. */
const passwordBytesMin = 6;
const passwordBytesMax = 72;

/** Refuses a password that is too short or too long; the `write` module hashes it afterwards. */
export function checkPassword(password: string): void {
  const { length } = new TextEncoder().encode(password);
  if (length < passwordBytesMin) {
    throw new ConversionError("Password too short, i.e. should have at least 6 chars");
  }
  if (length > passwordBytesMax) {
    throw new ConversionError("bcrypt: password length exceeds 72 bytes");
  }
}

function cannotConvert(from: ValueKind, to: ValueKind): ConversionError {
  return new ConversionError(`Cannot convert ${from} to type ${to}`);
}

/** Kinds that convert to nothing but text. */
function toText(value: Value, text: string, to: ValueKind): Value {
  if (to === "string" || to === "default") return { kind: to, text };
  if (to === "binary") return { kind: "binary", bytes: new TextEncoder().encode(text) };
  throw cannotConvert(value.kind, to);
}

function fromText(text: string, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text };
    case "int":
      return { kind: "int", int: parseInt64(text) };
    case "float": {
      const float = parseGoFloat(text);
      if (Number.isNaN(float)) throw new ConversionError("Got invalid value: NaN");
      return { kind: "float", float };
    }
    case "bool":
      return { kind: "bool", bool: parseBool(text) };
    case "datetime":
      return { kind: "datetime", time: parseDateTime(text) };
    case "geo":
      return { kind: "geo", geometry: parseGeometry(text) };
    case "password":
      checkPassword(text);
      return { kind: "password", hash: "" };
    case "bigfloat":
      return { kind: "bigfloat", big: parseBigFloat(text) };
    case "float32vector":
      return { kind: "float32vector", vector: parseVector(text) };
    case "binary":
      return { kind: "binary", bytes: new TextEncoder().encode(text) };
    default:
      return unreachable(to);
  }
}

const trueWords: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const falseWords: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

/** The words of Go's strconv.ParseBool. */
export function parseBool(text: string): boolean {
  if (trueWords.has(text)) return true;
  if (falseWords.has(text)) return false;
  throw new ConversionError(`strconv.ParseBool: parsing ${quoteGo(text)}: invalid syntax`);
}

function oneElement(number: number): Value {
  return { kind: "float32vector", vector: Float32Array.of(number) };
}

function fromInt(int: Int64, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text: String(int) };
    case "float":
      return { kind: "float", float: Number(int) };
    case "bool":
      return { kind: "bool", bool: int !== 0 };
    case "datetime":
      return { kind: "datetime", time: dateTimeFromSeconds(Number(int)) };
    case "bigfloat":
      return { kind: "bigfloat", big: bigFromInt(int) };
    case "float32vector":
      return oneElement(Number(int));
    default:
      throw cannotConvert("int", to);
  }
}

function fromFloat(float: number, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text: printFloatG(float) };
    case "int": {
      const int = truncateToInt64(float);
      if (int === undefined) throw new ConversionError("Float out of int64 range");
      return { kind: "int", int };
    }
    case "bool":
      return { kind: "bool", bool: float !== 0 };
    case "datetime":
      return { kind: "datetime", time: dateTimeFromSeconds(float) };
    case "bigfloat":
      return { kind: "bigfloat", big: bigFromFloat(float) };
    case "float32vector":
      return oneElement(float);
    default:
      throw cannotConvert("float", to);
  }
}

/** The fraction is cut to whole nanoseconds, as the reference does it. */
/** Seconds of the years 0 to 9999: what lies outside has no RFC 3339 text, and infinity no instant. */
const firstSecond = -62_167_219_200;
const lastSecond = 253_402_300_799;

function dateTimeFromSeconds(float: number): DateTime {
  if (!(float >= firstSecond && float <= lastSecond)) {
    throw new ConversionError("Time.MarshalJSON: year outside of range [0,9999]");
  }
  const whole = Math.trunc(float);
  let nanos = Math.trunc((float - whole) * 1e9);
  let seconds = whole + 0;
  if (nanos < 0) {
    nanos += 1e9;
    seconds -= 1;
  }
  return { seconds, nanos: nanos + 0, offsetMinutes: 0 };
}

function fromBool(bool: boolean, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text: bool ? "true" : "false" };
    case "int":
      return { kind: "int", int: bool ? 1 : 0 };
    case "float":
      return { kind: "float", float: bool ? 1 : 0 };
    case "bigfloat":
      return { kind: "bigfloat", big: bigFromInt(bool ? 1 : 0) };
    case "float32vector":
      return oneElement(bool ? 1 : 0);
    default:
      throw cannotConvert("bool", to);
  }
}

function fromDateTime(time: DateTime, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text: printDateTime(time) };
    case "int":
      return { kind: "int", int: time.seconds };
    case "float":
      return { kind: "float", float: secondsOf(time) };
    case "bigfloat":
      return { kind: "bigfloat", big: bigSecondsOf(time) };
    default:
      throw cannotConvert("datetime", to);
  }
}

function bigSecondsOf(time: DateTime): BigFloat {
  const nanos = BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
  return divideBig(makeBigFloat(nanos, 0), bigFromInt(1_000_000_000));
}

function fromBig(big: BigFloat, to: ValueKind): Value {
  switch (to) {
    case "default":
    case "string":
      return { kind: to, text: printBigFloat(big) };
    case "int":
      return { kind: "int", int: bigToInt64(big) };
    case "float":
      return { kind: "float", float: bigToFloat(big) };
    case "bool":
      return { kind: "bool", bool: signBig(big) !== 0 };
    case "datetime":
      return { kind: "datetime", time: dateTimeFromSeconds(bigToFloat(big)) };
    default:
      throw cannotConvert("bigfloat", to);
  }
}
