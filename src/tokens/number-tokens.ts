import { assert } from "../base/assert.ts";
import type { BigFloat, DateTime, Value } from "../model/value.ts";
import { makeInt } from "../model/value.ts";

/*
 * Tokens whose bytes order as the values do, at full precision whatever the tokenizer is called, so that order, ranges
 * and aggregates are answered from the index alone (reference/storage 5).
 */

/** int64 with the sign bit turned over, big-endian. */
export function intToken(int: number | bigint): Uint8Array {
  const token = new Uint8Array(8);
  if (typeof int === "bigint") {
    new DataView(token.buffer).setBigInt64(0, int);
  } else {
    const high = Math.floor(int / 0x100000000);
    const low = int - high * 0x100000000;
    for (let i = 0; i < 4; i++) {
      token[i] = high >>> (24 - 8 * i);
      token[i + 4] = low >>> (24 - 8 * i);
    }
  }
  token[0] = (token[0] ?? 0) ^ 0x80;
  return token;
}

/** IEEE bits, all of them turned over for negatives and the sign alone for others. −0 is 0. */
export function floatToken(float: number): Uint8Array {
  const token = new Uint8Array(8);
  new DataView(token.buffer).setFloat64(0, float + 0);
  const mask = (token[0] ?? 0) & 0x80 ? 0xff : 0;
  for (let i = 0; i < 8; i++) token[i] = (token[i] ?? 0) ^ mask;
  if (mask === 0) token[0] = (token[0] ?? 0) | 0x80;
  return token;
}

export function boolToken(bool: boolean): Uint8Array {
  return Uint8Array.of(bool ? 1 : 0);
}

/** Seconds as int64, then the nanoseconds where there are any (a shorter token comes first). */
export function dateTimeToken(time: DateTime): Uint8Array {
  const seconds = intToken(time.seconds);
  if (time.nanos === 0) return seconds;
  const token = new Uint8Array(12);
  token.set(seconds);
  new DataView(token.buffer).setUint32(8, time.nanos);
  return token;
}

const exponentBias = 0x80000000;

/**
 * Sign (0 to 3: −Inf, negative, zero and positive, Inf), then for what is not zero the place of the highest bit (4 bytes) and the mantissa from its highest
 * bit on, without zero bytes at the end. For negatives these bytes are turned over and closed by 0xff.
 */
export function bigFloatToken(big: BigFloat): Uint8Array {
  if (big.special !== undefined) return Uint8Array.of(big.special === "Inf" ? 3 : 0);
  if (big.mantissa === 0n) return Uint8Array.of(2);
  const isNegative = big.mantissa < 0n;
  const binary = (isNegative ? -big.mantissa : big.mantissa).toString(2);
  const bytes = Math.ceil(binary.length / 8);
  const token = new Uint8Array(5 + bytes + (isNegative ? 1 : 0));
  token[0] = isNegative ? 1 : 2;
  new DataView(token.buffer).setUint32(1, binary.length + big.exponent + exponentBias);
  const digits = binary.padEnd(bytes * 8, "0");
  for (let i = 0; i < bytes; i++) token[5 + i] = parseInt(digits.slice(i * 8, i * 8 + 8), 2);
  if (isNegative) for (let i = 1; i < token.length - 1; i++) token[i] = (token[i] ?? 0) ^ 0xff;
  if (isNegative) token[token.length - 1] = 0xff;
  return token;
}

/** The value of a token, for aggregates over an index. Dates come back in UTC: the offset is not in the token. */
export function decodeNumberToken(kind: Value["kind"], token: Uint8Array): Value {
  switch (kind) {
    case "int":
      return makeInt(readInt64(token));
    case "float":
      return { kind: "float", float: readFloat(token) };
    case "bool":
      return { kind: "bool", bool: token[0] === 1 };
    case "datetime":
      return { kind: "datetime", time: readDateTime(token) };
    case "bigfloat":
      return { kind: "bigfloat", big: readBigFloat(token) };
    default:
      assert(false, "only tokens of numbers and dates can be decoded");
  }
}

/** The token of an int or float as a double: what sums over an index add up. */
export function decodeNumberTokenToFloat(kind: "int" | "float", token: Uint8Array): number {
  if (kind === "float") return readFloat(token);
  const view = viewOf(token);
  return (view.getInt32(0) ^ -0x80000000) * 0x100000000 + view.getUint32(4);
}

function viewOf(token: Uint8Array): DataView {
  return new DataView(token.buffer, token.byteOffset, token.byteLength);
}

function readInt64(token: Uint8Array): bigint {
  return BigInt.asIntN(64, viewOf(token).getBigUint64(0) ^ (1n << 63n));
}

function readFloat(token: Uint8Array): number {
  const bytes = token.slice(0, 8);
  const mask = (bytes[0] ?? 0) & 0x80 ? 0 : 0xff;
  for (let i = 0; i < 8; i++) bytes[i] = (bytes[i] ?? 0) ^ mask;
  if (mask === 0) bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return viewOf(bytes).getFloat64(0);
}

function readDateTime(token: Uint8Array): DateTime {
  const nanos = token.length === 12 ? viewOf(token).getUint32(8) : 0;
  return { seconds: Number(readInt64(token)), nanos, offsetMinutes: 0 };
}

function readBigFloat(token: Uint8Array): BigFloat {
  const sign = token[0] ?? 2;
  if (token.length === 1) {
    if (sign === 2) return { mantissa: 0n, exponent: 0 };
    return { mantissa: sign === 3 ? 1n : -1n, exponent: 0, special: sign === 3 ? "Inf" : "-Inf" };
  }
  const bytes = token.slice(0, sign === 1 ? token.length - 1 : token.length);
  if (sign === 1) for (let i = 1; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) ^ 0xff;
  let mantissa = 0n;
  for (let i = 5; i < bytes.length; i++) mantissa = (mantissa << 8n) | BigInt(bytes[i] ?? 0);
  let exponent = viewOf(bytes).getUint32(1) - exponentBias - (bytes.length - 5) * 8;
  while ((mantissa & 1n) === 0n) {
    mantissa >>= 1n;
    exponent++;
  }
  return { mantissa: sign === 1 ? -mantissa : mantissa, exponent };
}
