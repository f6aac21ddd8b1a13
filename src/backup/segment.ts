/**
 * Segments: commits of a store's log in order, each object with some megabytes of them. A segment says what the entry
 * before its first one was, so that segments and backups of different histories never join.
 */
import { createHash } from "node:crypto";
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import { hashLogRow, type LogRow } from "../stores/stored-log.ts";
import { pack, unpack } from "../stores/row-block.ts";
import type { BackupPlace } from "./place.ts";
import type { Seal } from "./seal.ts";

/** What its name says: known without reading it. */
export interface SegmentName {
  readonly path: string;
  readonly storeId: string;
  readonly first: number;
  readonly last: number;
  /** Since 1970: of its first entry, and its newest. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Segment {
  /** Of the entry before the first one (`hashLogRow`); "" where there was none. */
  readonly before: string;
  readonly rows: readonly LogRow[];
}

const folder = "log";
const magic = Buffer.from("WSG1");
const sumBytes = 32;
/** Magic, SHA-256 of all behind it, and how many bytes are packed. */
const headBytes = magic.length + sumBytes + 4;

/** Durable when it resolves. Its bytes as they lie there. */
export async function writeSegment(
  place: BackupPlace,
  seal: Seal,
  storeId: string,
  segment: Segment,
): Promise<number> {
  const path = pathOf(storeId, segment.rows);
  const plain = encode(segment);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(plain.length);
  const packed = await pack(plain);
  const sealed = seal.close(path, Buffer.concat([magic, sumOf(length, packed), length, packed]));
  await place.put(path, sealed);
  return sealed.length;
}

function pathOf(storeId: string, rows: readonly LogRow[]): string {
  const first = must(rows[0], "a segment has entries");
  const last = must(rows.at(-1), "a segment has entries");
  const newestMs = rows.reduce((ms, { committedMs }) => Math.max(ms, committedMs), 0);
  const numbers = [first.commitTs, last.commitTs, first.committedMs, newestMs].map((n) =>
    String(Math.trunc(n)).padStart(13, "0"),
  );
  return `${folder}/${storeId}/${numbers.join("-")}-${hashLogRow(last.row).slice(0, 16)}`;
}

/** All that are there, by store, then in the order of their commits. */
export async function listSegments(place: BackupPlace): Promise<readonly SegmentName[]> {
  const segments: SegmentName[] = [];
  for (const name of await place.list(folder)) {
    const match = /^([\da-f]+)\/(\d+)-(\d+)-(\d+)-(\d+)-[\da-f]{16}$/.exec(name);
    if (match === null) continue;
    const [storeId = "", ...numbers] = match.slice(1);
    const [first = 0, last = 0, firstMs = 0, lastMs = 0] = numbers.map(Number);
    segments.push({ path: `${folder}/${name}`, storeId, first, last, firstMs, lastMs });
  }
  return segments.toSorted((a, b) =>
    a.storeId === b.storeId ? a.first - b.first || a.last - b.last : a.storeId < b.storeId ? -1 : 1,
  );
}

/** Fault E_BACKUP where it is missing or damaged. */
export async function readSegment(
  place: BackupPlace,
  seal: Seal,
  { path, first, last }: SegmentName,
): Promise<Segment> {
  const sealed = await place.get(path);
  if (sealed === undefined) throw new Fault("E_BACKUP", `the segment ${path} is missing`);
  let segment: Segment | undefined;
  let cause: unknown;
  try {
    segment = decode(await unpackSegment(seal.open(path, sealed)));
  } catch (error) {
    cause = error;
  }
  const isNamed = segment?.rows[0]?.commitTs === first && segment.rows.at(-1)?.commitTs === last;
  if (segment !== undefined && isNamed) return segment;
  throw new Fault("E_BACKUP", `the segment ${path} is damaged`, { cause });
}

function sumOf(length: Uint8Array, packed: Uint8Array): Buffer {
  return createHash("sha256").update(length).update(packed).digest();
}

/** Throws where it is not what was packed. */
async function unpackSegment(opened: Buffer): Promise<Buffer> {
  const sum = opened.subarray(magic.length, magic.length + sumBytes);
  const length = opened.subarray(magic.length + sumBytes, headBytes);
  const packed = opened.subarray(headBytes);
  const isSound =
    opened.subarray(0, magic.length).equals(magic) && sumOf(length, packed).equals(sum);
  if (!isSound) throw new Fault("E_BACKUP", "its checksum is wrong");
  return unpack(packed, length.readUInt32LE());
}

/** The hash of the entry before, number of entries; then each with number, time, bytes. */
function encode({ before, rows }: Segment): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(rows.length);
  const parts: Buffer[] = [Buffer.from(before.padEnd(2 * sumBytes, "0"), "hex"), count];
  for (const { commitTs, committedMs, row } of rows) {
    const head = Buffer.alloc(20);
    head.writeDoubleLE(commitTs, 0);
    head.writeDoubleLE(committedMs, 8);
    head.writeUInt32LE(row.length, 16);
    parts.push(head, Buffer.from(row.buffer, row.byteOffset, row.length));
  }
  return Buffer.concat(parts);
}

function decode(bytes: Buffer): Segment {
  const before = bytes.toString("hex", 0, sumBytes);
  const count = bytes.readUInt32LE(sumBytes);
  const rows: LogRow[] = [];
  let at = sumBytes + 4;
  for (let i = 0; i < count; i++) {
    const commitTs = bytes.readDoubleLE(at);
    const committedMs = bytes.readDoubleLE(at + 8);
    const end = at + 20 + bytes.readUInt32LE(at + 16);
    rows.push({ commitTs, committedMs, row: bytes.subarray(at + 20, end) });
    at = end;
  }
  return { before: /^0+$/.test(before) ? "" : before, rows };
}
