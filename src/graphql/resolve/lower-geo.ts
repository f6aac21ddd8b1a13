/** Geographic functions of filters, and geometry values of inputs (reference/graphql 1.2, 4.6). */
import type { Filter, PredicateName } from "../../dql/ast.ts";
import type { Geometry } from "../../model/value.ts";
import { callFilter, literal } from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentValue } from "../operation/arguments.ts";

/** near, within, contains, intersects; undefined for null and for names that are none of them. */
export function lowerGeoFunction(
  context: LowerContext,
  predicate: PredicateName,
  name: string,
  value: ArgumentValue,
): Filter | undefined {
  if (!isArgumentObject(value)) return undefined;
  switch (name) {
    case "near": {
      const point = pointOf(value["coordinate"]);
      const distance = value["distance"];
      if (point === undefined || distance === null || distance === undefined) return undefined;
      return geoCall(context, predicate, name, point, argumentText(distance));
    }
    case "within":
      return geoCall(context, predicate, name, polygonOf(value["polygon"]));
    case "contains":
      return geoCall(
        context,
        predicate,
        name,
        pointOf(value["point"]) ?? polygonOf(value["polygon"]),
      );
    case "intersects":
      return geoCall(
        context,
        predicate,
        name,
        polygonOf(value["polygon"]) ?? multiPolygonOf(value["multiPolygon"]),
      );
    default:
      return undefined;
  }
}

function geoCall(
  context: LowerContext,
  predicate: PredicateName,
  name: string,
  coordinates: unknown,
  distance?: string,
): Filter | undefined {
  if (coordinates === undefined) return undefined;
  const json = literal(context, JSON.stringify(coordinates), false);
  const more =
    distance === undefined
      ? []
      : [{ kind: "literal" as const, literal: literal(context, distance, false) }];
  return callFilter({
    name,
    subject: predicate,
    args: [{ kind: "geo", json }, ...more],
    at: undefined,
  });
}

/** A geometry given by `PointRef`, `PolygonRef` or `MultiPolygonRef`; undefined where the value is none. */
export function geometryOf(typeName: string, value: ArgumentValue): Geometry | undefined {
  if (typeName === "Point") {
    const coordinates = pointOf(value);
    return coordinates === undefined ? undefined : { type: "Point", coordinates };
  }
  if (typeName === "Polygon") {
    const coordinates = polygonOf(value);
    return coordinates === undefined ? undefined : { type: "Polygon", coordinates };
  }
  const coordinates = multiPolygonOf(value);
  return coordinates === undefined ? undefined : { type: "MultiPolygon", coordinates };
}

function pointOf(value: ArgumentValue): number[] | undefined {
  if (!isArgumentObject(value)) return undefined;
  const longitude = value["longitude"];
  const latitude = value["latitude"];
  if (longitude === null || longitude === undefined) return undefined;
  if (latitude === null || latitude === undefined) return undefined;
  return [Number(argumentText(longitude)), Number(argumentText(latitude))];
}

function polygonOf(value: ArgumentValue): number[][][] | undefined {
  if (!isArgumentObject(value)) return undefined;
  return listOf(value["coordinates"], ringOf);
}

function multiPolygonOf(value: ArgumentValue): number[][][][] | undefined {
  if (!isArgumentObject(value)) return undefined;
  return listOf(value["polygons"], polygonOf);
}

function ringOf(value: ArgumentValue): number[][] | undefined {
  return isArgumentObject(value) ? listOf(value["points"], pointOf) : undefined;
}

function listOf<T>(
  value: ArgumentValue,
  read: (item: ArgumentValue) => T | undefined,
): T[] | undefined {
  if (!isArgumentList(value)) return undefined;
  return value.map(read).filter((item) => item !== undefined);
}
