/** Geometry → the objects of GraphQL: Point, Polygon, PointList, MultiPolygon (reference/graphql 1.2). */
import type { Value } from "../model/value.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { GeoPart, GeoShape } from "./graphql-shape.ts";

type Coordinates = number | readonly Coordinates[];

/** False, with nothing written, where the value is no geometry of the shape's type. */
export function writeGeometry(out: JsonWriter, value: Value | undefined, shape: GeoShape): boolean {
  if (value?.kind !== "geo") return false;
  const geometry = value.geometry;
  if (geometry.type !== shape.typeName || !("coordinates" in geometry)) return false;
  writeShape(out, geometry.coordinates, shape);
  return true;
}

function writeShape(out: JsonWriter, coordinates: Coordinates, shape: GeoShape): void {
  out.byte(123);
  for (let i = 0; i < shape.parts.length; i++) {
    const part = shape.parts[i] as GeoPart;
    if (i > 0) out.byte(44);
    out.bytes(part.keyBytes);
    writePart(out, coordinates, part, shape.typeName);
  }
  out.byte(125);
}

function writePart(
  out: JsonWriter,
  coordinates: Coordinates,
  part: GeoPart,
  typeName: string,
): void {
  if (part.part === "typename") out.text(JSON.stringify(typeName));
  else if (part.part === "longitude" || part.part === "latitude") {
    const number = memberOf(coordinates, part.part === "longitude" ? 0 : 1);
    out.ascii(typeof number === "number" ? JSON.stringify(number) : "null");
  } else {
    // points of a ring, rings of a polygon, polygons of several: one level of brackets each.
    out.byte(91);
    const members = typeof coordinates === "number" ? [] : coordinates;
    for (let i = 0; i < members.length; i++) {
      if (i > 0) out.byte(44);
      if (part.inner !== undefined) writeShape(out, members[i] ?? [], part.inner);
    }
    out.byte(93);
  }
}

function memberOf(coordinates: Coordinates, index: number): Coordinates | undefined {
  return typeof coordinates === "number" ? undefined : coordinates[index];
}
