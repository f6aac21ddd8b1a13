/** Ascending members with the facets of some, and edits laid over them. */
import { must } from "../../base/assert.ts";
import { emptyBytes } from "../../base/bytes.ts";
import { lowerBound } from "../../base/sorted.ts";
import { noChunkFacets, type ChunkFacets } from "../../codec/chunk.ts";

export interface Members {
  readonly uids: Float64Array;
  /** By place in `uids`. */
  readonly facets: ChunkFacets;
}

export const noMembers: Members = {
  uids: new Float64Array(0),
  facets: noChunkFacets,
};

/** Facets of a member that is set (empty: none), undefined for one that is removed. */
type MemberEdits = ReadonlyMap<number, Uint8Array | undefined>;

/** The facets of a member, empty for none; undefined when it is not there. */
export function findMember(members: Members, uid: number): Uint8Array | undefined {
  const place = lowerBound(members.uids, uid);
  if (place === members.uids.length || members.uids[place] !== uid) return undefined;
  return members.facets.get(place) ?? emptyBytes;
}

/** Without an iterator's price for each; most come in order. */
function sortedUids(edits: MemberEdits): Float64Array {
  const uids = new Float64Array(edits.size);
  let count = 0;
  let isSorted = true;
  for (const uid of edits.keys()) {
    if (count > 0 && uid < must(uids[count - 1], "within bounds")) isSorted = false;
    uids[count++] = uid;
  }
  return isSorted ? uids : uids.sort();
}

/** What the edits add to an empty list. */
export function addedMembers(edits: MemberEdits): Members {
  const uids = sortedUids(edits);
  const facets = new Map<number, Uint8Array>();
  let count = 0;
  for (let i = 0; i < uids.length; i++) {
    const uid = must(uids[i], "within bounds");
    const value = edits.get(uid);
    if (value === undefined) continue;
    if (value.length > 0) facets.set(count, value);
    uids[count++] = uid;
  }
  return { uids: count === uids.length ? uids : uids.subarray(0, count), facets };
}

export function mergeMembers(base: Members, edits: MemberEdits): Members {
  const edited = sortedUids(edits);
  const uids = new Float64Array(base.uids.length + edited.length);
  const facets = new Map<number, Uint8Array>();
  const hasFacets = base.facets.size > 0;
  let count = 0;
  let at = 0;
  const keepUpTo = (bound: number): void => {
    while (at < base.uids.length && must(base.uids[at], "within bounds") < bound) {
      if (hasFacets) {
        const kept = base.facets.get(at);
        if (kept !== undefined) facets.set(count, kept);
      }
      uids[count++] = must(base.uids[at++], "within bounds");
    }
  };
  for (let i = 0; i < edited.length; i++) {
    const uid = must(edited[i], "within bounds");
    keepUpTo(uid);
    if (base.uids[at] === uid) at++;
    const value = edits.get(uid);
    if (value === undefined) continue;
    if (value.length > 0) facets.set(count, value);
    uids[count++] = uid;
  }
  keepUpTo(Infinity);
  return { uids: uids.subarray(0, count), facets };
}
