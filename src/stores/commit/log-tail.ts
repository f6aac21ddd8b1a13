/** What the writer remembers of the log: sizes and times for the retention, the newest ids for resends. */
import { must } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../model/fault.ts";
import { globalStorageId, keyKind, kindRange, logKey, readLogKey } from "../../codec/key.ts";
import { changeIdText, encodeCommitInPieces, readCommitFront } from "../../store/patch-codec.ts";
import type { ChangeId, Commit } from "../../store/store.ts";
import type { KeyValue, Pieces } from "../key-value.ts";
import { decodeState, stateKey } from "./state.ts";

export interface LogRetention {
  readonly ageMsMax: number;
  readonly bytesMax: number;
}

export const defaultRetention: LogRetention = { ageMsMax: 600_000, bytesMax: 64 * 1024 * 1024 };

/** Rows that one transaction removes at most, so that an idle night does not end in a long pause. */
const trimRowsMax = 2000;
/** Commits are remembered in blocks: a million small ones would take 200 MB one by one. */
const blockRowsMax = 256;
/** Ids that are found without reading the log; never fewer than half as many. */
const idsMax = 20_000;

interface Block {
  readonly firstTs: number;
  lastTs: number;
  newestMs: number;
  bytes: number;
}

/** What a group adds, until it is durable. */
interface AddedRow {
  readonly commitTs: number;
  readonly committedMs: number;
  readonly bytes: number;
  readonly id: string;
}

export class LogTail {
  /** Without gaps, oldest first. */
  private readonly blocks: Block[] = [];
  private bytes = 0;
  /**
   * Ids in two generations: the old one is forgotten whole when the young one is full. (A Map whose oldest entry goes
   * with every new one walks over the holes: 40 µs a commit.)
   */
  private youngIds = new Map<string, number>();
  private oldIds = new Map<string, number>();
  /** The newest commit in `youngIds`, and the newest in `oldIds`. */
  private youngNewest = 0;
  private oldNewest = 0;
  /** Every commit after it is in `youngIds` or `oldIds`. */
  private idsAfter = 0;
  /** An entry that cannot be read: the log begins behind it. What only older ones tell is not known any more. */
  readonly damagedAt: number | undefined = undefined;
  private readonly clock: Clock;
  private readonly retention: LogRetention;
  private readonly blockBytesMax: number;

  constructor(kv: KeyValue, clock: Clock, retention: LogRetention) {
    this.clock = clock;
    this.retention = retention;
    this.blockBytesMax = retention.bytesMax / 16;
    try {
      kv.scan(kindRange(globalStorageId, keyKind.log), (key, value) => {
        this.load(readLogKey(key), value);
        return true;
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "E_STORE_CORRUPT") throw error;
      this.damagedAt = this.loadBehindDamage(kv);
    }
  }

  private load(commitTs: number, value: Uint8Array): void {
    const { committedMs, id } = readCommitFront(value);
    if (this.blocks.length === 0) this.idsAfter = commitTs - 1;
    this.keep({ commitTs, committedMs, bytes: value.length, id: changeIdText(id) });
  }

  /**
   * The entries behind the newest that cannot be read, whose number it gives. No answer to a reader rests on those before:
   * older transactions are aborted, and a change that was sent before and whose answer was lost is told as unknown.
   */
  private loadBehindDamage(kv: KeyValue): number {
    this.blocks.length = 0;
    this.bytes = 0;
    this.youngIds.clear();
    this.oldIds.clear();
    const newest = decodeState(kv.get(stateKey)).commitTs;
    const damagedAt = findDamaged(kv, newest);
    this.idsAfter = damagedAt;
    for (let ts = damagedAt + 1; ts <= newest; ts++)
      this.load(ts, must(kv.get(logKey(ts)), "the log has an entry for each commit"));
    return damagedAt;
  }

  /** The commit that a change became, if it is one of the newest. */
  findNewest(id: ChangeId): number | undefined {
    return this.findText(changeIdText(id));
  }

  private findText(id: string): number | undefined {
    return this.youngIds.get(id) ?? this.oldIds.get(id);
  }

  /** As findNewest, for a change that cannot have been committed before `after`; reads what it must. */
  findAfter(kv: KeyValue, id: ChangeId, after: number): number | undefined {
    const known = this.findNewest(id);
    if (known !== undefined || after >= this.idsAfter) return known;
    const wanted = changeIdText(id);
    let found: number | undefined;
    const first = Math.max(after, this.damagedAt ?? 0) + 1;
    kv.scan({ start: logKey(first), end: logKey(this.idsAfter + 1) }, (key, row) => {
      if (changeIdText(readCommitFront(row).id) === wanted) found = readLogKey(key);
      return found === undefined;
    });
    return found;
  }

  /** Whether every commit after `ts` is in the log. */
  reachesBackTo(ts: number, newestTs: number): boolean {
    if (ts >= newestTs) return true;
    const first = this.blocks[0];
    return first !== undefined && first.firstTs <= ts + 1;
  }

  /** Writes the rows of a group, large ones in pieces; `settle` must follow when it is durable. */
  *write(kv: KeyValue, commits: readonly Commit[]): Pieces<AddedRow[]> {
    const committedMs = this.clock.nowMs();
    const added: AddedRow[] = [];
    for (const commit of commits) {
      const row = yield* encodeCommitInPieces(commit, committedMs);
      kv.put(logKey(commit.commitTs), row);
      const id = changeIdText(commit.id);
      added.push({ commitTs: commit.commitTs, committedMs, bytes: row.length, id });
    }
    return added;
  }

  /** Removes blocks that the retention does not ask for; returns how many, for `settle`. The newest one stays. */
  trim(kv: KeyValue, added: readonly AddedRow[]): number {
    const oldestMs = this.clock.nowMs() - this.retention.ageMsMax;
    let bytes = this.bytes;
    for (const row of added) bytes += row.bytes;
    let rows = 0;
    let count = 0;
    for (const block of this.blocks) {
      if (bytes <= this.retention.bytesMax && block.newestMs >= oldestMs) break;
      if (rows >= trimRowsMax) break;
      for (let ts = block.firstTs; ts <= block.lastTs; ts++) kv.remove(logKey(ts));
      rows += block.lastTs - block.firstTs + 1;
      bytes -= block.bytes;
      count++;
    }
    return count;
  }

  /** Removes all of it, in front of what a group adds; how many blocks, for `settle`. */
  clear(kv: KeyValue): number {
    for (const block of this.blocks) {
      for (let ts = block.firstTs; ts <= block.lastTs; ts++) kv.remove(logKey(ts));
    }
    return this.blocks.length;
  }

  settle(added: readonly AddedRow[], trimmed: number): void {
    for (const block of this.blocks.splice(0, trimmed)) this.bytes -= block.bytes;
    for (const row of added) this.keep(row);
  }

  private keep(row: AddedRow): void {
    this.bytes += row.bytes;
    const block = this.blocks.at(-1);
    const isFull =
      block === undefined ||
      block.lastTs - block.firstTs + 1 >= blockRowsMax ||
      block.bytes + row.bytes > this.blockBytesMax;
    if (isFull) {
      const { commitTs, committedMs, bytes } = row;
      this.blocks.push({ firstTs: commitTs, lastTs: commitTs, newestMs: committedMs, bytes });
    } else {
      block.lastTs = row.commitTs;
      block.newestMs = row.committedMs;
      block.bytes += row.bytes;
    }
    this.keepId(row.id, row.commitTs);
  }

  private keepId(id: string, commitTs: number): void {
    if (this.youngIds.size >= idsMax / 2) {
      if (this.oldIds.size > 0) this.idsAfter = this.oldNewest;
      this.oldIds = this.youngIds;
      this.oldNewest = this.youngNewest;
      this.youngIds = new Map();
    }
    this.youngIds.set(id, commitTs);
    this.youngNewest = commitTs;
  }
}

/** The newest commit whose entry cannot be read. */
function findDamaged(kv: KeyValue, newest: number): number {
  let ts = newest;
  for (; ts > 0; ts--) {
    try {
      if (kv.get(logKey(ts)) === undefined) break;
    } catch {
      break;
    }
  }
  return ts;
}
