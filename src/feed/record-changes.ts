/** What a commit did to records, slot by slot and edge by edge, each once: what was there before, and after. */
import { openCommit } from "../store/patch-codec.ts";
import type { AppliedPatch, CellPatch, EdgePatch } from "../store/store.ts";

/** undefined: nothing was there before, or is there after. Of an edge its facets, empty for none. */
export interface RecordChange {
  readonly patch: CellPatch | EdgePatch;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

type CommitChange =
  | { readonly kind: "record"; readonly change: RecordChange }
  | { readonly kind: "meta"; readonly applied: AppliedPatch }
  /** Nothing, for who counts the work: indexes follow what records do. */
  | undefined;

/**
 * In the order of the patches. A transaction of several requests may write one slot several times: those are told
 * behind the others, as one change each, and not at all where nothing came of it.
 */
export function* readChanges(row: Uint8Array): Generator<CommitChange, void> {
  const repeated = findRepeated(row);
  const merged = new Map<string, RecordChange>();
  for (const applied of openCommit(row).applied) {
    const change = toChange(applied);
    if (change === undefined) {
      yield applied.patch.kind === "meta" ? { kind: "meta", applied } : undefined;
    } else if (repeated?.has(hashOf(change.patch)) === true) {
      const place = placeOf(change.patch);
      const first = merged.get(place);
      merged.set(place, first === undefined ? change : { ...change, before: first.before });
      yield undefined;
    } else yield { kind: "record", change };
  }
  for (const change of merged.values()) {
    if (!isSame(change.before, change.after)) yield { kind: "record", change };
  }
}

function toChange({ patch, existed, before }: AppliedPatch): RecordChange | undefined {
  switch (patch.kind) {
    case "cell":
      return { patch, before: existed ? before : undefined, after: patch.cell };
    case "edge": {
      const after = patch.add ? (patch.facets ?? noFacets) : undefined;
      return { patch, before: existed ? (before ?? noFacets) : undefined, after };
    }
    default:
      return undefined;
  }
}

const noFacets = new Uint8Array(0);

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(a, b) === 0;
}

function placeOf(patch: CellPatch | EdgePatch): string {
  const { uid, predicate } = patch;
  if (patch.kind === "edge") return `${uid}>${predicate}>${patch.target}`;
  return `${uid}.${predicate}.${patch.slot}`;
}

/**
 * Places that are written more than once, as hashes: two places with one hash are both taken for such ones, which costs
 * a little and changes nothing. undefined for none, nearly always.
 */
function findRepeated(row: Uint8Array): ReadonlySet<number> | undefined {
  const seen = new Set<number>();
  let repeated: Set<number> | undefined;
  for (const { patch } of openCommit(row).applied) {
    if (patch.kind !== "cell" && patch.kind !== "edge") continue;
    const hash = hashOf(patch);
    if (seen.has(hash)) (repeated ??= new Set()).add(hash);
    else seen.add(hash);
  }
  return repeated;
}

/** 53 bits; never stored. */
function hashOf(patch: CellPatch | EdgePatch): number {
  let low = mix(patch.predicate, patch.uid % 0x100000000);
  let high = mix(low, Math.floor(patch.uid / 0x100000000) + 1);
  if (patch.kind === "edge") {
    low = mix(low, patch.target % 0x100000000);
    high = mix(high, low ^ Math.floor(patch.target / 0x100000000));
  } else {
    for (let i = 0; i < patch.slot.length; i++) low = mix(low, patch.slot.charCodeAt(i));
    high = mix(high, low);
  }
  return (high >>> 11) * 0x100000000 + (low >>> 0);
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ (word | 0), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
