/** The store's own rows: its newest commit, fence and lease; the slots of processes. */
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { globalStorageId, metaKey } from "../../codec/key.ts";

export interface StoreState {
  readonly commitTs: number;
  readonly fence: number;
  /** Uids from here on were never handed out. */
  readonly nextUid: number;
}

export const stateKey = metaKey(globalStorageId, "store/state");
export const slotsKey = metaKey(globalStorageId, "store/slots");

export const firstState: StoreState = { commitTs: 0, fence: 0, nextUid: 1 };

/** Start times have 4 bits for it. */
export const slotCount = 16;

export function encodeState(state: StoreState): Uint8Array {
  const row = new Uint8Array(24);
  const view = new DataView(row.buffer);
  view.setFloat64(0, state.commitTs, true);
  view.setFloat64(8, state.fence, true);
  view.setFloat64(16, state.nextUid, true);
  return row;
}

export function decodeState(row: Uint8Array | undefined): StoreState {
  if (row === undefined) return firstState;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  return {
    commitTs: view.getFloat64(0, true),
    fence: view.getFloat64(8, true),
    nextUid: view.getFloat64(16, true),
  };
}

/** Slot → floor, of the taken ones. */
export function encodeSlots(slots: ReadonlyMap<number, number>): Uint8Array {
  const writer = new ByteWriter(16);
  for (const [slot, floorTs] of slots) {
    writer.u8(slot);
    writer.varint(floorTs);
  }
  return writer.finish();
}

export function decodeSlots(row: Uint8Array | undefined): Map<number, number> {
  const slots = new Map<number, number>();
  if (row === undefined) return slots;
  const reader = new ByteReader(row);
  while (reader.left > 0) {
    const slot = reader.u8();
    slots.set(slot, reader.varint());
  }
  return slots;
}
