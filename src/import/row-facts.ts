/** Rows and the nodes that are there → N-Quads to set and to delete. Each edge with an inverse is two. */
import { printUid } from "../model/uid.ts";
import { nameOf } from "./made-nodes.ts";
import type { KeyedNode } from "./node-lookup.ts";
import { findMissing, type RowKey, type ReadRow } from "./read-row.ts";
import type { DefaultValue, KeySpec, LinkColumn, RowPlan } from "./row-plan.ts";

export interface FactSource {
  readonly plan: RowPlan;
  readonly find: (key: RowKey) => KeyedNode | undefined;
  /** Also nodes that rows beside it are about to become. */
  readonly findLinked: (key: RowKey) => KeyedNode | undefined;
  /** The node of a row that has none yet. */
  readonly uidOfRow: (index: number) => number;
  /** The node of a key that has none yet and is made for links. */
  readonly uidOfKey: (key: RowKey) => number;
  /** RFC 3339, for `$now`. */
  readonly now: string;
}

type Outcome = "made" | "updated" | "kept";

export interface RowFacts {
  readonly outcome: Outcome;
  readonly set: readonly string[];
  readonly delete: readonly string[];
  /** Nodes made for links, by key. */
  readonly made: readonly RowKey[];
}

/** A row that the database refuses: what it says, and of which column. */
export interface RowRefusal {
  readonly column: string | undefined;
  readonly reason: string;
}

export function makeRowFacts(source: FactSource, read: ReadRow): RowFacts | RowRefusal {
  const own = findOwn(source, read);
  if ("reason" in own) return own;
  const { plan } = source;
  const isNew = own.found === undefined;
  if (!isNew && plan.mapping.existing === "keep") {
    return { outcome: "kept", set: [], delete: [], made: [] };
  }
  const missing = isNew ? findMissing(plan, read) : undefined;
  if (missing !== undefined) {
    const reason = `${missing}: a new ${plan.type.name} needs a value`;
    return { column: plan.columns.find((one) => one.field === missing)?.column, reason };
  }
  const facts = new Facts(own.uid, own.found);
  if (isNew) for (const name of plan.type.node.typeNames) facts.value("dgraph.type", "", name);
  for (const { column, texts } of read.values) {
    for (const text of texts) facts.value(column.predicate, column.language, text);
  }
  addDefaults(facts, isNew ? plan.addDefaults : plan.updateDefaults, read, source.now);
  for (const { column, values } of read.links) {
    for (const value of values) {
      const refusal = addLink(source, facts, column, { spec: column.target, value });
      if (refusal !== undefined) return refusal;
    }
  }
  return { outcome: isNew ? "made" : "updated", ...facts };
}

/** Notes the nodes that rows become, by their keys, so that links of other rows lead to them. */
export function noteOwnNodes(
  source: FactSource,
  rows: readonly ReadRow[],
  own: Map<string, KeyedNode>,
): void {
  const { plan } = source;
  // Links to other types lead to none of them.
  if (!plan.targets.some((target) => plan.keys.includes(target))) return;
  for (const read of rows) {
    const one = findOwn(source, read);
    if ("reason" in one || one.found !== undefined) continue;
    for (const key of read.keys) own.set(nameOf(key), { uid: one.uid, edges: new Map() });
  }
}

interface OwnNode {
  readonly uid: number;
  readonly found: KeyedNode | undefined;
}

/** The node that has the row's keys, or the one that the row is to have. */
function findOwn(source: FactSource, { keys, index }: ReadRow): OwnNode | RowRefusal {
  const { plan } = source;
  const rowUid = source.uidOfRow(index);
  let found: KeyedNode | undefined;
  let foundBy: RowKey | undefined;
  for (const key of keys) {
    const one = source.find(key);
    if (one === undefined) continue;
    if (found !== undefined && found.uid !== one.uid) {
      const reason = `${describe(foundBy)} and ${describe(key)} are of two nodes (${printUid(found.uid)}, ${printUid(one.uid)})`;
      return { column: columnOf(plan, key.spec), reason };
    }
    found = one;
    foundBy = key;
  }
  // Stored by this import already, before its answer was lost.
  if (found === undefined || found.uid === rowUid) return { uid: rowUid, found: undefined };
  if (plan.mapping.existing === "refuse" && foundBy !== undefined) {
    const reason = `there is a node with ${describe(foundBy)} already (${printUid(found.uid)})`;
    return { column: columnOf(plan, foundBy.spec), reason };
  }
  return { uid: found.uid, found };
}

function describe(key: RowKey | undefined): string {
  return key === undefined ? "" : `${key.spec.label} ${JSON.stringify(key.value)}`;
}

function columnOf(plan: RowPlan, spec: KeySpec): string | undefined {
  return plan.columns.find((one) => one.kind === "value" && one.key === spec)?.column;
}

function addDefaults(
  facts: Facts,
  defaults: readonly DefaultValue[],
  read: ReadRow,
  now: string,
): void {
  for (const { field, predicate, text } of defaults) {
    if (read.values.some(({ column }) => column.field === field)) continue;
    facts.value(predicate, "", text === "$now" ? now : text);
  }
}

function addLink(
  source: FactSource,
  facts: Facts,
  column: LinkColumn,
  key: RowKey,
): RowRefusal | undefined {
  const found = source.findLinked(key);
  if (found === undefined && !column.creates) {
    const { type, label } = key.spec;
    const field = label.slice(type.name.length + 1);
    const reason = `${column.field}: there is no ${type.name} with ${field} ${JSON.stringify(key.value)}`;
    return { column: column.column, reason };
  }
  if (found === undefined) facts.make(source.uidOfKey(key), key);
  facts.link(column, found?.uid ?? source.uidOfKey(key), found);
  return undefined;
}

class Facts {
  readonly set: string[] = [];
  readonly delete: string[] = [];
  readonly made: RowKey[] = [];
  readonly #uid: number;
  readonly #subject: string;
  readonly #found: KeyedNode | undefined;

  constructor(uid: number, found: KeyedNode | undefined) {
    this.#uid = uid;
    this.#subject = `<${printUid(uid)}>`;
    this.#found = found;
  }

  value(predicate: string, language: string, text: string): void {
    const tag = language === "" ? "" : `@${language}`;
    this.set.push(`${this.#subject} <${predicate}> ${JSON.stringify(text)}${tag} .`);
  }

  make(uid: number, key: RowKey): void {
    const node = `<${printUid(uid)}>`;
    const { spec, value } = key;
    for (const name of spec.type.node.typeNames) {
      this.set.push(`${node} <dgraph.type> ${JSON.stringify(name)} .`);
    }
    this.set.push(`${node} <${spec.predicate}> ${JSON.stringify(value)} .`);
    this.made.push(key);
  }

  /** The other side of an edge that makes place is removed, as is the edge that the target's inverse comes from. */
  link({ edge, inverse }: LinkColumn, target: number, found: KeyedNode | undefined): void {
    const object = `<${printUid(target)}>`;
    if (inverse !== undefined) {
      for (const before of edge.isList ? [] : (this.#found?.edges.get(edge.predicate) ?? [])) {
        if (before === target) continue;
        this.delete.push(`<${printUid(before)}> <${inverse.predicate}> ${this.#subject} .`);
      }
      for (const other of inverse.isList ? [] : (found?.edges.get(inverse.predicate) ?? [])) {
        if (other === this.#uid) continue;
        this.delete.push(`<${printUid(other)}> <${edge.predicate}> ${object} .`);
      }
      this.set.push(`${object} <${inverse.predicate}> ${this.#subject} .`);
    }
    this.set.push(`${this.#subject} <${edge.predicate}> ${object} .`);
  }
}
