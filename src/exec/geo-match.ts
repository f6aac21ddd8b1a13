/**
 * near, within, contains and intersects: the index cells to look at and the test of a geometry (reference/dql 4.3.11).
 */
import { booleanPointInPolygon } from "@turf/boolean-point-in-polygon";
import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import { ConversionError, toFault } from "../model/conversion-error.ts";
import { parseGoFloat } from "../model/float.ts";
import { checkGeometry } from "../model/geometry.ts";
import type { Geometry } from "../model/value.ts";
import {
  containsTokens,
  coverLoop,
  coverOf,
  intersectsTokens,
  isClosed,
  loopOf,
  loopOfRing,
  pointOf,
  withinTokens,
  type Loop,
  type PolygonRings,
} from "../tokens/geo-cells.ts";
import { drawCircle } from "../tokens/geo-circle.ts";

export type GeoFunction = "near" | "within" | "contains" | "intersects";

export interface GeoQuery {
  /** A geometry that matches has at least one of these tokens of the `geo` tokenizer. */
  readonly tokens: readonly Uint8Array[];
  readonly matches: (geometry: Geometry) => boolean;
}

/**
 * `text`: coordinates in brackets or GeoJSON; `distance`: meters, for near. Faults carry the reference's texts.
 * Holes count: what lies in a hole of a polygon lies outside of it.
 */
export function buildGeoQuery(name: GeoFunction, text: string, distance = ""): GeoQuery {
  try {
    if (name === "near") return buildNear(text, distance);
    const geometry = parseGeoArgument(text);
    if (name === "contains") return buildContains(geometry);
    return name === "within" ? buildWithin(geometry) : buildIntersects(geometry);
  } catch (error) {
    throw toFault("E_QUERY", error);
  }
}

/** An area with its holes. */
interface Area {
  readonly outer: Loop;
  readonly holes: readonly Loop[];
}

function areaOf(polygon: PolygonRings): Area {
  const holes = polygon.slice(1).filter((ring) => ring.length >= 4 && isClosed(ring));
  return { outer: loopOf(polygon), holes: holes.map(loopOfRing) };
}

/** The areas of a polygon or multipolygon; undefined for other geometries. */
function areasOf(geometry: Geometry): readonly Area[] | undefined {
  if (geometry.type === "Polygon") return [areaOf(geometry.coordinates)];
  return geometry.type === "MultiPolygon" ? geometry.coordinates.map(areaOf) : undefined;
}

function buildNear(text: string, distance: string): GeoQuery {
  const meters = parseDistance(distance);
  const center = parseGeoArgument(text);
  if (center.type !== "Point") throw new ConversionError("Require a point for a within query.");
  if (!(meters > 0)) {
    throw new ConversionError("Invalid max distance specified for a near query");
  }
  const circle = drawCircle(center.coordinates, meters);
  return {
    tokens: intersectsTokens(circle.cover ?? coverLoop(circle.loop())),
    matches: (geometry) =>
      geometry.type === "Point"
        ? circle.hasPoint(geometry.coordinates)
        : doesIntersect([{ outer: circle.loop(), holes: [] }], geometry),
  };
}

function parseDistance(text: string): number {
  const meters = parseMeters(text);
  if (meters < 0) throw new ConversionError("Distance cannot be negative");
  return meters;
}

function parseMeters(text: string): number {
  try {
    return parseGoFloat(text);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw new ConversionError(`Error while converting distance to float: ${error.message}`);
  }
}

function buildWithin(geometry: Geometry): GeoQuery {
  const tokens = withinTokens(coverOf(geometry, "query"));
  const areas = areasOf(geometry);
  if (areas === undefined) throw new ConversionError("Require a polygon for within query");
  return { tokens, matches: (stored) => isWithin(areas, stored) };
}

function buildIntersects(geometry: Geometry): GeoQuery {
  const tokens = intersectsTokens(coverOf(geometry, "query"));
  const areas = areasOf(geometry);
  if (areas === undefined) throw new ConversionError("Require a polygon for intersects query");
  return { tokens, matches: (stored) => doesIntersect(areas, stored) };
}

function buildContains(geometry: Geometry): GeoQuery {
  const tokens = containsTokens(coverOf(geometry, "query"));
  if (geometry.type === "Point") {
    const point = [...geometry.coordinates];
    return { tokens, matches: (stored) => containsPoint(stored, point) };
  }
  const areas = areasOf(geometry) ?? [];
  return {
    tokens,
    matches: (stored) => {
      const within = areasOf(stored);
      return within !== undefined && areas.every((area) => containsArea(within, area));
    },
  };
}

/** On the plane of longitude and latitude, ends included, as the reference decides it for points. */
function containsPoint(stored: Geometry, point: number[]): boolean {
  if (stored.type !== "Polygon" && stored.type !== "MultiPolygon") return false;
  // The package takes mutable arrays and changes none.
  return booleanPointInPolygon(point, stored as unknown as PlaneArea);
}

type PlaneArea = Parameters<typeof booleanPointInPolygon>[1];

/** Whether one of the areas holds all of `inner`, which no hole may cut. */
function containsArea(areas: readonly Area[], inner: Area): boolean {
  return areas.some(
    ({ outer, holes }) =>
      outer.contains(inner.outer) && holes.every((hole) => !cutsInto(hole, inner)),
  );
}

/** A hole takes nothing from an area that has a hole around it. */
function cutsInto(hole: Loop, area: Area): boolean {
  return hole.intersects(area.outer) && !area.holes.some((own) => own.contains(hole));
}

function isWithin(areas: readonly Area[], stored: Geometry): boolean {
  if (stored.type === "Point") return areas.some((area) => holdsPoint(area, stored.coordinates));
  const inner = areasOf(stored);
  return inner !== undefined && inner.every((area) => containsArea(areas, area));
}

function holdsPoint({ outer, holes }: Area, coordinates: readonly number[]): boolean {
  const point = pointOf(coordinates);
  return outer.containsPoint(point) && !holes.some((hole) => hole.containsPoint(point));
}

function doesIntersect(areas: readonly Area[], stored: Geometry): boolean {
  if (stored.type === "Point") return areas.some((area) => holdsPoint(area, stored.coordinates));
  const others = areasOf(stored);
  if (others === undefined) return false;
  return areas.some((area) => others.some((other) => doAreasIntersect(area, other)));
}

function doAreasIntersect(a: Area, b: Area): boolean {
  if (!a.outer.intersects(b.outer)) return false;
  const isInHole = a.holes.some((hole) => hole.contains(b.outer));
  return !isInHole && !b.holes.some((hole) => hole.contains(a.outer));
}

const geometryOfDepth = ["", "Point", "", "Polygon", "MultiPolygon"] as const;

/** `[lon, lat]`, the coordinates of a polygon or multipolygon, or GeoJSON text; rings must be closed. */
function parseGeoArgument(text: string): Geometry {
  const trimmed = text.replace(/[ \t\r\n]/g, "");
  if (trimmed.startsWith("{")) return checkRings(checkGeometry(parseJson(text), text));
  if (trimmed.length < 5 || !trimmed.startsWith("[")) throw invalidCoordinates();
  const depth = Math.min(4, /^\[*/.exec(trimmed)?.[0].length ?? 0);
  const type = geometryOfDepth[depth === 2 ? 1 : depth];
  const geometry = { type, coordinates: parseJson(trimmed) };
  return checkRings(checkGeometry(geometry, text));
}

function invalidCoordinates(): ConversionError {
  return new ConversionError("Invalid coordinates");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const detail = findJsonSyntaxFault(text)?.detail ?? "unexpected end of JSON input";
    throw new ConversionError(`Invalid coordinates: ${detail}`);
  }
}

function checkRings(geometry: Geometry): Geometry {
  if (geometry.type === "Polygon") checkClosed(geometry.coordinates);
  if (geometry.type === "MultiPolygon") geometry.coordinates.forEach(checkClosed);
  return geometry;
}

function checkClosed(polygon: PolygonRings): void {
  const [ring] = polygon;
  if (ring === undefined || ring.length === 0) throw new ConversionError("Got empty polygon.");
  if (!isClosed(ring)) throw new ConversionError("Last coord not same as first");
}
