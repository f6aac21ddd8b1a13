/** The store's own rows: its newest commit, fence and lease; the slots of processes. */
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { globalStorageId, metaKey } from "../../codec/key.ts";

export interface StoreState {
  readonly commitTs: number;
  readonly fence: number;
  /** Uids from here on were never handed out. */
  readonly nextUid: number;
  /** Grows with each write of the slots' row: who has seen the row at this number need not read it again. */
  readonly slotsVersion: number;
}

export const stateKey = metaKey(globalStorageId, "store/state");
export const slotsKey = metaKey(globalStorageId, "store/slots");

export const firstState: StoreState = { commitTs: 0, fence: 0, nextUid: 1, slotsVersion: 0 };

/** Start times have 7 bits for it, of which the upper half are for times that nobody writes with (engine/start-time.ts). */
export const slotCount = 64;

export function encodeState(state: StoreState): Uint8Array {
  const row = new Uint8Array(32);
  const view = new DataView(row.buffer);
  view.setFloat64(0, state.commitTs, true);
  view.setFloat64(8, state.fence, true);
  view.setFloat64(16, state.nextUid, true);
  view.setFloat64(24, state.slotsVersion, true);
  return row;
}

/** Rows of formats before 5 have no fourth number. */
export function decodeState(row: Uint8Array | undefined): StoreState {
  if (row === undefined) return firstState;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  return {
    commitTs: view.getFloat64(0, true),
    fence: view.getFloat64(8, true),
    nextUid: view.getFloat64(16, true),
    slotsVersion: row.length < 32 ? 0 : view.getFloat64(24, true),
  };
}

/** A process's hold on a slot. */
export interface SlotHold {
  /** The commit by which it was taken: no other hold, of any slot, has the same. */
  readonly floorTs: number;
  /** The process that writes holds it: who writes next knows that it is gone. */
  readonly isWriters: boolean;
}

/** In place of the first slot's number: rows of formats before 5 begin with a slot below 16. */
const slotsMark = 255;

/** Slot → hold, of the taken ones. */
export function encodeSlots(slots: ReadonlyMap<number, SlotHold>): Uint8Array {
  const writer = new ByteWriter(16);
  writer.u8(slotsMark);
  for (const [slot, { floorTs, isWriters }] of slots) {
    writer.u8(slot);
    writer.u8(isWriters ? 1 : 0);
    writer.varint(floorTs);
  }
  return writer.finish();
}

/** None of a row of formats before 5: its processes speak another protocol and cannot come back. */
export function decodeSlots(row: Uint8Array | undefined): Map<number, SlotHold> {
  const slots = new Map<number, SlotHold>();
  if (row === undefined || row[0] !== slotsMark) return slots;
  const reader = new ByteReader(row, 1);
  while (reader.left > 0) {
    const slot = reader.u8();
    const isWriters = reader.u8() === 1;
    slots.set(slot, { floorTs: reader.varint(), isWriters });
  }
  return slots;
}
