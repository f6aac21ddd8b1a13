import type Farmhash from "farmhash";
import { unreachable } from "../base/assert.ts";
import { LatePackage } from "../base/late-package.ts";
import { printBigFloat } from "../model/bigfloat.ts";
import type { DateTime, Geometry, Value } from "../model/value.ts";

const farmhash = new LatePackage<typeof Farmhash>("farmhash", { isInstalled: true });

/**
 * The 64-bit FarmHash of a value's stored bytes as 8 latin1 characters, big-endian: comparing the texts compares the
 * numbers. It is the slot of a list element and so the order in which lists are printed (reference/dql 4.20).
 */
export function fingerprintValue(value: Value): string {
  return toText(farmhash.load().fingerprint64(storedBytes(value)));
}

/**
 * The fingerprint of a conflict key (reference/dql 3.6), in the same form; of a language tag too, by which `p@.`
 * chooses among tagged values when there is no untagged one (reference/dql 4.12).
 */
export function fingerprintKey(key: string): string {
  return toText(farmhash.load().fingerprint64(Buffer.from(key)));
}

function toText(hash: bigint): string {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(hash);
  return bytes.toString("latin1");
}

/** The bytes that the reference stores, for the sake of their hash alone. */
function storedBytes(value: Value): Buffer {
  switch (value.kind) {
    case "default":
    case "string":
      return Buffer.from(value.text);
    case "int":
      return intBytes(value.int);
    case "float":
      return floatBytes(value.float);
    case "bool":
      return Buffer.of(value.bool ? 1 : 0);
    case "datetime":
      return dateTimeBytes(value.time);
    case "geo":
      return Buffer.from(wellKnownBinary(value.geometry));
    case "password":
      return Buffer.from(value.hash);
    case "bigfloat":
      return Buffer.from(printBigFloat(value.big));
    case "float32vector":
      return vectorBytes(value.vector);
    case "binary":
      return Buffer.from(value.bytes);
    default:
      return unreachable(value);
  }
}

function intBytes(int: number | bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64LE(BigInt(int));
  return bytes;
}

function floatBytes(float: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleLE(float);
  return bytes;
}

/** Seconds from the year 1 to 1970. */
const secondsBefore1970 = 62135596800;

/** Version 1, seconds since the year 1, nanoseconds, offset in minutes (−1 for UTC); big-endian. */
function dateTimeBytes(time: DateTime): Buffer {
  const bytes = Buffer.allocUnsafe(15);
  bytes.writeUInt8(1, 0);
  bytes.writeBigInt64BE(BigInt(time.seconds + secondsBefore1970), 1);
  bytes.writeInt32BE(time.nanos, 9);
  bytes.writeInt16BE(time.offsetMinutes === 0 ? -1 : time.offsetMinutes, 13);
  return bytes;
}

function vectorBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let i = 0; i < vector.length; i++) bytes.writeFloatLE(vector[i] ?? 0, i * 4);
  return bytes;
}

const wkbTypes: Readonly<Record<Geometry["type"], number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
};

/** Well-known binary, little-endian; 1000 is added to the type for a third coordinate, 3000 for a fourth. */
function wellKnownBinary(geometry: Geometry): number[] {
  const bytes: number[] = [];
  writeGeometry(bytes, geometry);
  return bytes;
}

function writeGeometry(bytes: number[], geometry: Geometry): void {
  if (geometry.type === "GeometryCollection") {
    writeHeader(bytes, "GeometryCollection", 2);
    writeCount(bytes, geometry.geometries.length);
    for (const member of geometry.geometries) writeGeometry(bytes, member);
    return;
  }
  const stride = strideOf(geometry.coordinates);
  writeHeader(bytes, geometry.type, stride);
  switch (geometry.type) {
    case "Point":
      return writePoint(bytes, geometry.coordinates);
    case "LineString":
      return writePoints(bytes, geometry.coordinates);
    case "Polygon":
      return writeRings(bytes, geometry.coordinates);
    case "MultiPoint":
      return writeMembers(bytes, "Point", geometry.coordinates, writePoint);
    case "MultiLineString":
      return writeMembers(bytes, "LineString", geometry.coordinates, writePoints);
    case "MultiPolygon":
      return writeMembers(bytes, "Polygon", geometry.coordinates, writeRings);
    default:
      return unreachable(geometry);
  }
}

function strideOf(coordinates: unknown): number {
  let list: unknown = coordinates;
  while (Array.isArray(list) && Array.isArray(list[0])) list = list[0];
  return Array.isArray(list) ? list.length : 2;
}

function writeHeader(bytes: number[], type: Geometry["type"], stride: number): void {
  bytes.push(1);
  writeCount(bytes, wkbTypes[type] + (stride === 3 ? 1000 : stride === 4 ? 3000 : 0));
}

function writeCount(bytes: number[], count: number): void {
  bytes.push(count & 255, (count >>> 8) & 255, (count >>> 16) & 255, count >>> 24);
}

function writePoint(bytes: number[], point: readonly number[]): void {
  for (const number of point) bytes.push(...floatBytes(number));
}

function writePoints(bytes: number[], points: readonly (readonly number[])[]): void {
  writeCount(bytes, points.length);
  for (const point of points) writePoint(bytes, point);
}

function writeRings(bytes: number[], rings: readonly (readonly (readonly number[])[])[]): void {
  writeCount(bytes, rings.length);
  for (const ring of rings) writePoints(bytes, ring);
}

function writeMembers<T>(
  bytes: number[],
  type: Geometry["type"],
  members: readonly T[],
  write: (bytes: number[], member: T) => void,
): void {
  writeCount(bytes, members.length);
  for (const member of members) {
    writeHeader(bytes, type, strideOf(member));
    write(bytes, member);
  }
}
