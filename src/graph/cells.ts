/**
 * Cells of nodes that need more than their record: a value over 1 KB lies in a row of its own, and a delta may have
 * changed slots. One batched read for all of them.
 */
import { must } from "../base/assert.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { decodeCell } from "../codec/cell.ts";
import { wideKey } from "../codec/key.ts";
import { entryKind, isWideStub, kindOfEntry, visitCells } from "../codec/record.ts";
import type { Snapshot } from "../store/store.ts";
import type { Cell } from "./reader.ts";
import { copyBytes } from "./record.ts";
import type { NodeRecord } from "./record.ts";

export interface CellRequest {
  /** The place in the column. */
  readonly row: number;
  readonly uid: number;
  readonly record: NodeRecord;
  readonly predicate: number;
  /** Slots that a delta sets or (undefined) removes. */
  readonly changed: ReadonlyMap<string, Uint8Array | undefined> | undefined;
}

/** How many times its bytes a cell takes when its text was made; a vector's is four times as long. */
const textHeld = 2;
const vectorHeld = 6;

/** Fills `cells` at the rows of the requests. Cells without a delta are kept in their record. */
export function readCells(
  snapshot: Snapshot,
  storageId: number,
  requests: readonly CellRequest[],
  cells: (readonly Cell[] | undefined)[],
): MaybePromise<void> {
  const keys: Uint8Array[] = [];
  const targets: { readonly slots: Map<string, Uint8Array>; readonly slot: string }[] = [];
  const bySlot = requests.map((request) => {
    const slots = readSlots(request);
    for (const [slot, cell] of slots) {
      if (!isWideStub(cell)) continue;
      keys.push(wideKey(storageId, request.predicate, request.uid, slot));
      targets.push({ slots, slot });
    }
    return slots;
  });
  const read =
    keys.length === 0
      ? undefined
      : snapshot.readMany(keys, (k, bytes) => {
          const { slots, slot } = must(targets[k], "a target for each key");
          if (bytes === undefined) slots.delete(slot);
          else slots.set(slot, copyBytes(bytes));
        });
  return andThen(read, () => {
    requests.forEach((request, i) => {
      const slots = must(bySlot[i], "slots for each request");
      let bytes = 0;
      const decoded = [...slots].sort(bySlotName).map(([, stored]): Cell => {
        const cell = decodeCell(stored);
        bytes += stored.length * (cell.kind === "float32vector" ? vectorHeld : textHeld);
        return cell;
      });
      if (request.changed === undefined) request.record.setCells(request.predicate, decoded, bytes);
      cells[request.row] = decoded.length === 0 ? undefined : decoded;
    });
  });
}

function bySlotName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function readSlots(request: CellRequest): Map<string, Uint8Array> {
  const slots = new Map<string, Uint8Array>();
  const entry = request.record.entryBytes(request.predicate);
  if (entry !== undefined && kindOfEntry(entry) === entryKind.cells) {
    visitCells(entry, (slot, cell) => slots.set(slot, cell));
  }
  if (request.changed === undefined) return slots;
  for (const [slot, cell] of request.changed) {
    if (cell === undefined) slots.delete(slot);
    else slots.set(slot, cell);
  }
  return slots;
}
