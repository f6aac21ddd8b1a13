/** GeoJSON, as DQL answers geometry → the members of Point, Polygon, MultiPolygon (reference/graphql 1.2). */
import { isJsonArray } from "../operation/json.ts";
import type { JsonObject, JsonValue } from "../operation/json.ts";

/** Undefined where the value is no GeoJSON of the type. */
export function geometryParts(typeName: string, value: JsonObject): JsonObject | undefined {
  const { type, coordinates } = value;
  if (type !== typeName || !isJsonArray(coordinates)) return undefined;
  switch (typeName) {
    case "Point":
      return pointOf(coordinates);
    case "Polygon":
      return polygonOf(coordinates);
    case "MultiPolygon":
      return { polygons: coordinates.map(polygonOf) };
    default:
      return undefined;
  }
}

function polygonOf(rings: JsonValue): JsonObject {
  return { coordinates: listOf(rings).map((ring) => ({ points: listOf(ring).map(pointOf) })) };
}

function pointOf(position: JsonValue): JsonObject {
  const [longitude = null, latitude = null] = listOf(position);
  return { longitude, latitude };
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}
