/**
 * A scalar value with its type. Source: reference/dql 2.1.
 * `int` is an int64: a number where that is exact, a bigint beyond 2^53 (always normalised: see `makeInt`).
 */
export type Value =
  | { readonly kind: "default"; readonly text: string }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "int"; readonly int: number | bigint }
  | { readonly kind: "float"; readonly float: number }
  | { readonly kind: "bool"; readonly bool: boolean }
  | { readonly kind: "datetime"; readonly time: DateTime }
  | { readonly kind: "geo"; readonly geometry: Geometry }
  | { readonly kind: "password"; readonly hash: string }
  | { readonly kind: "bigfloat"; readonly big: BigFloat }
  | { readonly kind: "float32vector"; readonly vector: Float32Array }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

export type ValueKind = Value["kind"];

/** The scalar kinds in their stored order: a cell holds the index. Append only (it is a stored format). */
export const valueKinds = [
  "default",
  "string",
  "int",
  "float",
  "bool",
  "datetime",
  "geo",
  "password",
  "bigfloat",
  "float32vector",
  "binary",
] as const satisfies readonly ValueKind[];

/** An instant with the offset it was given with, which is printed back (reference/dql 2.12). */
export interface DateTime {
  /** Seconds since 1970-01-01T00:00:00Z, floored; negative before. Years -292277022399 … are not reached. */
  readonly seconds: number;
  /** 0 … 999,999,999. */
  readonly nanos: number;
  /** East of Greenwich, in minutes. */
  readonly offsetMinutes: number;
}

/** GeoJSON geometry, as given (coordinates longitude, latitude). */
export type Geometry =
  | { readonly type: "Point"; readonly coordinates: readonly number[] }
  | {
      readonly type: "MultiPoint" | "LineString";
      readonly coordinates: readonly (readonly number[])[];
    }
  | {
      readonly type: "Polygon" | "MultiLineString";
      readonly coordinates: readonly (readonly (readonly number[])[])[];
    }
  | {
      readonly type: "MultiPolygon";
      readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[];
    }
  /** Kept and printed; cannot be indexed. */
  | { readonly type: "GeometryCollection"; readonly geometries: readonly Geometry[] };

/** mantissa · 2^exponent with at most 200 bits of mantissa, as Go's big.Float; `special` for ±Inf. */
export interface BigFloat {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly special?: "Inf" | "-Inf";
}

const safeMax = BigInt(Number.MAX_SAFE_INTEGER);

/** Normalises an int64: number where exact, bigint beyond. */
export function makeInt(int: number | bigint): Value {
  if (typeof int === "number") return { kind: "int", int };
  return { kind: "int", int: int <= safeMax && int >= -safeMax ? Number(int) : int };
}
