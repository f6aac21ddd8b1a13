/** The queries by which the data browser walks the graph, and what their answers say. Names are quoted: any may be stored. */
import type { DqlSchema, StoredType, PredicateInfo } from "./dql-schema.ts";

/** One page of a list. */
export const pageSize = 50;

/** A node in a list, as much of it as tells it from others. */
export interface NodeLine {
  readonly uid: string;
  readonly types: readonly string[];
  readonly label: string;
}

export type NodeMembers = Readonly<Record<string, unknown>>;

function quoteName(name: string): string {
  return `<${name}>`;
}

function quoteText(text: string): string {
  return JSON.stringify(text);
}

/** Members t0, t1, …: how many nodes each type has. */
export function printTypeCounts(types: readonly StoredType[]): string {
  const blocks = types.map(
    ({ name }, i) => `t${i}(func: eq(dgraph.type, ${quoteText(name)})) { count(uid) }`,
  );
  return `{ ${blocks.join("\n")} }`;
}

/** A query has so many blocks at most; of more types than `countedMax` nothing is counted. */
const blocksMax = 50;
const countedMax = 500;

/** Lists of types, each for one query. */
export function groupTypes(types: readonly StoredType[]): readonly (readonly StoredType[])[] {
  const groups: (readonly StoredType[])[] = [];
  for (let i = 0; i < Math.min(types.length, countedMax); i += blocksMax) {
    groups.push(types.slice(i, i + blocksMax));
  }
  return groups;
}

export function readCount(data: Readonly<Record<string, unknown>>, block: string): number {
  const [first] = (data[block] ?? []) as readonly { readonly count?: number }[];
  return first?.count ?? 0;
}

/** What the table of a type's nodes has in its columns. */
export interface TypeColumns {
  readonly values: readonly PredicateInfo[];
  readonly edges: readonly PredicateInfo[];
}

/** More than this nobody reads side by side. */
const valueColumnsMax = 8;
const edgeColumnsMax = 4;

export function findColumns(schema: DqlSchema, type: StoredType): TypeColumns {
  const byName = new Map(schema.predicates.map((one) => [one.name, one]));
  const fields = type.fields.map((name) => byName.get(name)).filter((one) => one !== undefined);
  return {
    values: fields
      .filter(({ type: kind }) => kind !== "uid" && kind !== "password")
      .slice(0, valueColumnsMax),
    edges: fields.filter(({ type: kind }) => kind === "uid").slice(0, edgeColumnsMax),
  };
}

/** Members v0, v1, … hold values, c0, c1, … counts. `after`: the last node of the page before; "" for the first page. */
export function printTypePage(type: string, { values, edges }: TypeColumns, after: string): string {
  const fields = [
    ...values.map(({ name }, i) => `v${i}: ${quoteName(name)}`),
    ...edges.map(({ name }, i) => `c${i}: count(${quoteName(name)})`),
  ];
  const page = after === "" ? `first: ${pageSize}` : `first: ${pageSize}, after: ${after}`;
  return `{ q(func: eq(dgraph.type, ${quoteText(type)}), ${page}) { uid ${fields.join(" ")} } }`;
}

export function printTypesOf(uid: string): string {
  return `{ q(func: uid(${uid})) { uid dgraph.type } }`;
}

/** So many predicates are asked for whatever the node's type; of a larger schema those of its types alone. */
const predicatesMax = 300;

/** What may be said of a node of these types. */
export function findPredicates(
  schema: DqlSchema,
  types: readonly string[],
): readonly PredicateInfo[] {
  const readable = schema.predicates.filter(
    ({ type, name }) => type !== "password" && name !== "dgraph.type",
  );
  if (readable.length <= predicatesMax) return readable;
  const named = new Set(
    schema.types.filter(({ name }) => types.includes(name)).flatMap(({ fields }) => fields),
  );
  return readable.filter(({ name }) => named.has(name));
}

/** One predicate of a node whose edges are shown; backwards for those that end at it. */
export interface EdgeName {
  readonly predicate: string;
  readonly isBackwards: boolean;
}

export function findEdges(predicates: readonly PredicateInfo[]): readonly EdgeName[] {
  const edges = predicates.filter(({ type }) => type === "uid");
  return [
    ...edges.map(({ name }) => ({ predicate: name, isBackwards: false })),
    ...edges
      .filter(({ traits }) => traits.includes("reverse"))
      .map(({ name }) => ({ predicate: name, isBackwards: true })),
  ];
}

/** Values under the predicates' own names, since languages add theirs; counts of edges as c0, c1, … */
export function printNode(uid: string, predicates: readonly PredicateInfo[]): string {
  const values = predicates
    .filter(({ type }) => type !== "uid")
    .map(({ name, traits }) =>
      traits.includes("lang") ? `${quoteName(name)}@*` : quoteName(name),
    );
  const counts = findEdges(predicates).map((edge, i) => `c${i}: count(${printEdgeName(edge)})`);
  return `{ values(func: uid(${uid})) { ${values.join(" ")} } counts(func: uid(${uid})) { uid ${counts.join(" ")} } }`;
}

function printEdgeName({ predicate, isBackwards }: EdgeName): string {
  return quoteName(isBackwards ? `~${predicate}` : predicate);
}

/** A page of the nodes at the other ends, as member e, with what their labels are made of. */
export function printEdges(uid: string, edge: EdgeName, schema: DqlSchema, after: string): string {
  const page = after === "" ? `first: ${pageSize}` : `first: ${pageSize}, after: ${after}`;
  const labels = findLabelPredicates(schema).map((name) => quoteName(name));
  return `{ q(func: uid(${uid})) { e: ${printEdgeName(edge)} (${page}) @facets { uid dgraph.type ${labels.join(" ")} } } }`;
}

const labelWords = /(?:^|[._])(?:name|title|label|username|email|slug|code|word|subject|text|id)$/i;
const labelsMax = 24;

function findLabelPredicates({ predicates }: DqlSchema): readonly string[] {
  return predicates
    .filter(
      ({ name, type, isList }) =>
        !isList && /^(?:string|default)$/.test(type) && labelWords.test(name),
    )
    .map(({ name }) => name)
    .slice(0, labelsMax);
}

/** What a node is called: by the first of its texts whose name promises one. */
export function readLine(node: NodeMembers): NodeLine {
  const types = node["dgraph.type"];
  const names = Object.keys(node).filter(
    (name) => name !== "dgraph.type" && typeof node[name] === "string" && name !== "uid",
  );
  const best = names.toSorted((a, b) => rankLabel(a) - rankLabel(b))[0];
  const text = best === undefined ? undefined : node[best];
  return {
    uid: typeof node["uid"] === "string" ? node["uid"] : "",
    types: Array.isArray(types) ? types.filter((one) => typeof one === "string") : [],
    label: typeof text === "string" ? text : "",
  };
}

const labelOrder = [
  "name",
  "title",
  "label",
  "username",
  "email",
  "word",
  "slug",
  "code",
  "subject",
];

function rankLabel(name: string): number {
  const at = labelOrder.findIndex((word) => name.toLowerCase().endsWith(word));
  return at < 0 ? labelOrder.length : at;
}

/** Facets of the edge that leads to a node: `e|since` says `since`. */
export function readFacets(
  node: NodeMembers,
): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(node)
    .filter(([name]) => name.startsWith("e|"))
    .map(([name, value]) => [name.slice(2), value] as const);
}

/** A uid as somebody types it: hexadecimal, or a number. Undefined: it is none. */
export function parseTypedUid(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^(?:0x[\da-f]{1,16}|\d{1,20})$/i.test(trimmed)) return undefined;
  const value = BigInt(trimmed);
  return value > 0n && value < 1n << 64n ? `0x${value.toString(16)}` : undefined;
}

/** A stored value, in one line. */
export function printStored(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(printStored).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
