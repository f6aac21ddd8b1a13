/**
 * The form of a GraphQL answer, made once for a prepared request: which column of a level becomes which key, and what
 * type it must have. The renderer walks it beside the frames of a run (reference/graphql 4.10).
 */

/** How rows of a level become objects. */
export interface ObjectShape {
  /** The level's field that holds `dgraph.type`, where objects of several types meet; −1 otherwise. */
  readonly typeField: number;
  /** By `dgraph.type`, for types that are asked for different things. A node counts as the first that is here. */
  readonly byType: ReadonlyMap<string, TypedFields> | undefined;
  /** For one type, and for nodes of no known type. */
  readonly fields: readonly FieldShape[];
  /** The GraphQL name for `__typename` where `byType` gives none. */
  readonly typeName: string;
}

export interface TypedFields {
  readonly typeName: string;
  readonly fields: readonly FieldShape[];
}

/** One key of an object. */
export interface FieldShape {
  /** Response name: alias or name. */
  readonly key: string;
  /** `"key":` as bytes. */
  readonly keyBytes: Uint8Array;
  /** The field's own name, for messages. */
  readonly name: string;
  /** Its type as the schema writes it, for messages. */
  readonly typeText: string;
  readonly nonNull: boolean;
  /** The number of the field in the document; the caller turns it into a line and a column. */
  readonly place: number;
  readonly value: ValueShape;
}

type ScalarForm =
  "id" | "int" | "int64" | "int64text" | "float" | "string" | "boolean" | "datetime" | "enum";

export interface ScalarShape {
  readonly form: ScalarForm;
  /** The type's name, for messages. */
  readonly typeName: string;
  /** The names of an enum. */
  readonly members: ReadonlySet<string> | undefined;
}

export type ValueShape =
  | { readonly kind: "uid" }
  | { readonly kind: "typename" }
  | { readonly kind: "scalar"; readonly field: number; readonly scalar: ScalarShape }
  | {
      readonly kind: "scalars";
      readonly field: number;
      readonly scalar: ScalarShape;
      readonly elementNonNull: boolean;
    }
  | { readonly kind: "vector"; readonly field: number }
  | {
      readonly kind: "geo";
      readonly field: number;
      readonly geo: GeoShape;
      readonly isList: boolean;
    }
  | {
      readonly kind: "edge";
      readonly field: number;
      readonly isList: boolean;
      readonly elementNonNull: boolean;
      readonly object: ObjectShape;
    }
  | { readonly kind: "aggregate"; readonly aggregate: EdgeAggregateShape }
  /** Distances by uid, computed before rendering (vector search). */
  | { readonly kind: "distance" }
  | LambdaShape
  /** Never a value. */
  | { readonly kind: "nothing"; readonly isList: boolean };

/** `@lambda`: values that are computed elsewhere, before rendering, from the fields of their parents. */
export interface LambdaShape {
  readonly kind: "lambda";
  readonly isList: boolean;
  /** All immediate fields of the parent's type (reference/graphql 7.4.1), those that nobody selects included. */
  readonly parent: readonly FieldShape[];
}

/** In place of a value: why there is none. */
export interface LambdaFailure {
  readonly message: string;
  /** Of the error, as the resolver gave them. */
  readonly extensions?: unknown;
}

/**
 * The computed value of a field for one parent: JSON; null: null goes up; undefined: there is no value.
 */
export type LambdaValue = string | LambdaFailure | null | undefined;

/** By the row of the parent. */
export type LambdaValues = ReadonlyMap<LambdaShape, readonly LambdaValue[]>;

/** A part of a geometry: a Point, Polygon, MultiPolygon or PointList with what is asked of it. */
export interface GeoShape {
  readonly typeName: string;
  readonly parts: readonly GeoPart[];
}

export interface GeoPart {
  readonly keyBytes: Uint8Array;
  readonly part: "longitude" | "latitude" | "points" | "coordinates" | "polygons" | "typename";
  readonly inner: GeoShape | undefined;
}

/** `fAggregate`: numbers over the targets of an edge, or their count alone. */
export interface EdgeAggregateShape {
  /** `count`: the level's field is a count; `edge`: an edge with the values below it. */
  readonly from: "count" | "edge";
  readonly field: number;
  readonly typeName: string;
  readonly members: readonly AggregateMemberShape[];
}

export interface AggregateMemberShape {
  readonly keyBytes: Uint8Array;
  /** `none`: null. */
  readonly function: "count" | "min" | "max" | "sum" | "avg" | "typename" | "none";
  /** Below the edge: the level's field with the values; at a root: the field of the block of aggregates. −1: none. */
  readonly field: number;
  /** Integers are told as texts. */
  readonly isText?: boolean;
}

/** `"key":`, ready to write. */
export function keyBytesOf(key: string): Uint8Array {
  return encoder.encode(`${JSON.stringify(key)}:`);
}

const encoder = new TextEncoder();
