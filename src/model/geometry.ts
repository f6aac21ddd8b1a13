import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import { ConversionError } from "./conversion-error.ts";
import type { Geometry } from "./value.ts";

/** How many levels of lists stand around the numbers of one coordinate list. */
const nesting: Readonly<Record<Exclude<Geometry["type"], "GeometryCollection">, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  Polygon: 2,
  MultiLineString: 2,
  MultiPolygon: 3,
};

/** GeoJSON text; single quotes stand for double ones. The error texts are the reference's (reference/dql 2.11). */
export function parseGeometry(text: string): Geometry {
  const json = text.replaceAll("'", '"');
  return checkGeometry(parseJson(json, text), text);
}

function parseJson(json: string, text: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw refusal(text, findJsonSyntaxFault(json)?.detail ?? "unexpected end of JSON input");
  }
}

/** The geometry of a parsed GeoJSON object; `text` is what the error messages show. */
export function checkGeometry(json: unknown, text: string): Geometry {
  if (json === null) throw refusal(text, "geojson: unsupported type: ");
  if (typeof json !== "object" || Array.isArray(json)) {
    throw refusal(text, `${cannotUnmarshal(json)} of type geojson.Geometry`);
  }
  const { type, coordinates, geometries } = json as Readonly<Record<string, unknown>>;
  if (typeof type !== "string" && type !== undefined && type !== null) {
    const into = cannotUnmarshal(type).replace("Go value", "Go struct field Geometry.type");
    throw refusal(text, `${into} of type string`);
  }
  const name = type ?? "";
  if (name === "GeometryCollection") {
    const members = Array.isArray(geometries) ? (geometries as readonly unknown[]) : [];
    return { type: name, geometries: members.map((member) => checkGeometry(member, text)) };
  }
  if (!isGeometryType(name)) throw refusal(text, `geojson: unsupported type: ${name}`);
  if (coordinates === undefined || coordinates === null) {
    throw new ConversionError("geom: unsupported layout NoLayout");
  }
  const depth = nesting[name];
  checkNumbers(coordinates, depth, text);
  const stride = firstStride(coordinates, depth);
  if (stride === 1) throw refusal(text, "geojson: dimensionality too low (1)");
  if (stride === 0) throw new ConversionError("geom: unsupported layout NoLayout");
  checkStride(coordinates, depth, stride, text);
  return { type: name, coordinates } as Geometry;
}

function isGeometryType(name: string): name is keyof typeof nesting {
  return Object.hasOwn(nesting, name);
}

function refusal(text: string, reason: string): ConversionError {
  return new ConversionError(`Error while unmarshalling: [${text}] as geojson: ${reason}`);
}

function cannotUnmarshal(json: unknown): string {
  const what = json === null ? "null" : Array.isArray(json) ? "array" : typeof json;
  return `json: cannot unmarshal ${what === "boolean" ? "bool" : what} into Go value`;
}

function checkNumbers(json: unknown, depth: number, text: string): void {
  if (depth < 0) {
    if (typeof json === "number") return;
    throw refusal(text, `${cannotUnmarshal(json)} of type float64`);
  }
  if (!Array.isArray(json)) {
    throw refusal(text, `${cannotUnmarshal(json)} of type ${"[]".repeat(depth + 1)}float64`);
  }
  for (const item of json as readonly unknown[]) checkNumbers(item, depth - 1, text);
}

function firstStride(json: unknown, depth: number): number {
  const list = json as readonly unknown[];
  if (depth === 0) return list.length;
  return list.length === 0 ? 0 : firstStride(list[0], depth - 1);
}

function checkStride(json: unknown, depth: number, stride: number, text: string): void {
  const list = json as readonly unknown[];
  if (depth > 0) {
    for (const item of list) checkStride(item, depth - 1, stride, text);
  } else if (list.length !== stride) {
    throw refusal(
      text,
      `geom: stride mismatch, got ${String(list.length)}, want ${String(stride)}`,
    );
  }
}

/** GeoJSON as every answer prints it. */
export function printGeometry(geometry: Geometry): string {
  if (geometry.type === "GeometryCollection") {
    const members = geometry.geometries.map(printGeometry).join(",");
    return `{"type":"GeometryCollection","geometries":[${members}]}`;
  }
  return `{"type":"${geometry.type}","coordinates":${JSON.stringify(geometry.coordinates)}}`;
}
