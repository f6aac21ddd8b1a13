/**
 * One scalar value as it is stored, ready to print (reference/storage 3.3).
 *
 * Cell:    kind u8 (place in valueKinds) | flags u8 | language run, when flagged | facets run, when flagged | payload
 * Payload: default, string  its JSON text as answers print it, quoted; flagged when that is the text itself
 *          int              i64
 *          float            f64, JSON text (none for infinities)
 *          bool             u8
 *          datetime         seconds f64, nanos u32, offset i32, JSON text
 *          geo              JSON text
 *          password         the hash in UTF-8; never printed
 *          bigfloat         special u8, exponent i32, mantissa (hex digits, signed) latin1 run, JSON text
 *          float32vector    f32…
 *          binary           the bytes
 * Numbers are little-endian. Filtering on number text costs 171 ns, on the float 1.2; printing a float 257 ns and a
 * date 1,041, copying their texts 20 to 75: hence both.
 */
import { Buffer } from "node:buffer";
import { assert, must, unreachable } from "../base/assert.ts";
import {
  ByteReader,
  ByteWriter,
  decodeUtf8,
  emptyBytes,
  encodeUtf8,
  readInt32,
} from "../base/bytes.ts";
import type { Facets } from "../model/facet.ts";
import { checkGeometry } from "../model/geometry.ts";
import { printValueJson, printValueText } from "../model/print-value.ts";
import { makeInt, valueKinds, type BigFloat, type Value, type ValueKind } from "../model/value.ts";
import { readF64 } from "./f64.ts";
import { decodeFacets, encodeFacets } from "./facets.ts";

const flagLanguage = 1;
const flagFacets = 2;
/** The JSON text between the quotes is the text itself. */
const flagPlain = 4;

const kindNumbers: Readonly<Record<ValueKind, number>> = Object.fromEntries(
  valueKinds.map((kind, number) => [kind, number]),
) as Record<ValueKind, number>;

const specials = [undefined, "Inf", "-Inf"] as const;

/** `language` "" for none. What `decodeCell` gives back is equal. */
export function encodeCell(value: Value, language = "", facets?: Facets): Uint8Array {
  if (language === "" && facets === undefined) {
    const isText = value.kind === "string" || value.kind === "default";
    const cell = isText ? encodePlainText(kindNumbers[value.kind], value.text) : undefined;
    if (cell !== undefined) return cell;
  }
  const json = printValueJson(value);
  const isText = value.kind === "string" || value.kind === "default";
  const facetRun = facets === undefined || facets.length === 0 ? undefined : encodeFacets(facets);
  const writer = json.length <= shortUnitsMax ? shortWriter : new ByteWriter(32 + json.length);
  writer.reset();
  writer.u8(kindNumbers[value.kind]);
  writer.u8(
    (language === "" ? 0 : flagLanguage) |
      (facetRun === undefined ? 0 : flagFacets) |
      (isText && json.length === value.text.length + 2 ? flagPlain : 0),
  );
  if (language !== "") writer.latin1(language);
  if (facetRun !== undefined) writer.run(facetRun);
  writePayload(writer, value, json);
  return writer.finish();
}

/** One for all short cells: numbers and dates come in every write. */
const shortWriter = new ByteWriter(512);
const shortUnitsMax = 256;

/** Most cells: ASCII without anything to escape, at a third of the price. undefined for any other text. */
function encodePlainText(kind: number, text: string): Uint8Array | undefined {
  const cell = new Uint8Array(text.length + 4);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80 || isEscaped[unit] === 1) return undefined;
    cell[i + 3] = unit;
  }
  cell[0] = kind;
  cell[1] = flagPlain;
  cell[2] = quote;
  cell[text.length + 3] = quote;
  return cell;
}

/**
 * For loads that never make a text: the bytes of the cell of a text whose bytes stand in `text`; 0 where it is not
 * plain ASCII.
 */
export function plainBytesSize(text: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const unit = must(text[at], "a byte of the cell");
    if (unit >= 0x80 || isEscaped[unit] === 1) return 0;
  }
  return to - from + 4;
}

/** That cell, as `encodeCell` makes it, to `target` from `at` on. */
export function encodePlainBytes(
  kind: "string" | "default",
  text: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  target: Uint8Array,
  at: number,
): void {
  target[at] = kindNumbers[kind];
  target[at + 1] = flagPlain;
  target[at + 2] = quote;
  if (to - from > 32) target.set(text.subarray(from, to), at + 3);
  else
    for (let i = from; i < to; i++) target[at + 3 + i - from] = must(text[i], "a byte of the cell");
  target[at + 3 + to - from] = quote;
}

const quote = 0x22;

/** ASCII that cannot stand in a JSON text of an answer as it is. */
const isEscaped = new Uint8Array(128).fill(1, 0, 32);
for (const sign of '"\\<>&') isEscaped[sign.charCodeAt(0)] = 1;

function writePayload(writer: ByteWriter, value: Value, json: string): void {
  switch (value.kind) {
    case "default":
    case "string":
    case "geo":
      return writer.raw(encodeUtf8(json));
    case "int":
      if (typeof value.int === "number") return writer.safeI64(value.int);
      return writer.i64(value.int);
    case "float":
      writer.f64(value.float);
      return writer.raw(encodeUtf8(json));
    case "bool":
      return writer.u8(value.bool ? 1 : 0);
    case "datetime":
      writer.f64(value.time.seconds);
      writer.u32(value.time.nanos);
      writer.i32(value.time.offsetMinutes);
      return writer.raw(encodeUtf8(json));
    case "password":
      return writer.raw(encodeUtf8(value.hash));
    case "bigfloat":
      writer.u8(specials.indexOf(value.big.special));
      writer.i32(value.big.exponent);
      writer.latin1(value.big.mantissa.toString(16));
      return writer.raw(encodeUtf8(json));
    case "float32vector":
      for (const number of value.vector) {
        scratchF32[0] = number;
        writer.raw(scratchBytes.subarray(0, 4));
      }
      return;
    case "binary":
      return writer.raw(value.bytes);
    default:
      return unreachable(value);
  }
}

const scratch = new ArrayBuffer(8);
const scratchBytes = new Uint8Array(scratch);
const scratchF32 = new Float32Array(scratch);

/** The nearest double of an i64; exact within ±2^53. A small one is never a double on the way. */
function readI64AsNumber(bytes: Uint8Array, at: number): number {
  const low = readInt32(bytes, at) >>> 0;
  const high = readInt32(bytes, at + 4);
  return high === 0 ? low : high * 0x100000000 + low;
}

/** Implements graph/reader.ts's Cell. Shares `bytes`: a lent cell must be copied first. */
export class StoredCell {
  // What every reader of a cell asks for stands first, in one line of the processor's cache.
  readonly kind: ValueKind;
  readonly language: string;
  /** undefined for NaN: a field that only ever held numbers would keep each in a box of its own. */
  private readonly near: number | undefined;
  private readonly bytes: Uint8Array;
  private readonly begin: number;
  private readonly end: number;
  private readonly payloadAt: number;
  private readonly facetsAt: number;
  private heldJson: Uint8Array | undefined = undefined;
  private heldText: string | undefined = undefined;
  private heldValue: Value | undefined = undefined;
  private heldFacets: Facets | undefined = undefined;

  /** The cell stands in bytes[begin, end), which it keeps; a view of its own for each cell cost as much as all else. */
  constructor(bytes: Uint8Array, begin = 0, end: number = bytes.length) {
    const kind = valueKinds[must(bytes[begin], "a byte of the cell")];
    assert(kind !== undefined, "a stored cell has a known kind");
    const flags = must(bytes[begin + 1], "a byte of the cell");
    let at = begin + 2;
    let language = "";
    let facetsAt = 0;
    if (flags !== 0 && flags !== flagPlain) {
      const reader = new ByteReader(bytes, at);
      if ((flags & flagLanguage) !== 0) language = reader.latin1();
      if ((flags & flagFacets) !== 0) {
        facetsAt = reader.at;
        reader.run();
      }
      at = reader.at;
    }
    this.kind = kind;
    this.language = language;
    this.near = readNumber(kind, bytes, at);
    this.bytes = bytes;
    this.begin = begin;
    this.end = end;
    this.payloadAt = at;
    this.facetsAt = facetsAt;
  }

  get number(): number {
    return this.near ?? NaN;
  }

  get jsonLength(): number {
    const { near } = this;
    // Written digit by digit: a text of its own for each number takes as much memory as the cell.
    if (this.kind === "int" && isShortInt(near)) return countDigits(near);
    const from = this.jsonAt;
    return from < 0 ? this.jsonMade.length : this.end - from;
  }

  copyJson(target: Uint8Array, at: number): void {
    const { near } = this;
    if (this.kind === "int" && isShortInt(near)) return writeDigits(target, at, near);
    const { bytes, end, jsonAt: from } = this;
    if (from < 0) target.set(this.jsonMade, at);
    else if (end - from > loopBytesMax) {
      target.set((this.heldJson ??= bytes.subarray(from, end)), at);
    } else
      for (let i = 0; i < end - from; i++)
        target[at + i] = must(bytes[from + i], "a byte of the cell");
  }

  get text(): string {
    return (this.heldText ??= this.readText());
  }

  get value(): Value {
    return (this.heldValue ??= this.readValue());
  }

  get facets(): Facets | undefined {
    if (this.facetsAt === 0) return undefined;
    return (this.heldFacets ??= decodeFacets(new ByteReader(this.bytes, this.facetsAt).run()));
  }

  /** Where the printed text stands in the bytes; −1: it is made of what stands there. */
  private get jsonAt(): number {
    switch (this.kind) {
      case "default":
      case "string":
      case "geo":
        return this.payloadAt;
      case "float":
        return this.payloadAt + 8;
      case "datetime":
        return this.payloadAt + 16;
      default:
        return -1;
    }
  }

  private get jsonMade(): Uint8Array {
    return (this.heldJson ??= this.makeJson());
  }

  private makeJson(): Uint8Array {
    switch (this.kind) {
      case "bigfloat": {
        const reader = new ByteReader(this.bytes, this.payloadAt + 5);
        reader.run();
        return this.bytes.subarray(reader.at, this.end);
      }
      case "password":
        return emptyBytes;
      case "bool":
        return this.number === 1 ? trueBytes : falseBytes;
      default:
        return encodeUtf8(printValueJson(this.value));
    }
  }

  private readText(): string {
    if (this.kind !== "string" && this.kind !== "default") return printValueText(this.value);
    const { bytes, payloadAt, end } = this;
    if ((must(bytes[this.begin + 1], "a byte of the cell") & flagPlain) === 0) {
      return JSON.parse(utf8(bytes, payloadAt, end)) as string;
    }
    return utf8(bytes, payloadAt + 1, end - 1);
  }

  private readValue(): Value {
    const { kind, bytes, payloadAt, end } = this;
    switch (kind) {
      case "default":
      case "string":
        return { kind, text: this.text };
      case "int":
        return readInt(this.number, bytes, payloadAt);
      case "float":
        return { kind, float: this.number };
      case "bool":
        return { kind, bool: this.number === 1 };
      case "datetime":
        return readDateTime(bytes, payloadAt);
      case "geo": {
        const text = utf8(bytes, payloadAt, end);
        return { kind, geometry: checkGeometry(JSON.parse(text), text) };
      }
      case "password":
        return { kind, hash: utf8(bytes, payloadAt, end) };
      case "bigfloat":
        return { kind, big: readBigFloat(bytes, payloadAt) };
      case "float32vector":
        return { kind, vector: new Float32Array(bytes.slice(payloadAt, end).buffer) };
      case "binary":
        return { kind, bytes: bytes.subarray(payloadAt, end) };
      default:
        return unreachable(kind);
    }
  }
}

/** The cell of stored bytes, which it keeps: copy lent ones first. */
export function decodeCell(bytes: Uint8Array): StoredCell {
  return new StoredCell(bytes);
}

const trueBytes = encodeUtf8("true");
const falseBytes = encodeUtf8("false");

/** A loop up to here; above, a view (150 bytes) is kept for `set`. */
const loopBytesMax = 24;

/** Up to nine digits fit 32 bits. */
const shortIntEnd = 1e9;

function isShortInt(near: number | undefined): near is number {
  return near !== undefined && near >= 0 && near < shortIntEnd;
}

/** Of an integer from 0 to shortIntEnd. */
function countDigits(int: number): number {
  let digits = 1;
  for (let bound = 10; int >= bound; bound *= 10) digits++;
  return digits;
}

function writeDigits(target: Uint8Array, at: number, int: number): void {
  let rest = int | 0;
  for (let place = at + countDigits(int) - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = 0x30 + rest - tenth * 10;
    rest = tenth;
  }
}

function readNumber(kind: ValueKind, bytes: Uint8Array, at: number): number | undefined {
  switch (kind) {
    case "int":
      return readI64AsNumber(bytes, at);
    case "float":
      return readF64(bytes, at);
    case "bool":
      return must(bytes[at], "a byte of the cell");
    case "datetime":
      return readF64(bytes, at) * 1000 + (readInt32(bytes, at + 8) >>> 0) / 1e6;
    default:
      return undefined;
  }
}

function readInt(near: number, bytes: Uint8Array, at: number): Value {
  if (Number.isSafeInteger(near)) return { kind: "int", int: near };
  return makeInt(new ByteReader(bytes, at).i64());
}

function readDateTime(bytes: Uint8Array, at: number): Value {
  const reader = new ByteReader(bytes, at);
  const seconds = reader.f64();
  const nanos = reader.u32();
  return { kind: "datetime", time: { seconds, nanos, offsetMinutes: reader.i32() } };
}

function readBigFloat(bytes: Uint8Array, at: number): BigFloat {
  const reader = new ByteReader(bytes, at);
  const special = specials[reader.u8()];
  const exponent = reader.i32();
  const digits = reader.latin1();
  const mantissa = digits.startsWith("-") ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`);
  return special === undefined ? { mantissa, exponent } : { mantissa, exponent, special };
}

/** Short ASCII runs are the rule; `latin1Slice` on Buffers is the fastest way to a string. */
function utf8(bytes: Uint8Array, from: number, to = bytes.length): string {
  if (to - from > 48) return decodeUtf8(bytes.subarray(from, to));
  for (let i = from; i < to; i++) {
    if (must(bytes[i], "a byte of the cell") >= 0x80) return decodeUtf8(bytes.subarray(from, to));
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
}
