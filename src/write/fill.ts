/** Filling an index that is `building`: what one slice of nodes adds to it (store.ts, FillJob). */
import { assert } from "../base/assert.ts";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { encodeFacets } from "../codec/facets.ts";
import { countList, reverseList, tokenList } from "../codec/key.ts";
import { openReader } from "../graph/open-reader.ts";
import type { Column, Reader } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import { SchemaCache, readSchemaHead } from "../graph/schema-rows.ts";
import { isBuilding } from "../graph/schema-diff.ts";
import type { IndexBuild } from "../graph/schema-diff.ts";
import { emptySchemaState, makeSchema } from "../graph/schema-state.ts";
import type { FillJob, MemberPatch, Patch, Snapshot } from "../store/store.ts";
import { storedTokens } from "../graph/value-tokens.ts";

export interface FillDetail {
  readonly build: IndexBuild;
  readonly predicate: Predicate;
  readonly namespace: number;
  /** Of the schema in which the index was still building. */
  readonly schemaVersion: number;
}

export function encodeFillDetail(detail: FillDetail): Uint8Array {
  return encodeUtf8(JSON.stringify(detail));
}

/**
 * A `Derive` (store.ts): patches that only add what is true, so that a slice may be done twice. Nothing for an index
 * that was dropped while the slice was on its way: its sweeper would not come by again.
 */
export function deriveFill(snapshot: Snapshot, job: FillJob, uids: Float64Array): readonly Patch[] {
  const detail = JSON.parse(decodeUtf8(job.detail)) as FillDetail;
  if (!isStillBuilding(snapshot, job, detail)) return [];
  const state = {
    ...emptySchemaState(detail.namespace, job.storageId),
    predicates: [detail.predicate],
  };
  const reader = openReader({
    snapshot,
    schema: makeSchema(state, { acl: false }),
    cache: undefined,
    fillsCache: false,
    delta: undefined,
    ts: snapshot.ts,
  });
  switch (detail.build.kind) {
    case "token":
      return fillTokens(reader, detail, uids);
    case "reverse":
      return fillReverse(reader, detail, uids);
    case "count":
      return fillCounts(reader, detail, uids);
    case "reverseCount":
      return fillReverseCounts(reader, detail, uids);
  }
}

function isStillBuilding(snapshot: Snapshot, job: FillJob, detail: FillDetail): boolean {
  const { namespace, build, schemaVersion } = detail;
  const head = now(readSchemaHead(snapshot, namespace));
  if (head === undefined || head.storageId !== job.storageId) return false;
  if (head.version === schemaVersion) return true;
  const known = now(new SchemaCache({ acl: false }).read(snapshot, namespace));
  return known !== undefined && isBuilding(known.state, build);
}

function now<T>(value: MaybePromise<T>): T {
  assert(!(value instanceof Promise), "reads inside a write transaction answer at once");
  return value;
}

function readColumn(reader: Reader, detail: FillDetail, uids: Float64Array): Column {
  const predicate = detail.predicate.id;
  const want =
    detail.predicate.definition.kind === "uid"
      ? ({ kind: "edges", predicate, facets: true } as const)
      : ({ kind: "cells", predicate } as const);
  const [column] = now(reader.readLevel(uids, [want]));
  assert(column !== undefined, "a column was asked for");
  return column;
}

function fillTokens(reader: Reader, detail: FillDetail, uids: Float64Array): readonly Patch[] {
  const { predicate, build } = detail;
  const index = predicate.indexes.find(({ id }) => id === build.index);
  const column = readColumn(reader, detail, uids);
  if (index === undefined || column.kind !== "cells") return [];
  const { storageId } = reader.schema;
  const patches: Patch[] = [];
  uids.forEach((uid, row) => {
    for (const cell of column.cells[row] ?? []) {
      for (const token of storedTokens(predicate, index, cell)) {
        patches.push(makeMember(tokenList(storageId, index.id, token), uid));
      }
    }
  });
  return patches;
}

function fillReverse(reader: Reader, detail: FillDetail, uids: Float64Array): readonly Patch[] {
  const column = readColumn(reader, detail, uids);
  if (column.kind !== "edges") return [];
  const { storageId } = reader.schema;
  const { offsets, targets, facets } = column;
  // Commits move the entries of this count from what the list holds so far: a slice has to move them too.
  const countIndex = detail.predicate.reverseCountIndex?.id ?? 0;
  const patches: Patch[] = [];
  uids.forEach((uid, row) => {
    for (let e = offsets[row]!; e < offsets[row + 1]!; e++) {
      const owner = targets[e]!;
      const list = reverseList(storageId, detail.build.index, owner);
      const member = makeMember(list, uid);
      patches.push({ ...member, facets: encodeFacets(facets?.[e]), countIndex, owner });
    }
  });
  return patches;
}

function fillCounts(reader: Reader, detail: FillDetail, uids: Float64Array): readonly Patch[] {
  const want = { kind: "count", predicate: detail.predicate.id } as const;
  const [column] = now(reader.readLevel(uids, [want]));
  if (column?.kind !== "count") return [];
  const { storageId } = reader.schema;
  const patches: Patch[] = [];
  uids.forEach((uid, row) => {
    const count = column.counts[row]!;
    if (count > 0) patches.push(makeMember(countList(storageId, detail.build.index, count), uid));
  });
  return patches;
}

/** Counts of the objects that the slice's nodes point at. */
function fillReverseCounts(
  reader: Reader,
  detail: FillDetail,
  uids: Float64Array,
): readonly Patch[] {
  const column = readColumn(reader, detail, uids);
  const reverse = detail.predicate.reverseIndex;
  if (column.kind !== "edges" || reverse === undefined) return [];
  const { storageId } = reader.schema;
  const objects = [...new Set(column.targets)];
  const lists = objects.map((object) => ({ kind: "reverse", index: reverse.id, object }) as const);
  const counts = now(reader.countLists(lists));
  const patches: Patch[] = [];
  objects.forEach((object, i) => {
    const count = counts[i]!;
    if (count > 0)
      patches.push(makeMember(countList(storageId, detail.build.index, count), object));
  });
  return patches;
}

function makeMember(list: Uint8Array, member: number): MemberPatch {
  return { kind: "member", list, member, add: true, facets: undefined, countIndex: 0, owner: 0 };
}
