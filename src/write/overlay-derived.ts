/**
 * A transaction's own writes become visible to its reads: the patches they would commit as, and what a store follows
 * by itself, presence and counts, computed by counting before and after (reference/transactions 6.4).
 */
import { must } from "../base/assert.ts";
import { drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import { countList, presenceList } from "../codec/key.ts";
import type { Overlay } from "../graph/overlay.ts";
import type { Reader, ColumnRequest } from "../graph/reader.ts";
import type { Look } from "../model/request-budget.ts";
import type { Derived } from "./edit-group.ts";

const present = new Uint8Array(0);

/** `reader` must be the view with this overlay in it. `look`: asked on the way through many patches. */
export function applyToOverlay(
  overlay: Overlay,
  derived: Derived,
  reader: Reader,
  look?: Look,
): MaybePromise<void> {
  return drive(steps(overlay, derived, reader, look));
}

/** Nodes whose count of one predicate (or of one reverse index) may move. */
interface Counted {
  readonly request: Extract<ColumnRequest, { readonly kind: "count" | "reverseCount" }>;
  readonly uids: Float64Array;
  /** 0 for none. */
  readonly countIndex: number;
  /** The predicate whose presence follows; undefined for reverse counts. */
  readonly presence: number | undefined;
}

/** Patches that are applied, and nodes that are counted, between two looks. */
const perLook = 512;

function* steps(
  overlay: Overlay,
  derived: Derived,
  reader: Reader,
  look: Look | undefined,
): Steps<void> {
  const counted = findCounted(derived);
  const before = new Map<Counted, Float64Array>();
  for (const row of counted) before.set(row, yield* count(reader, row, look));
  const { patches } = derived;
  for (let i = 0; i < patches.length; i++) {
    overlay.apply(must(patches[i], "within bounds"));
    if (i % perLook === perLook - 1) yield look?.(perLook);
  }
  for (const row of counted) {
    const had = must(before.get(row), "each was counted before");
    const has = yield* count(reader, row, look);
    follow(overlay, reader.schema.storageId, row, [had, has]);
    yield look?.(row.uids.length);
  }
}

function* count(
  reader: Reader,
  { uids, request }: Counted,
  look: Look | undefined,
): Steps<Float64Array> {
  const counts = new Float64Array(uids.length);
  for (let from = 0; from < uids.length; from += perLook) {
    const read = reader.readLevel(uids.subarray(from, from + perLook), [request]);
    if (read instanceof Promise) yield read.then(([column]) => counts.set(column.counts, from));
    else counts.set(read[0].counts, from);
    yield look?.(perLook);
  }
  return counts;
}

function findCounted(derived: Derived): Counted[] {
  const entries = new Map<number, { uids: Set<number>; countIndex: number }>();
  const objects = new Map<number, { uids: Set<number>; countIndex: number }>();
  for (const { uid, predicate, edits, targets } of derived.entries) {
    let row = entries.get(predicate.id);
    if (row === undefined) {
      entries.set(
        predicate.id,
        (row = { uids: new Set(), countIndex: predicate.countIndex?.id ?? 0 }),
      );
    }
    row.uids.add(uid);
    const { reverseIndex, reverseCountIndex } = predicate;
    if (reverseIndex === undefined || reverseCountIndex === undefined) continue;
    let reverse = objects.get(reverseIndex.id);
    if (reverse === undefined) {
      objects.set(
        reverseIndex.id,
        (reverse = { uids: new Set(), countIndex: reverseCountIndex.id }),
      );
    }
    for (const target of targets ?? []) reverse.uids.add(target);
    for (const edit of edits) {
      if (edit.kind === "setEdge" || edit.kind === "deleteEdge") reverse.uids.add(edit.target);
    }
  }
  const counted: Counted[] = [];
  for (const [predicate, { uids, countIndex }] of entries) {
    const request = { kind: "count", predicate } as const;
    counted.push({ request, uids: new Float64Array(uids), countIndex, presence: predicate });
  }
  for (const [index, { uids, countIndex }] of objects) {
    const request = { kind: "reverseCount", index } as const;
    counted.push({ request, uids: new Float64Array(uids), countIndex, presence: undefined });
  }
  return counted;
}

function follow(
  overlay: Overlay,
  storageId: number,
  row: Counted,
  [before, after]: readonly [Float64Array, Float64Array],
): void {
  row.uids.forEach((uid, i) => {
    const had = must(before[i], "each node was counted");
    const has = must(after[i], "each node was counted");
    if (had === has) return;
    if (row.presence !== undefined && (had === 0) !== (has === 0)) {
      overlay.setMember(presenceList(storageId, row.presence), uid, has > 0 ? present : undefined);
    }
    if (row.countIndex === 0) return;
    if (had > 0) overlay.setMember(countList(storageId, row.countIndex, had), uid, undefined);
    if (has > 0) overlay.setMember(countList(storageId, row.countIndex, has), uid, present);
  });
}
