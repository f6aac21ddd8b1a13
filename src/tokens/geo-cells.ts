import type { s2 } from "s2js";
import { LatePackage } from "../base/late-package.ts";
import { ConversionError } from "../model/conversion-error.ts";
import type { Geometry } from "../model/value.ts";

const s2js = new LatePackage<{ readonly s2: typeof s2 }>("s2js");

/** Points, lines and cells on the sphere. */
export function loadS2(): typeof s2 {
  return s2js.load().s2;
}

/** Cells of about 250 km down to about 150 m. */
export const levelMin = 5;
export const levelMax = 16;
const cellsMax = 18;

/** Tokens are one of these and the cell's number: a cell that holds part of the geometry, or one above such a cell. */
const coverMark = 0x63;
const parentMark = 0x70;

/** A closed line on the sphere, and a place on it. */
export type Loop = s2.Loop;

type Ring = readonly (readonly number[])[];
export type PolygonRings = readonly Ring[];

/** Tokens of a stored geometry: its covering cells and all cells above them. Errors: reference/dql 4.3.11. */
export function geoTokens(geometry: Geometry): Uint8Array[] {
  const cover = coverOf(geometry, "index");
  return [...parentsOf(cover).map(parentToken), ...cover.map(coverToken)];
}

/** Tokens of which any one must be there for a geometry to be in one of the cells of `cover`. */
export function withinTokens(cover: readonly bigint[]): Uint8Array[] {
  return cover.map(parentToken);
}

/** … for a geometry whose cells can hold all of `cover`. */
export function containsTokens(cover: readonly bigint[]): Uint8Array[] {
  return parentsOf(cover).map(coverToken);
}

/** … for a geometry that can share a point with `cover`. */
export function intersectsTokens(cover: readonly bigint[]): Uint8Array[] {
  return [...parentsOf(cover).map(coverToken), ...cover.map(parentToken)];
}

/** Refuses what has no place in an index: other kinds of geometry, more than two dimensions, rings that do not close. */
export function checkGeoIndexable(geometry: Geometry): void {
  checkPlane(geometry);
  if (geometry.type === "Polygon") checkRing(geometry.coordinates);
  else if (geometry.type === "MultiPolygon") geometry.coordinates.forEach(checkRing);
  else if (geometry.type !== "Point")
    throw wrongGeometry("Cannot index geometry of type", geometry);
}

function wrongGeometry(sentence: string, geometry: Geometry): ConversionError {
  return new ConversionError(`${sentence} *geom.${geometry.type}`);
}

/** The cells that cover a geometry. Points have one cell, of the lowest level. */
export function coverOf(geometry: Geometry, use: "index" | "query"): bigint[] {
  checkPlane(geometry);
  switch (geometry.type) {
    case "Point":
      return [loadS2().cellid.parent(cellOf(geometry.coordinates), levelMax)];
    case "Polygon":
      return coverLoop(loopOf(geometry.coordinates));
    case "MultiPolygon": {
      const cells = new Set<bigint>();
      for (const polygon of geometry.coordinates) {
        for (const cell of coverLoop(loopOf(polygon))) cells.add(cell);
      }
      return [...cells];
    }
    default:
      throw wrongGeometry(
        use === "index" ? "Cannot index geometry of type" : "Cannot query using a geometry of type",
        geometry,
      );
  }
}

export const earthRadiusMeters = 6_371_000;
export const circleCorners = 100;

/** A circle on the earth, drawn as a polygon of 100 corners. */
export function makeCircle(center: readonly number[], radiusMeters: number): s2.Loop {
  return loadS2().Loop.regularLoop(
    pointOf(center),
    radiusMeters / earthRadiusMeters,
    circleCorners,
  );
}

function checkPlane(geometry: Geometry): void {
  if (geometry.type === "GeometryCollection") return;
  let list: unknown = geometry.coordinates;
  while (Array.isArray(list) && Array.isArray(list[0])) list = list[0];
  if (!Array.isArray(list) || list.length !== 2) {
    throw new ConversionError("Covering only available for 2D co-ordinates.");
  }
}

function cellOf(coordinates: readonly number[]): bigint {
  const { cellid, LatLng } = loadS2();
  return cellid.fromLatLng(LatLng.fromDegrees(coordinates[1] ?? 0, coordinates[0] ?? 0));
}

export function pointOf(coordinates: readonly number[]): s2.Point {
  const { Point, LatLng } = loadS2();
  return Point.fromLatLng(LatLng.fromDegrees(coordinates[1] ?? 0, coordinates[0] ?? 0));
}

/** The outer ring as a loop on the sphere; the side that is smaller is taken as the inside. */
export function loopOf(polygon: PolygonRings): s2.Loop {
  return loopOfRing(checkRing(polygon));
}

function checkRing(polygon: PolygonRings): Ring {
  const ring = polygon[0] ?? [];
  if (ring.length < 4) throw new ConversionError("Can't convert ring with less than 4 pts");
  if (!isClosed(ring)) throw new ConversionError(notClosed(polygon));
  return ring;
}

/** A closed ring as a loop, whichever way round it is given. */
export function loopOfRing(ring: Ring): s2.Loop {
  const points = ring.slice(0, -1).map(pointOf);
  if (isClockwise(ring)) points.reverse();
  const { Loop } = loadS2();
  const loop = new Loop(points);
  if (loop.capBound().radius() > Math.PI / 2) loop.invert();
  return loop;
}

export function isClosed(ring: Ring): boolean {
  const first = ring[0];
  const last = ring[ring.length - 1];
  return first?.[0] === last?.[0] && first?.[1] === last?.[1];
}

/** The reference prints its own structure here; clients have seen that text. */
function notClosed(polygon: PolygonRings): string {
  const flat: number[] = [];
  const ends: number[] = [];
  for (const ring of polygon) {
    for (const point of ring) flat.push(...point);
    ends.push(flat.length);
  }
  const geometry = `{layout:1 stride:2 flatCoords:[${flat.join(" ")}] srid:0}`;
  return (
    "Last coordinate not same as first for polygon: " +
    `&{geom2:{geom1:{geom0:${geometry}} ends:[${ends.join(" ")}]}}\n`
  );
}

/** By the area on the plane, which is right for all but rings around a pole or across the date line. */
function isClockwise(ring: Ring): boolean {
  let area = 0;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x1 = 0, y1 = 0] = ring[i] ?? [];
    const [x2 = 0, y2 = 0] = ring[i + 1] ?? [];
    area += (x2 - x1) * (y1 + y2);
  }
  return area > 0;
}

export function coverLoop(loop: s2.Loop): bigint[] {
  const { RegionCoverer } = loadS2();
  const coverer = new RegionCoverer({
    minLevel: levelMin,
    maxLevel: levelMax,
    levelMod: 1,
    maxCells: cellsMax,
  });
  return [...coverer.covering(loop)];
}

function parentsOf(cover: readonly bigint[]): bigint[] {
  const parents = new Set<bigint>();
  const { cellid } = loadS2();
  for (const cell of cover) {
    for (let level = cellid.level(cell); level >= levelMin; level--) {
      parents.add(cellid.parent(cell, level));
    }
  }
  return [...parents];
}

function coverToken(cell: bigint): Uint8Array {
  return cellToken(coverMark, cell);
}

function parentToken(cell: bigint): Uint8Array {
  return cellToken(parentMark, cell);
}

function cellToken(mark: number, cell: bigint): Uint8Array {
  const token = new Uint8Array(9);
  token[0] = mark;
  new DataView(token.buffer).setBigUint64(1, cell);
  return token;
}
