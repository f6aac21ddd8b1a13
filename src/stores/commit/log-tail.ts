/** What the writer remembers of the log: sizes and times for the retention, ids for resends. */
import type { Clock } from "../../base/clock.ts";
import { keyKind, kindRange, globalStorageId, logKey, readLogKey } from "../../codec/key.ts";
import { changeIdText, encodeCommit, readCommitFront } from "../../store/patch-codec.ts";
import type { ChangeId, Commit } from "../../store/store.ts";
import type { KeyValue } from "../key-value.ts";

export interface LogRetention {
  readonly ageMsMax: number;
  readonly bytesMax: number;
}

export const defaultRetention: LogRetention = { ageMsMax: 600_000, bytesMax: 64 * 1024 * 1024 };

/** Rows that one transaction removes at most, so that an idle night does not end in a long pause. */
const trimMax = 2000;

interface LogRow {
  readonly commitTs: number;
  readonly committedMs: number;
  readonly bytes: number;
  readonly id: string;
}

export class LogTail {
  private rows: LogRow[] = [];
  /** Rows before it are gone; cut off now and then. */
  private firstAt = 0;
  private bytes = 0;
  private readonly byId = new Map<string, number>();
  private readonly clock: Clock;
  private readonly retention: LogRetention;

  constructor(kv: KeyValue, clock: Clock, retention: LogRetention) {
    this.clock = clock;
    this.retention = retention;
    kv.scan(kindRange(globalStorageId, keyKind.log), (key, value) => {
      const { committedMs, id } = readCommitFront(value);
      this.keep({
        commitTs: readLogKey(key),
        committedMs,
        bytes: value.length,
        id: changeIdText(id),
      });
      return true;
    });
  }

  /** The commit that a change became, when the log still knows. */
  findCommit(id: ChangeId): number | undefined {
    return this.byId.get(changeIdText(id));
  }

  /** Whether every commit after `ts` is in the log. */
  reachesBackTo(ts: number, newestTs: number): boolean {
    if (ts >= newestTs) return true;
    const first = this.rows[this.firstAt];
    return first !== undefined && first.commitTs <= ts + 1;
  }

  /** Writes the rows of a group; `settle` must follow when it is durable. */
  write(kv: KeyValue, commits: readonly Commit[]): LogRow[] {
    const committedMs = this.clock.nowMs();
    return commits.map((commit) => {
      const row = encodeCommit(commit, committedMs);
      kv.put(logKey(commit.commitTs), row);
      const id = changeIdText(commit.id);
      return { commitTs: commit.commitTs, committedMs, bytes: row.length, id };
    });
  }

  /** Removes what the retention does not ask for; returns how many, for `settle`. The newest row stays. */
  trim(kv: KeyValue, added: readonly LogRow[]): number {
    const oldestMs = this.clock.nowMs() - this.retention.ageMsMax;
    let bytes = this.bytes;
    for (const row of added) bytes += row.bytes;
    let count = 0;
    while (count < trimMax) {
      const row = this.rows[this.firstAt + count];
      if (row === undefined) break;
      if (bytes <= this.retention.bytesMax && row.committedMs >= oldestMs) break;
      kv.remove(logKey(row.commitTs));
      bytes -= row.bytes;
      count++;
    }
    return count;
  }

  settle(added: readonly LogRow[], trimmed: number): void {
    for (let i = 0; i < trimmed; i++) {
      const row = this.rows[this.firstAt++]!;
      this.bytes -= row.bytes;
      this.byId.delete(row.id);
    }
    if (this.firstAt > 4096 && this.firstAt * 2 > this.rows.length) {
      this.rows = this.rows.slice(this.firstAt);
      this.firstAt = 0;
    }
    for (const row of added) this.keep(row);
  }

  private keep(row: LogRow): void {
    this.rows.push(row);
    this.bytes += row.bytes;
    this.byId.set(row.id, row.commitTs);
  }
}
