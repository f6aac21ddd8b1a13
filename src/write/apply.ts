/**
 * Edits → patches (reference/storage 1, reference/transactions 4.4). What stood there before is read in batches, and
 * only where it decides something: tokens of indexed values, the one edge of a single `uid`, what a star deletes.
 * Deriving twice from the same state gives the same patches, so that a refused change is simply derived again on the
 * newest snapshot.
 */
import { must } from "../base/assert.ts";
import { andThen, drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import type { Cell, Column, Reader, ColumnRequest } from "../graph/reader.ts";
import type { Schema } from "../graph/schema.ts";
import type { Look } from "../model/request-budget.ts";
import type { Edit } from "./edit.ts";
import { groupKeyOf } from "./edit-group.ts";
import type { Derived, EditGroup } from "./edit-group.ts";
import { deriveEdges } from "./edges.ts";
import { noteNodes } from "./touched-nodes.ts";
import { deriveValues } from "./values.ts";

/**
 * `edits` hold no `clearNode` any more (see `expandNodes`); unknown predicates (dropped since) are left out. `fresh`:
 * nodes whose uids were leased for these edits; nothing was ever written there, so nothing is read.
 */
export function derivePatches(
  reader: Reader,
  edits: readonly Edit[],
  fresh: ReadonlySet<number> = noUids,
  look?: Look,
): MaybePromise<Derived> {
  if (look !== undefined && edits.length > editsAtOnce) {
    return drive(deriveInSteps(reader, edits, fresh, look));
  }
  const groups = groupEdits(reader.schema, edits);
  const waiting: EditGroup[] = [];
  for (const group of groups) {
    if (!needsBefore(group)) continue;
    if (fresh.has(group.uid)) keepNothing(group);
    else waiting.push(group);
  }
  if (waiting.length === 0) return derive(reader, groups, fresh);
  return andThen(drive(readBefore(reader, waiting)), () => derive(reader, groups, fresh));
}

const noUids: ReadonlySet<number> = new Set();

/** So many edits are derived without a look at the time: some milliseconds. */
const editsAtOnce = 1024;

/** `derivePatches` of many edits. */
function* deriveInSteps(
  reader: Reader,
  edits: readonly Edit[],
  fresh: ReadonlySet<number>,
  look: Look,
): Steps<Derived> {
  const gathered = new GatheredGroups(reader.schema, true);
  for (let i = 0; i < edits.length; i++) {
    gathered.add(must(edits[i], "within bounds"));
    if (i % editsAtOnce === editsAtOnce - 1) yield look(editsAtOnce);
  }
  const { groups } = gathered;
  const waiting: EditGroup[] = [];
  for (let i = 0; i < groups.length; i++) {
    const group = must(groups[i], "within bounds");
    if (i % editsAtOnce === editsAtOnce - 1) yield look(editsAtOnce);
    if (!needsBefore(group)) continue;
    if (fresh.has(group.uid)) keepNothing(group);
    else waiting.push(group);
  }
  for (let from = 0; from < waiting.length; from += editsAtOnce) {
    yield* readBefore(reader, waiting.slice(from, from + editsAtOnce));
    yield look(editsAtOnce);
  }
  const derived = makeDerived(groups);
  for (let i = 0; i < groups.length; i++) {
    deriveGroup(reader, derived, must(groups[i], "within bounds"), fresh);
    if (i % groupsAtOnce === groupsAtOnce - 1) yield look(groupsAtOnce);
  }
  return derived;
}

/** Deriving costs more than gathering does. */
const groupsAtOnce = 256;

function derive(reader: Reader, groups: EditGroup[], fresh: ReadonlySet<number>): Derived {
  const derived = makeDerived(groups);
  for (const group of groups) deriveGroup(reader, derived, group, fresh);
  return derived;
}

function makeDerived(groups: EditGroup[]): Derived {
  return {
    patches: [],
    conflictKeys: new Set(),
    basisKeys: new Set(),
    touchedNodes: undefined,
    deletedNodes: undefined,
    entries: groups,
  };
}

function deriveGroup(
  reader: Reader,
  derived: Derived,
  group: EditGroup,
  fresh: ReadonlySet<number>,
): void {
  const { storageId } = reader.schema;
  if (group.predicate.definition.kind === "uid") deriveEdges(derived, storageId, group);
  else deriveValues(derived, storageId, group);
  noteNodes(derived, storageId, group, fresh);
  if (needsBasis(group)) derived.basisKeys.add(groupKeyOf(group, storageId));
}

function groupEdits(schema: Schema, edits: readonly Edit[]): EditGroup[] {
  const gathered = new GatheredGroups(schema, edits.length > lookedThroughMax);
  for (const edit of edits) gathered.add(edit);
  return gathered.groups;
}

/**
 * Groups in the order of their first edits. Edits of different entries do not meet, so that the reference's sort by
 * (predicate, subject) is kept by keeping the order within each entry.
 */
class GatheredGroups {
  readonly groups: EditGroup[] = [];
  readonly #schema: Schema;
  readonly #byUid: Map<number, NodeGroups> | undefined;

  constructor(schema: Schema, isMany: boolean) {
    this.#schema = schema;
    this.#byUid = isMany ? new Map() : undefined;
  }

  add(edit: Edit): void {
    if (edit.kind === "clearNode") return;
    const { groups } = this;
    const byUid = this.#byUid;
    const { uid } = edit;
    let ofNode = byUid?.get(uid);
    let group =
      byUid === undefined ? findGroup(groups, uid, edit.predicate) : ofNode?.get(edit.predicate);
    if (group === undefined) {
      const predicate = this.#schema.predicateById(edit.predicate);
      if (predicate === undefined) return;
      group = { uid, predicate, edits: [], cells: undefined, targets: undefined, key: undefined };
      groups.push(group);
      if (byUid !== undefined) {
        if (ofNode === undefined) byUid.set(uid, (ofNode = new Map()));
        ofNode.set(edit.predicate, group);
      }
    }
    group.edits.push(edit);
  }
}

/** By predicate. */
type NodeGroups = Map<number, EditGroup>;

/** So many groups are looked through faster than a map is made. */
const lookedThroughMax = 24;

function findGroup(
  groups: readonly EditGroup[],
  uid: number,
  predicate: number,
): EditGroup | undefined {
  for (let i = groups.length - 1; i >= 0; i--) {
    const group = must(groups[i], "within bounds");
    if (group.uid === uid && group.predicate.id === predicate) return group;
  }
  return undefined;
}

function needsBefore(group: EditGroup): boolean {
  const { definition, indexes, formerScalar } = group.predicate;
  if (definition.kind === "uid") {
    return !definition.list || group.edits.some((edit) => edit.kind === "clear");
  }
  return (
    indexes.length > 0 ||
    formerScalar ||
    group.edits.some((edit) => edit.kind === "clear" || edit.kind === "deleteValue")
  );
}

/**
 * Whether a concurrent change of the same entry must make this one derive again. Members of lists without tokens are
 * set and removed blindly: any order of such changes leaves records and reverse lists in agreement.
 */
function needsBasis(group: EditGroup): boolean {
  const { definition, indexes, formerScalar } = group.predicate;
  return !definition.list || indexes.length > 0 || formerScalar;
}

/** One read for all nodes that want the same predicates. */
interface Batch {
  readonly requests: readonly ColumnRequest[];
  readonly uids: number[];
  /** Per node, its groups in the order of the column requests. */
  readonly groups: (readonly EditGroup[])[];
}

function* readBefore(reader: Reader, groups: readonly EditGroup[]): Steps<void> {
  for (const batch of batchesOf(groups)) {
    let columns: readonly Column[] = [];
    const read = reader.readLevel(new Float64Array(batch.uids), batch.requests);
    if (read instanceof Promise) yield read.then((found) => void (columns = found));
    else columns = read;
    batch.groups.forEach((ofNode, row) => {
      ofNode.forEach((group, k) =>
        keepBefore(group, must(columns[k], "a column for each group"), row),
      );
    });
  }
}

function batchesOf(groups: readonly EditGroup[]): Iterable<Batch> {
  if (groups.length === 1) {
    const group = must(groups[0], "there is one");
    return [{ requests: [requestOf(group)], uids: [group.uid], groups: [groups] }];
  }
  const byUid = new Map<number, EditGroup[]>();
  for (const group of groups) {
    const ofNode = byUid.get(group.uid);
    if (ofNode === undefined) byUid.set(group.uid, [group]);
    else ofNode.push(group);
  }
  const batches = new Map<string, Batch>();
  for (const [uid, ofNode] of byUid) {
    ofNode.sort((a, b) => a.predicate.id - b.predicate.id);
    const signature = ofNode.map((group) => group.predicate.id).join();
    let batch = batches.get(signature);
    if (batch === undefined) {
      batch = { requests: ofNode.map(requestOf), uids: [], groups: [] };
      batches.set(signature, batch);
    }
    batch.uids.push(uid);
    batch.groups.push(ofNode);
  }
  return batches.values();
}

function requestOf(group: EditGroup): ColumnRequest {
  const predicate = group.predicate.id;
  return group.predicate.definition.kind === "uid"
    ? { kind: "edges", predicate, facets: false }
    : { kind: "cells", predicate };
}

const noCells: readonly Cell[] = [];
const noTargets = new Float64Array(0);

/** What `keepBefore` keeps of a node that has nothing. */
function keepNothing(group: EditGroup): void {
  if (group.predicate.definition.kind === "uid") group.targets = noTargets;
  else group.cells = noCells;
}

function keepBefore(group: EditGroup, column: Column, row: number): void {
  if (column.kind === "cells") group.cells = column.cells[row] ?? noCells;
  else if (column.kind === "edges") {
    group.targets = column.targets.slice(column.offsets[row], column.offsets[row + 1]);
  }
}
