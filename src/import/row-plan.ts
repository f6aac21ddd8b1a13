/** A mapping and a schema → how one row becomes a node: what its columns are is decided once, and not for each row. */
import type {
  CompiledSchema,
  EdgeSource,
  FieldDefinition,
  NodeType,
  ValueSource,
} from "../graphql/schema/compiled-schema.ts";
import { Fault } from "../model/fault.ts";
import type { ColumnMapping, Mapping } from "./mapping.ts";
import {
  makeKeyReader,
  makeListReader,
  makeValueReader,
  readPassword,
  type ValueReader,
} from "./value-reader.ts";

/** Values of an `@id` field, each of which is of one node. */
export interface KeySpec {
  /** `Person.email` as the API has it. */
  readonly label: string;
  readonly predicate: string;
  readonly type: NodeType;
  /** Of nodes of other types one may have the same value. */
  readonly isOfType: boolean;
  /** Whole numbers, which answers in JSON may not show exactly. */
  readonly isInt: boolean;
  /** Predicates of edges that are read with a node: those that a row may take away. */
  readonly edges: Set<string>;
}

export interface PlainColumn {
  readonly kind: "value";
  readonly column: string | undefined;
  readonly constant: unknown;
  readonly field: string;
  readonly predicate: string;
  readonly language: string;
  readonly read: ValueReader;
  /** Of an `@id` field. */
  readonly key: KeySpec | undefined;
}

export interface LinkColumn {
  readonly kind: "link";
  readonly column: string | undefined;
  readonly constant: unknown;
  readonly field: string;
  readonly edge: EdgeSource;
  readonly inverse: EdgeSource | undefined;
  readonly target: KeySpec;
  readonly creates: boolean;
  readonly read: ValueReader;
}

export interface DefaultValue {
  readonly field: string;
  readonly predicate: string;
  readonly text: string;
}

export interface RowPlan {
  readonly mapping: Mapping;
  readonly type: NodeType;
  readonly columns: readonly (PlainColumn | LinkColumn)[];
  readonly keys: readonly KeySpec[];
  /** Of links, each once. */
  readonly targets: readonly KeySpec[];
  /** Columns that the mapping leaves out. */
  readonly skipped: ReadonlySet<string>;
  /** Fields that a new node must have. */
  readonly required: readonly string[];
  /** Of fields that no column fills. */
  readonly addDefaults: readonly DefaultValue[];
  readonly updateDefaults: readonly DefaultValue[];
}

/** Fault E_STARTUP with the mapping's line for what the schema does not have. */
export function planRows(mapping: Mapping, schema: CompiledSchema): RowPlan {
  const type = findType(mapping, schema);
  const specs = new Map<string, KeySpec>();
  const planner = { mapping, type, specs };
  const columns = mapping.columns.flatMap((one) => planColumn(planner, one) ?? []);
  refuseTwice(mapping, columns);
  const keys = columns.flatMap((one) => (one.kind === "value" && one.key ? [one.key] : []));
  const links = columns.filter((one) => one.kind === "link");
  for (const link of links) noteEdges(keys, link);
  const fields = [...type.fields.values()];
  const given = new Set(columns.map((one) => one.field));
  return {
    mapping,
    type,
    columns,
    keys,
    targets: [...new Set(links.map((link) => link.target))],
    skipped: new Set(
      mapping.columns.flatMap((one) => (one.field === undefined ? (one.column ?? []) : [])),
    ),
    required: fields.filter(isRequired).map((field) => field.name),
    addDefaults: fields.flatMap((field) => defaultOf(field, "add", given)),
    updateDefaults: fields.flatMap((field) => defaultOf(field, "update", given)),
  };
}

interface Planner {
  readonly mapping: Mapping;
  readonly type: NodeType;
  readonly specs: Map<string, KeySpec>;
}

function findType({ type, name }: Mapping, { nodes }: CompiledSchema): NodeType {
  const found = nodes.find((one) => one.name === type);
  if (found?.kind === "object") return found;
  const names = nodes.filter((one) => one.kind === "object").map((one) => one.name);
  const why = found === undefined ? "the schema has no such type" : "it is an interface";
  throw new Fault("E_STARTUP", `${name}: type ${type}: ${why} (types: ${names.join(", ")})`);
}

function planColumn(planner: Planner, one: ColumnMapping): PlainColumn | LinkColumn | undefined {
  const { mapping, type } = planner;
  if (one.field === undefined) return undefined;
  const { column, constant } = one;
  const { secret } = type.node;
  if (one.field === secret?.name) {
    const form = { isList: false, separator: undefined, place: one.place, name: one.field };
    const read = makeListReader(mapping, form, readPassword);
    const { predicate } = secret;
    return {
      kind: "value",
      column,
      constant,
      field: one.field,
      predicate,
      language: "",
      read,
      key: undefined,
    };
  }
  const field = type.fields.get(one.field);
  if (field === undefined) throw refuseField(planner, one, "there is no such field");
  const { source } = field;
  if (source.kind === "value") return planValue(planner, one, field, source);
  if (source.kind === "edge") return planLink(planner, one, field, source);
  const why =
    source.kind === "uid" ? "nodes get their ids from the server" : "the field is computed";
  throw refuseField(planner, one, why);
}

function refuseField({ type }: Planner, { place, field }: ColumnMapping, why: string): Fault {
  const fields = [...type.fields.values()].filter(
    ({ source }) => source.kind === "value" || source.kind === "edge",
  );
  const names = fields.map((one) => one.name).join(", ");
  return new Fault("E_STARTUP", `${place}: ${type.name}.${field}: ${why} (fields: ${names})`);
}

function planValue(
  planner: Planner,
  one: ColumnMapping,
  field: FieldDefinition,
  source: ValueSource,
): PlainColumn {
  if (source.isReadOnly) throw refuseField(planner, one, "the field is read in several languages");
  if (one.by !== undefined || one.missing !== undefined) {
    throw refuseField(planner, one, '"by" and "missing" are for links');
  }
  if (one.separator !== undefined && !source.isList && !source.isEmbedding) {
    throw refuseField(planner, one, '"separator" is for lists, and the field has one value');
  }
  const isKey = source.xid !== undefined;
  return {
    kind: "value",
    column: one.column,
    constant: one.constant,
    field: field.name,
    predicate: source.predicate,
    language: one.language ?? source.languages[0] ?? "",
    read: makeValueReader(planner.mapping, one, field, source),
    key: isKey ? specOf(planner, planner.type, field, source) : undefined,
  };
}

function planLink(
  planner: Planner,
  one: ColumnMapping,
  field: FieldDefinition,
  edge: EdgeSource,
): LinkColumn {
  if (edge.isReverse) throw refuseField(planner, one, "the edge is written from its other side");
  const key = findTarget(planner, one, edge);
  const { mapping } = planner;
  const form = {
    isList: edge.isList,
    separator: one.separator,
    place: one.place,
    name: field.name,
  };
  const creates = one.missing === "create";
  if (creates) checkCreation(planner, one, key);
  const inverse = edge.inverse?.source;
  return {
    kind: "link",
    column: one.column,
    constant: one.constant,
    field: field.name,
    edge,
    inverse: inverse?.kind === "edge" ? inverse : undefined,
    target: specOf(planner, key.type, key.field, key.source),
    creates,
    read: makeListReader(mapping, form, makeKeyReader(key.source)),
  };
}

interface TargetKey {
  readonly type: NodeType;
  readonly field: FieldDefinition;
  readonly source: ValueSource;
}

function findTarget(planner: Planner, one: ColumnMapping, { target }: EdgeSource): TargetKey {
  if (target.kind === "union" || target.node === undefined) {
    throw refuseField(planner, one, `${target.name} is of several types: no @id names its nodes`);
  }
  const type = target as NodeType;
  const { xids } = type.node;
  const names = xids.map((xid) => xid.name).join(", ");
  const field = one.by === undefined && xids.length === 1 ? xids[0] : type.fields.get(one.by ?? "");
  if (field?.source.kind === "value" && field.source.xid !== undefined) {
    return { type, field, source: field.source };
  }
  const why =
    xids.length === 0
      ? `${type.name} has no @id field by which its nodes could be found`
      : `say by which @id field of ${type.name}: "by: …" (${names})`;
  throw refuseField(planner, one, why);
}

/** Nodes that are made for links have their key and nothing else, unless rows of their own follow. */
function checkCreation(planner: Planner, one: ColumnMapping, { type, field }: TargetKey): void {
  const { mapping } = planner;
  if (type.kind !== "object") {
    throw refuseField(
      planner,
      one,
      `${type.name} is an interface: "missing: create" makes no node`,
    );
  }
  if (type === planner.type) {
    if (mapping.existing === "update") return;
    const why = `"missing: create" makes nodes that their own rows fill later: say "existing: update"`;
    throw refuseField(planner, one, why);
  }
  const others = [...type.fields.values()].filter((other) => isRequired(other) && other !== field);
  if (others.length === 0) return;
  const names = others.map((other) => other.name).join(", ");
  const why = `"missing: create" would make a ${type.name} without ${names}: import these first`;
  throw refuseField(planner, one, why);
}

function specOf(
  { specs }: Planner,
  type: NodeType,
  field: FieldDefinition,
  source: ValueSource,
): KeySpec {
  const label = `${type.name}.${field.name}`;
  const known = specs.get(label);
  if (known !== undefined) return known;
  const isOfType = source.xid?.isInterfaceWide !== true;
  const isInt = source.valueKind === "int";
  const { predicate } = source;
  const made: KeySpec = { label, predicate, type, isOfType, isInt, edges: new Set() };
  specs.set(label, made);
  return made;
}

/** An edge that takes the place of another has that one's other side removed. */
function noteEdges(keys: readonly KeySpec[], { edge, inverse, target }: LinkColumn): void {
  if (inverse === undefined) return;
  if (!edge.isList) for (const key of keys) key.edges.add(edge.predicate);
  if (!inverse.isList) target.edges.add(inverse.predicate);
}

function refuseTwice(mapping: Mapping, columns: readonly (PlainColumn | LinkColumn)[]): void {
  const seen = new Set<string>();
  for (const one of columns) {
    const name =
      one.kind === "value" && one.language !== "" ? `${one.field}@${one.language}` : one.field;
    if (seen.has(name)) {
      const place = mapping.columns.findLast((other) => other.field === one.field)?.place;
      throw new Fault("E_STARTUP", `${place ?? mapping.name}: two columns for the field ${name}`);
    }
    seen.add(name);
  }
}

function isRequired({ type, source }: FieldDefinition): boolean {
  if (!type.nonNull || type.kind === "list") return false;
  if (source.kind === "edge") return !source.isReverse;
  return source.kind === "value" && source.defaults.add === undefined;
}

function defaultOf(
  { name, source }: FieldDefinition,
  when: "add" | "update",
  given: ReadonlySet<string>,
): DefaultValue[] {
  if (source.kind !== "value") return [];
  const text = source.defaults[when];
  // A column's own value goes before the default of an update, and fills in where an added node has none.
  if (text === undefined || (when === "update" && given.has(name))) return [];
  return [{ field: name, predicate: source.predicate, text }];
}
