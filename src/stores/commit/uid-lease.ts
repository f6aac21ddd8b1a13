/** Uids in sequence, each once, and never one that was used explicitly (reference/storage 6). */
import { must } from "../../base/assert.ts";
import { lowerBound } from "../../base/sorted.ts";
import { Fault } from "../../model/fault.ts";
import { reservedList } from "../../codec/key.ts";
import type { KeyValue } from "../key-value.ts";
import type { Tuning } from "../apply/tuning.ts";
import { WorkingList } from "../apply/working-list.ts";

/** An explicit uid this far above the lease raises it; one further up is remembered and passed over. */
const raiseMax = 1 << 20;
/** Uids that one durable step sets aside. */
const blockSize = 10_000;

export class UidLease {
  /** The next one to hand out. */
  private next: number;
  /** Uids below it are set aside on disk: after a crash nobody gets them again. */
  private bound: number;
  /** Explicit uids far above, not yet written. */
  private fresh: number[] = [];
  /** All of them, written or not. */
  private readonly kept: Set<number>;
  /** No kept one lies from `next` up to it. */
  private nearest: number;

  constructor(kv: KeyValue, nextUid: number, tuning: Tuning) {
    this.next = nextUid;
    this.bound = nextUid;
    this.kept = new Set(new WorkingList(kv, reservedList(), tuning).readAll().uids);
    this.nearest = this.findNearest();
  }

  private findNearest(): number {
    let nearest = Infinity;
    for (const uid of this.kept) if (uid >= this.next && uid < nearest) nearest = uid;
    return nearest;
  }

  /** What the state row must say for everything handed out or reserved so far to be safe. */
  get durableNext(): number {
    return Math.max(this.bound, this.next);
  }

  get nextUid(): number {
    return this.next;
  }

  /** What was reserved would be handed out after a crash. */
  get isBeyondBound(): boolean {
    return this.next > this.bound;
  }

  reserve(uid: number): void {
    if (uid < this.next || this.kept.has(uid)) return;
    if (uid < this.next + raiseMax) {
      this.next = uid + 1;
      return;
    }
    this.kept.add(uid);
    this.fresh.push(uid);
    this.nearest = Math.min(this.nearest, uid);
  }

  /** The first of `count` uids, or undefined when `extend` must be made durable first. */
  take(count: number): number | undefined {
    const first = this.freeRun(count);
    if (first + count > this.bound) return undefined;
    this.next = first + count;
    if (this.nearest < this.next) this.nearest = this.findNearest();
    return first;
  }

  /** The bound with which `take(count)` will succeed. */
  boundFor(count: number): number {
    return this.freeRun(count) + Math.max(count, blockSize);
  }

  /** The bound is on disk. */
  raiseBound(bound: number): void {
    this.bound = Math.max(this.bound, bound);
  }

  /** Writes the explicit uids that came since; `settleReserved` must follow when they are durable. */
  writeReserved(kv: KeyValue, tuning: Tuning): number {
    const count = this.fresh.length;
    if (count === 0) return 0;
    const list = new WorkingList(kv, reservedList(), tuning);
    for (const uid of this.fresh) list.edit(uid, new Uint8Array(0));
    list.flush();
    return count;
  }

  settleReserved(count: number): void {
    if (count > 0) this.fresh = this.fresh.slice(count);
  }

  /** Where `count` uids in a row begin that nobody used explicitly. */
  private freeRun(count: number): number {
    let first = this.next;
    if (first + count > this.nearest) {
      const sorted = new Float64Array(this.kept).sort();
      for (let at = lowerBound(sorted, first); at < sorted.length; at++) {
        const used = must(sorted[at], "within bounds");
        if (used >= first + count) break;
        first = used + 1;
      }
    }
    if (first + count > Number.MAX_SAFE_INTEGER) {
      throw new Fault("E_LIMIT", "Uid: the store has no uids left");
    }
    return first;
  }
}
