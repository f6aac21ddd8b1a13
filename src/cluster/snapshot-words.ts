/**
 * A snapshot on its way from one machine to another (reference/log 7.4): blocks of rows in the order of their keys, each
 * packed and with its hash, then an end that counts them. The place in the log is one of the rows.
 */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { encodeFrame, FrameCutter } from "../base/frames.ts";
import { Fault } from "../model/fault.ts";
import { BlockCutter, pack, readBlockRows, unpack, type RowBlock } from "../stores/row-block.ts";
import type { SnapshotTarget } from "../stores/snapshot-store.ts";
import type { StoredRows } from "../stores/stored-rows.ts";
import { decodeSeq, encodeSeq } from "./peer-words.ts";

const kind = { block: 112, end: 113 } as const;
const hashBytes = 32;
const headBytes = 8 + hashBytes;
/** Of a block as it is sent, and unpacked. */
const blockBytesMax = 64 * 1024 * 1024;
/** Read at a time. */
const sliceBytes = 4 * 1024 * 1024;

/** `write` resolves when there is room for more. The number of rows. */
export async function sendSnapshot(
  rows: StoredRows,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<number> {
  const cutter = new BlockCutter();
  let count = 0;
  const send = async (block: RowBlock): Promise<void> => {
    count += block.rows;
    const packed = await pack(block.bytes);
    const hash = createHash("sha256").update(packed).digest();
    const payload = Buffer.concat([encodeSeq(block.bytes.length), hash, packed]);
    await write(encodeFrame(kind.block, 0, payload));
  };
  for (let isMore = true; isMore;) {
    const cut: RowBlock[] = [];
    isMore = rows.read(sliceBytes, (row) => {
      const block = cutter.add(row);
      if (block !== undefined) cut.push(block);
    });
    for (const block of cut) await send(block);
  }
  const last = cutter.finish();
  if (last !== undefined) await send(last);
  await write(encodeFrame(kind.end, 0, encodeSeq(count)));
  return count;
}

/** Rejects where it breaks off, or is damaged. `onRows`: how many have come so far. */
export async function receiveSnapshot(
  source: Readable,
  target: Pick<SnapshotTarget, "put">,
  onRows: (rows: number) => void,
): Promise<number> {
  const cutter = new FrameCutter(blockBytesMax);
  let rows = 0;
  let expected: number | undefined;
  for await (const piece of source) {
    const frames: { kind: number; payload: Uint8Array }[] = [];
    const isOurs = cutter.push(piece as Buffer, (frame) => void frames.push(frame));
    if (!isOurs) throw broken("it holds what is no snapshot");
    for (const frame of frames) {
      if (frame.kind === kind.end) {
        expected = decodeSeq(frame.payload);
        continue;
      }
      if (frame.kind !== kind.block || expected !== undefined) {
        throw broken("it holds what is no snapshot");
      }
      const found = readBlockRows(await openBlock(frame.payload));
      target.put(found);
      rows += found.length;
      onRows(rows);
    }
    if (expected !== undefined) break;
  }
  if (expected === undefined) throw broken("it breaks off");
  if (expected !== rows) throw broken("rows are missing");
  return rows;
}

async function openBlock(payload: Uint8Array): Promise<Buffer> {
  if (payload.length < headBytes) throw broken("a block is too short");
  const bytes = decodeSeq(payload);
  if (bytes > blockBytesMax) throw broken("a block is too large");
  const packed = payload.subarray(headBytes);
  const hash = createHash("sha256").update(packed).digest();
  if (!hash.equals(payload.subarray(8, headBytes))) throw broken("a block is damaged");
  return await unpack(Buffer.from(packed), bytes);
}

function broken(why: string): Fault {
  return new Fault("E_STORE_CORRUPT", `the snapshot of the other machine cannot be used: ${why}`);
}
