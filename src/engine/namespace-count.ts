/** How many facts a namespace holds, and in how many bytes: its rows are walked in short slices, others in between. */
import type { Clock } from "../base/clock.ts";
import { listCount } from "../codec/chunk.ts";
import { keyKind, kindRange, readChunkNumber } from "../codec/key.ts";
import { entryCount, readEntries } from "../codec/record.ts";
import { copyBytes } from "../graph/record.ts";
import type { Store } from "../store/store.ts";

interface NamespaceCount {
  /** Values and edges; each language is one. */
  readonly facts: number;
  /** Keys and values of all rows, those of indexes included. */
  readonly bytes: number;
  /** What it took, without its pauses. */
  readonly busyMs: number;
}

/** Kinds of rows that a namespace has. */
const kinds = [
  keyKind.record,
  keyKind.longList,
  keyKind.wide,
  keyKind.presence,
  keyKind.index,
  keyKind.reverse,
  keyKind.count,
] as const;

/** A slice ends after so many rows, or so many milliseconds. */
const sliceRows = 4_096;
const sliceMs = 2;

/** Each slice reads the newest state: what is written meanwhile is in the count or not. `pause`: between slices. */
export async function countNamespace(
  store: Store,
  clock: Clock,
  storageId: number,
  pause: () => Promise<void>,
): Promise<NamespaceCount> {
  const sum = { facts: 0, bytes: 0, busyMs: 0 };
  for (const kind of kinds) {
    const { start, end } = kindRange(storageId, kind);
    let from: Uint8Array | undefined = start;
    while (from !== undefined) {
      const beganMs = clock.tickMs();
      from = await countSlice(store, clock, { start: from, end, kind }, sum);
      sum.busyMs += clock.tickMs() - beganMs;
      await pause();
    }
  }
  return sum;
}

interface Slice {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly kind: (typeof kinds)[number];
}

/** Where the next one begins; undefined at the end. */
async function countSlice(
  store: Store,
  clock: Clock,
  { start, end, kind }: Slice,
  sum: { facts: number; bytes: number },
): Promise<Uint8Array | undefined> {
  const untilMs = clock.tickMs() + sliceMs;
  let rows = 0;
  let last: Uint8Array | undefined;
  const snapshot = await store.snapshot();
  try {
    await snapshot.scan({ start, end }, (key, row) => {
      sum.bytes += key.length + row.length;
      if (kind === keyKind.record) sum.facts += factsOf(row);
      else if (kind === keyKind.longList && readChunkNumber(key) === 0) sum.facts += listCount(row);
      rows++;
      const isOver = rows >= sliceRows || (rows % 64 === 0 && clock.tickMs() >= untilMs);
      if (isOver) last = copyBytes(key);
      return !isOver;
    });
  } finally {
    snapshot.close();
  }
  return last === undefined ? undefined : behind(last);
}

/** Of a record's part: long lists say it themselves. */
function factsOf(part: Uint8Array): number {
  let count = 0;
  for (const { bytes } of readEntries(part)) count += Math.max(0, entryCount(bytes));
  return count;
}

/** The first key that may follow: no key is the begin of another one of its kind but by its own zeros. */
function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
