/** The row from which the tree of an encrypted store begins: of each state one. */
import { Fault } from "../../model/fault.ts";

export interface TreeState {
  /** 0: there are no rows. */
  readonly root: number;
  /** Grows with each transaction. */
  readonly number: number;
  /** No block has this number or a greater one. */
  readonly nextBlock: number;
}

export const emptyTree: TreeState = { root: 0, number: 0, nextBlock: 1 };

const format = 1;
const stateBytes = 25;

export function encodeTreeState({ root, number, nextBlock }: TreeState): Buffer {
  const bytes = Buffer.alloc(stateBytes);
  bytes[0] = format;
  bytes.writeDoubleLE(root, 1);
  bytes.writeDoubleLE(number, 9);
  bytes.writeDoubleLE(nextBlock, 17);
  return bytes;
}

export function decodeTreeState(bytes: Buffer): TreeState {
  if (bytes[0] !== format || bytes.length < stateBytes) {
    throw new Fault("E_STORE_CORRUPT", "the blocks of the store are of a newer format");
  }
  return {
    root: bytes.readDoubleLE(1),
    number: bytes.readDoubleLE(9),
    nextBlock: bytes.readDoubleLE(17),
  };
}
