/**
 * Selections → the fields of a level and the shape of its objects, built together so that each shape knows the index
 * of its column. Every field gets an alias of its own: one predicate may be asked for several times.
 */
import type { Directives, Field } from "../../dql/ast.ts";
import { assert } from "../../base/assert.ts";
import { noDirectives, noPage } from "../../dql/ast.ts";
import { keyBytesOf } from "../../render/graphql-shape.ts";
import type {
  AggregateMemberShape,
  EdgeAggregateShape,
  FieldShape,
  GeoPart,
  GeoShape,
  LambdaShape,
  ObjectShape,
  ScalarShape,
  TypedFields,
  ValueShape,
} from "../../render/graphql-shape.ts";
import type {
  EnumType,
  FieldDefinition,
  ObjectType,
  ScalarType,
} from "../schema/compiled-schema.ts";
import {
  andFilter,
  callFilter,
  denied,
  predicateField,
  predicateName,
  loweredPredicateOf,
  typeCall,
} from "./lower-context.ts";
import { neededNames } from "../schema/custom-http-check.ts";
import type { Guard } from "./lower-context.ts";
import type { SiteParts } from "./lower-site.ts";
import { noParts, targetOf } from "./lower-site.ts";
import { isNode } from "../operation/meta.ts";
import type { SelectedField, Selection } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

/** The lowered arguments of each field that has any. */
export type Sites = ReadonlyMap<SelectedField, SiteParts>;

const lambdaFields = new WeakMap<LambdaShape, SelectedField>();

/** The field that a shape was made for. */
export function selectedLambda(shape: LambdaShape): SelectedField {
  const field = lambdaFields.get(shape);
  assert(field !== undefined, "a lambda shape has a field");
  return field;
}

interface LoweredSelection {
  readonly children: readonly Field[];
  readonly shape: ObjectShape;
}

/**
 * `cascade`: how the level is cascaded, by GraphQL names: undefined for not, empty for all its fields. Names are
 * given to the tree level by level, since the tree hands them down where GraphQL does not.
 */
export function lowerSelection(
  selection: Selection,
  sites: Sites,
  cascade: readonly string[] | undefined,
): LoweredSelection {
  const level = new LevelBuilder(sites, cascade);
  const shapes = new Map<SelectedField, FieldShape>();
  const shapeOf = (field: SelectedField): FieldShape => {
    let shape = shapes.get(field);
    if (shape === undefined) shapes.set(field, (shape = level.add(field)));
    return shape;
  };
  const type = selection.type;
  const fields = (type.kind === "object" ? selection.fields : selection.common).map(shapeOf);
  const needsType =
    selection.byType !== undefined || (type.kind !== "object" && asksTypename(selection));
  if (!needsType) {
    return {
      children: level.children,
      shape: { typeField: -1, byType: undefined, fields, typeName: type.name },
    };
  }
  const byType = new Map<string, TypedFields>();
  for (const possible of possibleNodes(selection)) {
    const asked = selection.byType?.get(possible.name) ?? selection.common;
    const typed = { typeName: possible.name, fields: asked.map(shapeOf) };
    byType.set(possible.node.typeName, typed);
  }
  const typeField = level.addTypes();
  return { children: level.children, shape: { typeField, byType, fields, typeName: type.name } };
}

function asksTypename(selection: Selection): boolean {
  return selection.fields.some((field) => field.definition.name === "__typename");
}

function possibleNodes(
  selection: Selection,
): (ObjectType & { node: NonNullable<ObjectType["node"]> })[] {
  const type = selection.type;
  if (type.kind === "object") return [];
  const possible = type.kind === "interface" ? type.implementors : type.members;
  return possible.filter((t): t is ObjectType & { node: NonNullable<ObjectType["node"]> } =>
    isNode(t),
  );
}

/** @cascade of a level as the tree writes it: predicates, or "uid" for a level that requires nothing. */
export function cascadeDirectives(
  selection: Selection,
  cascade: readonly string[] | undefined,
): Directives {
  if (cascade === undefined) return noDirectives;
  const names: string[] = [];
  for (const field of selection.fields) {
    if (cascade.length > 0 && !cascade.includes(field.definition.name)) continue;
    const predicate = loweredPredicateOf(field.definition);
    if (predicate !== undefined) names.push((predicate.reverse ? "~" : "") + predicate.name);
  }
  return { ...noDirectives, cascade: names.length === 0 ? ["uid"] : names };
}

class LevelBuilder {
  readonly children: Field[] = [];
  readonly #sites: Sites;
  readonly #cascade: readonly string[] | undefined;
  readonly #parentFields = new Map<FieldDefinition, FieldShape>();

  constructor(sites: Sites, cascade: readonly string[] | undefined) {
    this.#sites = sites;
    this.#cascade = cascade;
  }

  add(field: SelectedField): FieldShape {
    const definition = field.definition;
    return {
      key: field.key,
      keyBytes: field.keyBytes,
      name: definition.name,
      typeText: definition.type.text,
      nonNull: definition.type.nonNull,
      place: field.ordinal,
      value: this.#value(field),
    };
  }

  addTypes(): number {
    return this.#push(predicateField(this.#alias(), predicateName("dgraph.type")));
  }

  #alias(): string {
    return `c${this.children.length}`;
  }

  #push(field: Field): number {
    return this.children.push(field) - 1;
  }

  #value(field: SelectedField): ValueShape {
    const definition = field.definition;
    const source = definition.source;
    if (definition.name === "__typename") return { kind: "typename" };
    switch (source.kind) {
      case "uid":
        return { kind: "uid" };
      case "value":
        return this.#stored(definition, field.selection);
      case "edge":
        return this.#edge(field);
      case "edgeAggregate":
        return { kind: "aggregate", aggregate: this.#aggregate(field) };
      case "vectorDistance":
        return { kind: "distance" };
      case "lambda":
        return this.#computed(field, undefined);
      case "request":
        return this.#computed(field, new Set(neededNames(source.http)));
      default:
        return { kind: "nothing", isList: definition.type.kind === "list" };
    }
  }

  #stored(definition: FieldDefinition, selection: Selection | undefined): ValueShape {
    const source = definition.source;
    const predicate = loweredPredicateOf(definition);
    if (source.kind !== "value" || predicate === undefined)
      return { kind: "nothing", isList: false };
    const index = this.#push(predicateField(this.#alias(), predicate));
    if (source.isEmbedding) return { kind: "vector", field: index };
    const type = source.valueType;
    if (type.kind === "object") {
      const geo = geoShape(type.name, selection);
      return { kind: "geo", field: index, geo, isList: source.isList };
    }
    const scalar = scalarShape(type);
    const ref = definition.type;
    if (ref.kind !== "list") return { kind: "scalar", field: index, scalar };
    return { kind: "scalars", field: index, scalar, elementNonNull: ref.element.nonNull };
  }

  /** The parent's own fields, or `needed` of them, are read with it, once for all such fields of the level. */
  #computed(field: SelectedField, needed: ReadonlySet<string> | undefined): LambdaShape {
    const isList = field.definition.type.kind === "list";
    const parent: FieldShape[] = [];
    if (isNode(field.parent)) {
      for (const definition of field.parent.fields.values()) {
        if (needed?.has(definition.name) === false) continue;
        const shape = this.#parentField(definition, field.ordinal);
        if (shape !== undefined) parent.push(shape);
      }
    }
    const shape: LambdaShape = { kind: "lambda", isList, parent };
    lambdaFields.set(shape, field);
    return shape;
  }

  /** undefined for what is no immediate field: edges, geometry, what is computed. */
  #parentField(definition: FieldDefinition, place: number): FieldShape | undefined {
    const { name, source, type } = definition;
    const isValue = source.kind === "value" && source.valueType.kind !== "object";
    if (source.kind !== "uid" && !isValue) return undefined;
    let shape = this.#parentFields.get(definition);
    if (shape === undefined) {
      const value = isValue ? this.#stored(definition, undefined) : ({ kind: "uid" } as const);
      const keyBytes = keyBytesOf(name);
      shape = { key: name, keyBytes, name, typeText: type.text, nonNull: false, place, value };
      this.#parentFields.set(definition, shape);
    }
    return shape;
  }

  #edge(field: SelectedField): ValueShape {
    const definition = field.definition;
    const source = definition.source;
    const predicate = loweredPredicateOf(definition);
    const isList = definition.type.kind === "list";
    if (source.kind !== "edge" || predicate === undefined || field.selection === undefined) {
      return { kind: "nothing", isList };
    }
    const parts = this.#sites.get(field) ?? noParts;
    const cascade = parts.cascade ?? (this.#cascade?.length === 0 ? [] : undefined);
    const inner = lowerSelection(field.selection, this.#sites, cascade);
    // A level without @cascade below one with it must say so: the tree would hand the names down.
    const own =
      cascade === undefined && this.#cascade !== undefined
        ? { ...noDirectives, cascade: ["uid"] }
        : cascadeDirectives(field.selection, cascade);
    const target = source.target;
    const declared = source.isReverse && isNode(target) ? callFilter(typeCall(target)) : undefined;
    const index = this.#push({
      ...predicateField(this.#alias(), predicate, inner.children),
      filter: andFilter(declared, parts.filter),
      order: parts.order,
      page: parts.page,
      directives: own,
    });
    const elementNonNull = definition.type.kind === "list" && definition.type.element.nonNull;
    return { kind: "edge", field: index, isList, elementNonNull, object: inner.shape };
  }

  /** A count alone is read from the heads of the lists; anything else needs the values below the edge. */
  #aggregate(field: SelectedField): EdgeAggregateShape {
    const source = field.definition.source;
    const edge = source.kind === "edgeAggregate" ? source.edge : field.definition;
    const edgeSource = edge.source;
    const predicate = loweredPredicateOf(edge) ?? predicateName("");
    const parts = this.#sites.get(field) ?? noParts;
    const target = targetOf(field.definition);
    const isReverse = edgeSource.kind === "edge" && edgeSource.isReverse;
    const declared = isReverse && isNode(target) ? callFilter(typeCall(target)) : undefined;
    const filter = parts.filter === denied ? denied : andFilter(declared, parts.filter);
    const typeName = namedTypeOf(field.definition.type).name;
    const selected = field.selection?.fields ?? [];
    if (filter === denied) {
      const members = selected.map((member) => deniedMember(member));
      return { from: "count", field: -1, typeName, members };
    }
    const children: Field[] = [];
    const members = selected.map((member) => {
      const keyBytes = member.keyBytes;
      const memberSource = member.definition.source;
      if (memberSource.kind !== "aggregateMember") {
        return { keyBytes, function: "typename" as const, field: -1 };
      }
      const value =
        memberSource.field === undefined ? undefined : loweredPredicateOf(memberSource.field);
      if (value === undefined) return { keyBytes, function: memberSource.function, field: -1 };
      const index = children.push(predicateField(`a${children.length}`, value)) - 1;
      const isText = isTextual(member);
      return { keyBytes, function: memberSource.function, field: index, isText };
    });
    if (children.length === 0) {
      const index = this.#push({
        kind: "count",
        alias: this.#alias(),
        variable: undefined,
        predicate,
        page: noPage,
        filter,
        facetFilter: undefined,
      });
      return { from: "count", field: index, typeName, members };
    }
    const directives =
      this.#cascade === undefined ? noDirectives : { ...noDirectives, cascade: ["uid"] };
    const index = this.#push({
      ...predicateField(this.#alias(), predicate, children),
      filter,
      directives,
      isExempt: true,
    });
    return { from: "edge", field: index, typeName, members };
  }
}

/** Whether the member's integers are told as texts. */
export function isTextual({ definition }: SelectedField): boolean {
  const type = namedTypeOf(definition.type);
  return type.kind === "scalar" && type.isText === true;
}

/** Of nodes that the caller may not see not even their number is told. */
function deniedMember({ keyBytes, definition }: SelectedField): AggregateMemberShape {
  const isName = definition.source.kind !== "aggregateMember";
  return { keyBytes, function: isName ? "typename" : "none", field: -1 };
}

function scalarShape(type: ScalarType | EnumType): ScalarShape {
  if (type.kind === "enum") {
    return { form: "enum", typeName: type.name, members: new Set(type.values.keys()) };
  }
  const form = type.isText === true ? "int64text" : (scalarForms[type.name] ?? "string");
  return { form, typeName: type.name, members: undefined };
}

const scalarForms: Readonly<Partial<Record<string, ScalarShape["form"]>>> = {
  ID: "id",
  Int: "int",
  Int64: "int64",
  Float: "float",
  String: "string",
  Boolean: "boolean",
  DateTime: "datetime",
};

/** Parts of geometry are found by their names: Point, PointList, Polygon, MultiPolygon. */
function geoShape(typeName: string, selection: Selection | undefined): GeoShape {
  const parts: GeoPart[] = [];
  for (const field of selection?.fields ?? []) {
    const part = geoParts.get(field.definition.name);
    if (part === undefined) continue;
    const inner =
      field.selection === undefined
        ? undefined
        : geoShape(field.selection.type.name, field.selection);
    parts.push({ keyBytes: field.keyBytes, part, inner });
  }
  return { typeName, parts };
}

const geoParts = new Map<string, GeoPart["part"]>([
  ["__typename", "typename"],
  ["longitude", "longitude"],
  ["latitude", "latitude"],
  ["points", "points"],
  ["coordinates", "coordinates"],
  ["polygons", "polygons"],
]);

/**
 * Fields of a selection, and of what is below it, that have arguments or @cascade of their own, or lead to types with
 * rules.
 */
export function collectSites(
  selection: Selection | undefined,
  into: SelectedField[],
  guard: Guard | undefined,
): void {
  for (const field of selection?.fields ?? []) {
    const kind: FieldDefinition["source"]["kind"] = field.definition.source.kind;
    if (kind !== "edge" && kind !== "edgeAggregate") continue;
    const isAsked = (field.node.arguments ?? []).length > 0 || field.cascade !== undefined;
    if (isAsked || guard?.hides(targetOf(field.definition)) === true) into.push(field);
    collectSites(field.selection, into, guard);
  }
}
