/**
 * Values as the bytes in which the reference carries them, and bytes as its messages quote them. Nothing is stored so:
 * they stand in what it says of refused facts.
 */
import { concatBytes, encodeUtf8, joinBytes } from "../base/bytes.ts";
import { printValueText } from "./print-value.ts";
import type { DateTime, Geometry, Value } from "./value.ts";

export function wireBytes(value: Value): Uint8Array {
  switch (value.kind) {
    case "int":
      return numberBytes(8, (view) => view.setBigInt64(0, BigInt(value.int), true));
    case "float":
      return numberBytes(8, (view) => view.setFloat64(0, value.float, true));
    case "bool":
      return Uint8Array.of(value.bool ? 1 : 0);
    case "datetime":
      return dateTimeBytes(value.time);
    case "geo":
      return geometryBytes(value.geometry);
    case "float32vector":
      return numberBytes(4 * value.vector.length, (view) => {
        value.vector.forEach((number, i) => view.setFloat32(4 * i, number, true));
      });
    case "binary":
      return value.bytes;
    case "password":
      return encodeUtf8(value.hash);
    case "default":
    case "string":
    case "bigfloat":
      return encodeUtf8(printValueText(value));
  }
}

function numberBytes(size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  write(new DataView(bytes.buffer));
  return bytes;
}

/** Seconds from the first of January of the year 1 to 1970. */
const secondsBefore1970 = 62_135_596_800;

/** Go's binary form of a time: version, seconds, nanoseconds, offset in minutes, where -1 is UTC. */
function dateTimeBytes({ seconds, nanos, offsetMinutes }: DateTime): Uint8Array {
  return numberBytes(15, (view) => {
    view.setUint8(0, 1);
    view.setBigInt64(1, BigInt(seconds + secondsBefore1970));
    view.setInt32(9, nanos);
    view.setInt16(13, offsetMinutes === 0 ? -1 : offsetMinutes);
  });
}

/** Numbers of the kinds in well-known binary. */
const geometryCodes: Readonly<Record<Geometry["type"], number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
};

/** Well-known binary, little-endian. */
function geometryBytes(geometry: Geometry): Uint8Array {
  const parts = (members: readonly Geometry[]): Uint8Array =>
    countedBytes(members.map(geometryBytes));
  const head = concatBytes(Uint8Array.of(1), uint32(geometryCodes[geometry.type]));
  switch (geometry.type) {
    case "Point":
      return concatBytes(head, pointBytes(geometry.coordinates));
    case "LineString":
      return concatBytes(head, lineBytes(geometry.coordinates));
    case "Polygon":
      return concatBytes(head, countedBytes(geometry.coordinates.map(lineBytes)));
    case "MultiPoint":
      return concatBytes(
        head,
        parts(geometry.coordinates.map((coordinates) => ({ type: "Point", coordinates }))),
      );
    case "MultiLineString":
      return concatBytes(
        head,
        parts(geometry.coordinates.map((coordinates) => ({ type: "LineString", coordinates }))),
      );
    case "MultiPolygon":
      return concatBytes(
        head,
        parts(geometry.coordinates.map((coordinates) => ({ type: "Polygon", coordinates }))),
      );
    case "GeometryCollection":
      return concatBytes(head, parts(geometry.geometries));
  }
}

function lineBytes(points: readonly (readonly number[])[]): Uint8Array {
  return concatBytes(uint32(points.length), pointBytes(points.flat()));
}

function countedBytes(pieces: readonly Uint8Array[]): Uint8Array {
  return concatBytes(uint32(pieces.length), joinBytes(pieces));
}

function pointBytes(numbers: readonly number[]): Uint8Array {
  return numberBytes(8 * numbers.length, (view) => {
    numbers.forEach((number, i) => view.setFloat64(8 * i, number, true));
  });
}

function uint32(number: number): Uint8Array {
  return numberBytes(4, (view) => view.setUint32(0, number, true));
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A large geometry has millions of such bytes. */
const hexBytes = Array.from({ length: 256 }, (_, byte) => hex(byte, 2, "x"));

/** In quotes: as text where the bytes are UTF-8, byte by byte where they are not. */
export function quoteWire(bytes: Uint8Array): string {
  let quoted = '"';
  let from = 0;
  const flush = (to: number): void => {
    if (to > from) quoted += decoder.decode(bytes.subarray(from, to));
  };
  for (let i = 0; i < bytes.length;) {
    const length = sequenceLength(bytes, i);
    const written = length === 0 ? hexBytes[bytes[i]!] : escapeOf(bytes, i);
    const next = i + Math.max(1, length);
    if (written !== undefined) {
      flush(i);
      quoted += written;
      from = next;
    }
    i = next;
  }
  flush(bytes.length);
  return quoted + '"';
}

/** Bytes of the character at a place; 0 where none is. Without exceptions, which cost more than a message is worth. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (let i = 1; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1] ?? 0;
  const isOverlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const isSurrogate = first === 0xed && second > 0x9f;
  const isBeyond = first === 0xf4 && second > 0x8f;
  return isOverlong || isSurrogate || isBeyond ? 0 : length;
}

const shortEscapes: ReadonlyMap<number, string> = new Map([
  [0x0a, "\\n"],
  [0x0d, "\\r"],
  [0x09, "\\t"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

/** undefined for what stands as it is. */
function escapeOf(bytes: Uint8Array, at: number): string | undefined {
  const byte = bytes[at]!;
  if (byte === 0xc2 && bytes[at + 1]! < 0xa0) return hex(bytes[at + 1]!, 4, "u");
  if (byte < 0x20 || byte === 0x7f) return shortEscapes.get(byte) ?? hexBytes[byte];
  return byte === 0x22 || byte === 0x5c ? shortEscapes.get(byte) : undefined;
}

function hex(code: number, digits: number, letter: "x" | "u"): string {
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}
