/** Filling an index that is `building`: what one slice of nodes adds to it (store.ts, FillJob). */
import { assert, must } from "../base/assert.ts";
import { ByteReader, ByteWriter, emptyBytes, encodeUtf8 } from "../base/bytes.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { countList } from "../codec/key.ts";
import { openReader } from "../graph/open-reader.ts";
import type { Column, Reader } from "../graph/reader.ts";
import { SchemaCache, readSchemaHead } from "../graph/schema-rows.ts";
import { isBuilding } from "../graph/schema-diff.ts";
import { emptySchemaState, makeSchema } from "../graph/schema-state.ts";
import type { FillJob, MemberPatch, Patch, Snapshot } from "../store/store.ts";
import { edgesBehind, entryPatch, readParcel, visitEntries, requestFor } from "./index-entries.ts";
import type { EntrySource } from "./index-entries.ts";

interface FillDetail extends EntrySource {
  readonly namespace: number;
  /** Of the schema in which the index was still building. */
  readonly schemaVersion: number;
}

/**
 * What a slice fills: the nodes that the store reads, these nodes, a stretch of one node's edges (behind `after`, up to
 * `last` at least), the counts of these objects, or entries that were gathered before.
 */
export type FillWhat =
  | { readonly kind: "read" }
  | { readonly kind: "nodes"; readonly uids: Float64Array }
  | {
      readonly kind: "stretch";
      readonly uid: number;
      readonly after: number;
      readonly last: number;
    }
  | { readonly kind: "objects"; readonly uids: Float64Array }
  | { readonly kind: "parcel"; readonly parcel: Uint8Array };

const whatKinds = ["read", "nodes", "stretch", "objects", "parcel"] as const;

export function encodeFillDetail(
  { build, predicate, namespace, schemaVersion }: FillDetail,
  what: FillWhat = { kind: "read" },
): Uint8Array {
  const bytes = what.kind === "parcel" ? what.parcel : emptyBytes;
  const writer = new ByteWriter(1024 + bytes.length);
  writer.run(encodeUtf8(JSON.stringify({ build, predicate, namespace, schemaVersion })));
  writer.u8(whatKinds.indexOf(what.kind));
  for (const number of numbersOf(what)) writer.varint(number);
  writer.raw(bytes);
  return writer.finish();
}

function numbersOf(what: FillWhat): Iterable<number> {
  switch (what.kind) {
    case "nodes":
    case "objects":
      return what.uids;
    case "stretch":
      return [what.uid, what.after, what.last];
    case "read":
    case "parcel":
      return [];
  }
}

interface DecodedFill {
  readonly detail: FillDetail;
  readonly what: FillWhat;
}

function decodeFillDetail(bytes: Uint8Array): DecodedFill {
  const reader = new ByteReader(bytes);
  const detail = JSON.parse(reader.text()) as FillDetail;
  const kind = whatKinds[reader.u8()];
  switch (kind) {
    case "nodes":
    case "objects": {
      const uids: number[] = [];
      while (reader.left > 0) uids.push(reader.varint());
      return { detail, what: { kind, uids: new Float64Array(uids) } };
    }
    case "stretch": {
      const [uid, after, last] = [reader.varint(), reader.varint(), reader.varint()];
      return { detail, what: { kind, uid, after, last } };
    }
    case "parcel":
      return { detail, what: { kind, parcel: reader.raw(reader.left) } };
    default:
      return { detail, what: { kind: "read" } };
  }
}

/**
 * A `Derive` (store.ts): patches that only add what is true, so that a slice may be done twice. Nothing for an index
 * that was dropped while the slice was on its way: its sweeper would not come by again.
 */
export function deriveFill(snapshot: Snapshot, job: FillJob, read: Float64Array): readonly Patch[] {
  const { detail, what } = decodeFillDetail(job.detail);
  if (!isStillBuilding(snapshot, job, detail)) return [];
  if (what.kind === "parcel") return fillParcel(detail, what.parcel);
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
  switch (what.kind) {
    case "stretch":
      return fillStretch(reader, detail, what);
    case "objects":
      return fillReverseCounts(reader, detail, what.uids);
    case "nodes":
      return fillEntries(reader, detail, what.uids);
    case "read":
      return fillCounts(reader, detail, read);
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

function fillEntries(reader: Reader, detail: FillDetail, uids: Float64Array): readonly Patch[] {
  const [column] = now(reader.readLevel(uids, [requestFor(detail.predicate)]));
  return makeEntries(reader, detail, { uids, column });
}

function makeEntries(
  reader: Reader,
  detail: FillDetail,
  read: { readonly uids: Float64Array; readonly column: Column },
): readonly Patch[] {
  const patches: Patch[] = [];
  visitEntries(detail, reader.schema.storageId, read, (...entry) => {
    patches.push(entryPatch(detail, ...entry));
  });
  return patches;
}

/** Edges that are read at a time. */
const pageEdges = 1024;

function fillStretch(
  reader: Reader,
  detail: FillDetail,
  { uid, after, last }: Extract<FillWhat, { kind: "stretch" }>,
): readonly Patch[] {
  const uids = Float64Array.of(uid);
  const patches: Patch[] = [];
  for (let from = after; from < last;) {
    const request = edgesBehind(detail.predicate.id, from, pageEdges);
    const [column] = now(reader.readLevel(uids, [request]));
    patches.push(...makeEntries(reader, detail, { uids, column }));
    if (column.targets.length < pageEdges) break;
    from = must(column.targets.at(-1), "a full page has edges");
  }
  return patches;
}

function fillParcel(detail: FillDetail, parcel: Uint8Array): readonly Patch[] {
  const patches: Patch[] = [];
  readParcel(parcel, (...entry) => void patches.push(entryPatch(detail, ...entry)));
  return patches;
}

function fillCounts(reader: Reader, detail: FillDetail, uids: Float64Array): readonly Patch[] {
  const request = { kind: "count", predicate: detail.predicate.id } as const;
  const [column] = now(reader.readLevel(uids, [request]));
  const { storageId } = reader.schema;
  const patches: Patch[] = [];
  uids.forEach((uid, row) => {
    const count = must(column.counts[row], "each row has its count");
    if (count > 0) patches.push(makeMember(countList(storageId, detail.build.index, count), uid));
  });
  return patches;
}

function fillReverseCounts(
  reader: Reader,
  { build, predicate }: FillDetail,
  objects: Float64Array,
): readonly Patch[] {
  const reverse = predicate.reverseIndex;
  if (reverse === undefined) return [];
  const { storageId } = reader.schema;
  const lists = Array.from(
    objects,
    (object) => ({ kind: "reverse", index: reverse.id, object }) as const,
  );
  const counts = now(reader.countLists(lists));
  const patches: Patch[] = [];
  objects.forEach((object, i) => {
    const count = must(counts[i], "each row has its count");
    if (count > 0) patches.push(makeMember(countList(storageId, build.index, count), object));
  });
  return patches;
}

function makeMember(list: Uint8Array, member: number): MemberPatch {
  return { kind: "member", list, member, add: true, facets: undefined, countIndex: 0, owner: 0 };
}
