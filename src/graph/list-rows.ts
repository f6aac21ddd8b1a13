/** Members of lists in memory, with their facets: cut to bounds, merged with a delta, joined. */
import { concat, lowerBound, subtract, union } from "../base/sorted.ts";
import { chunkCount, chunkFacets, decodeChunk, hasFacets } from "../codec/chunk.ts";
import { emptyUidSet } from "../model/uid.ts";
import type { UidSet } from "../model/uid.ts";
import type { ListDelta } from "./delta.ts";
import type { ListBounds } from "./reader.ts";

/** Members with their facets beside them; undefined where no member has any. */
export interface ListRow {
  readonly uids: UidSet;
  readonly facets: readonly (Uint8Array | undefined)[] | undefined;
}

export const emptyRow: ListRow = { uids: emptyUidSet, facets: undefined };

/** Whether bounds leave nothing out. */
export function isWhole({ after, skip, limit }: ListBounds): boolean {
  return (after ?? 0) === 0 && (skip ?? 0) === 0 && limit === undefined;
}

/** A chunk's members within bounds, facets beside them when wanted and there. */
export function decodeRow(bytes: Uint8Array, wantFacets: boolean, bounds: ListBounds): ListRow {
  const uids = new Float64Array(chunkCount(bytes));
  decodeChunk(bytes, uids, 0);
  if (!wantFacets || !hasFacets(bytes)) return { uids: cutSet(uids, bounds), facets: undefined };
  const byPlace = chunkFacets(bytes);
  const facets = Array.from(uids, (_, place) => byPlace.get(place));
  return cutRow({ uids, facets }, bounds);
}

interface Cut {
  readonly from: number;
  readonly to: number;
}

function findCut(uids: UidSet, bounds: ListBounds): Cut {
  const first = bounds.after === undefined ? 0 : lowerBound(uids, bounds.after + 1);
  const skip = bounds.skip ?? 0;
  const limit = bounds.limit ?? Infinity;
  if (bounds.reverse === true) {
    const to = Math.max(first, uids.length - skip);
    return { from: Math.max(first, to - limit), to };
  }
  const from = Math.min(uids.length, first + skip);
  return { from, to: Math.min(uids.length, from + limit) };
}

export function cutSet(uids: UidSet, bounds: ListBounds): UidSet {
  const { from, to } = findCut(uids, bounds);
  return from === 0 && to === uids.length ? uids : uids.subarray(from, to);
}

export function cutRow(row: ListRow, bounds: ListBounds): ListRow {
  const { from, to } = findCut(row.uids, bounds);
  if (from === 0 && to === row.uids.length) return row;
  return { uids: row.uids.subarray(from, to), facets: row.facets?.slice(from, to) };
}

/** Bounds that leave enough members for the real ones after a delta of so many members was merged in. */
export function widenBounds(bounds: ListBounds, size: number): ListBounds {
  const wide: { after?: number; limit?: number; reverse?: boolean } = {};
  if (bounds.after !== undefined) wide.after = bounds.after;
  if (bounds.reverse !== undefined) wide.reverse = bounds.reverse;
  if (bounds.limit !== undefined) wide.limit = bounds.limit + (bounds.skip ?? 0) + size;
  return wide;
}

export function mergeSet(uids: UidSet, delta: ListDelta): UidSet {
  return union(subtract(uids, delta.removes()), delta.adds());
}

/** A whole row with a delta's members and facets. */
export function mergeRow(row: ListRow, delta: ListDelta): ListRow {
  const uids = mergeSet(row.uids, delta);
  let anyFacets = false;
  const facets = Array.from(uids, (uid): Uint8Array | undefined => {
    const bytes = delta.has(uid) ? delta.facets(uid) : row.facets?.[lowerBound(row.uids, uid)];
    if (bytes === undefined || bytes.length === 0) return undefined;
    anyFacets = true;
    return bytes;
  });
  return { uids, facets: anyFacets ? facets : undefined };
}

export function joinRows(blocks: readonly ListRow[]): ListRow {
  const only = blocks[0];
  if (only === undefined) return emptyRow;
  if (blocks.length === 1) return only;
  const uids = joinSets(blocks.map((block) => block.uids));
  if (blocks.every((block) => block.facets === undefined)) return { uids, facets: undefined };
  const facets: (Uint8Array | undefined)[] = [];
  for (const block of blocks) {
    for (let i = 0; i < block.uids.length; i++) facets.push(block.facets?.[i]);
  }
  return { uids, facets };
}

/** Ascending sets that follow one another. */
export function joinSets(sets: readonly UidSet[]): UidSet {
  const only = sets[0];
  if (only === undefined) return emptyUidSet;
  if (sets.length === 1) return only;
  return concat(sets);
}
