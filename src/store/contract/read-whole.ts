/** Lists and records read whole through a snapshot, in a form that is easy to compare. */
import { assert, must } from "../../base/assert.ts";
import { toHex } from "../../base/bytes.ts";
import {
  chunkCount,
  chunkFirst,
  chunkMembers,
  decodeHead,
  isHead,
  listCount,
  openChunkOf,
  visitChunkFacets,
} from "../../codec/chunk.ts";
import { longList, prefixRange, recordKey, wideKey } from "../../codec/key.ts";
import {
  entryChunk,
  entryKind,
  furtherParts,
  isWideStub,
  kindOfEntry,
  readEntries,
  visitCells,
} from "../../codec/record.ts";
import type { Snapshot } from "../store.ts";

/** Every member of a list with its facets (hex), through a snapshot. */
export async function readWholeList(
  snapshot: Snapshot,
  list: Uint8Array,
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  let declared = 0;
  let chunks = 0;
  const take = (row: Uint8Array): void => {
    const uids = chunkMembers(row);
    for (const uid of uids) {
      assert(!found.has(uid), "a member is in one chunk");
      found.set(uid, "");
    }
    visitChunkFacets(row, (place, bytes) =>
      found.set(must(uids[place], "a facet is of a member"), toHex(bytes)),
    );
    assert(chunkCount(row) === uids.length, "a chunk knows its count");
    chunks++;
  };
  const { start, end } = prefixRange(list);
  let head: ReturnType<typeof decodeHead> | undefined;
  let open: Uint8Array | undefined;
  let isFirst = true;
  await snapshot.scan({ start, end }, (key, row) => {
    if (key.length !== list.length + 8) return true;
    if (isFirst) declared = listCount(row);
    isFirst = false;
    if (isHead(row)) {
      head = decodeHead(row);
      open = openChunkOf(row)?.slice();
    } else take(row);
    return true;
  });
  const closed = chunks;
  if (open !== undefined) {
    for (const uid of found.keys()) assert(uid < chunkFirst(open), "the open chunk is the last");
    take(open);
  }
  assert(found.size === declared, "a list's head has the exact count");
  assert(head === undefined || head.chunks === closed, "a list's head knows its chunks");
  assert(head === undefined || (closed > 0 && chunks > 1), "a list of one chunk has no head");
  return found;
}

/** A node as the suite compares it: predicate → slots with cells, or targets with facets, all as text. */
export async function readWholeRecord(
  snapshot: Snapshot,
  storageId: number,
  uid: number,
): Promise<Map<number, Map<string, string>>> {
  const node = new Map<number, Map<string, string>>();
  const rows: Uint8Array[] = [];
  await snapshot.readMany([recordKey(storageId, uid)], (_i, row) => {
    if (row !== undefined) rows.push(row.slice());
  });
  if (rows.length === 0) return node;
  const further = furtherParts(must(rows[0], "there are rows")).map((first) =>
    recordKey(storageId, uid, first),
  );
  await snapshot.readMany(further, (_i, row) => {
    assert(row !== undefined, "part 0 names parts that are there");
    rows.push(row.slice());
  });
  let previous = 0;
  for (const row of rows) {
    for (const { predicate, bytes } of readEntries(row)) {
      assert(predicate > previous, "predicates ascend through the parts");
      previous = predicate;
      node.set(predicate, await readWholeEntry(snapshot, { storageId, uid, predicate }, bytes));
    }
  }
  return node;
}

async function readWholeEntry(
  snapshot: Snapshot,
  at: { storageId: number; uid: number; predicate: number },
  bytes: Uint8Array,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  const { storageId, uid, predicate } = at;
  if (kindOfEntry(bytes) === entryKind.long) {
    const list = await readWholeList(snapshot, longList(storageId, predicate, uid));
    for (const [target, facets] of list) values.set(String(target), facets);
  } else if (kindOfEntry(bytes) === entryKind.edges) {
    const chunk = entryChunk(bytes);
    const uids = chunkMembers(chunk);
    for (const target of uids) values.set(String(target), "");
    visitChunkFacets(chunk, (place, facets) => values.set(String(uids[place]), toHex(facets)));
  } else {
    const wide: string[] = [];
    visitCells(bytes, (slot, cell) => {
      if (isWideStub(cell)) wide.push(slot);
      else values.set(slot, toHex(cell));
    });
    const keys = wide.map((slot) => wideKey(storageId, predicate, uid, slot));
    await snapshot.readMany(keys, (i, cell) => {
      assert(cell !== undefined, "a wide cell has its row");
      values.set(must(wide[i], "a row for each key"), toHex(cell));
    });
  }
  return values;
}
