/**
 * Values as the bytes in which the reference carries them, and bytes as its messages quote them. Nothing is stored so:
 * they stand in what it says of refused facts.
 */
import { concatBytes, encodeUtf8 } from "../base/bytes.ts";
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
      return concatBytes(
        ...Array.from(value.vector, (n) => numberBytes(4, (view) => view.setFloat32(0, n, true))),
      );
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
    concatBytes(uint32(members.length), ...members.map(geometryBytes));
  const head = concatBytes(Uint8Array.of(1), uint32(geometryCodes[geometry.type]));
  switch (geometry.type) {
    case "Point":
      return concatBytes(head, pointBytes(geometry.coordinates));
    case "LineString":
      return concatBytes(head, lineBytes(geometry.coordinates));
    case "Polygon":
      return concatBytes(
        head,
        uint32(geometry.coordinates.length),
        ...geometry.coordinates.map(lineBytes),
      );
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
  return concatBytes(uint32(points.length), ...points.map(pointBytes));
}

function pointBytes(point: readonly number[]): Uint8Array {
  return concatBytes(...point.map((n) => numberBytes(8, (view) => view.setFloat64(0, n, true))));
}

function uint32(number: number): Uint8Array {
  return numberBytes(4, (view) => view.setUint32(0, number, true));
}

const strict = new TextDecoder("utf-8", { fatal: true });

/** In quotes: as text where the bytes are UTF-8, byte by byte where they are not. */
export function quoteWire(bytes: Uint8Array): string {
  let quoted = '"';
  for (let i = 0; i < bytes.length;) {
    const byte = bytes[i]!;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    const character = decode(bytes.subarray(i, i + length));
    quoted += character === undefined ? hex(byte, 2, "x") : escape(character);
    i += character === undefined ? 1 : length;
  }
  return quoted + '"';
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

const shortEscapes: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};

function escape(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return hex(code, 2, "x");
  return code >= 0x80 && code <= 0x9f ? hex(code, 4, "u") : character;
}

function hex(code: number, digits: number, letter: "x" | "u"): string {
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}
