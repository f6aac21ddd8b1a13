/**
 * Hot: decoded records of a process (reference/storage 9.4). The cache has a number up to which it is right: opening a
 * snapshot beyond it first takes out what the commits in between changed, read from that snapshot's log, never from
 * notices. A record filled at r serves a snapshot s only if r ≤ s ≤ number; only a reader at the number may fill.
 */
import { must } from "../base/assert.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { UidSet } from "../model/uid.ts";
import type { Snapshot, Store, TouchVisitor } from "../store/store.ts";
import { ListCache } from "./list-cache.ts";
import { type RecordPage, RecordTable } from "./record-table.ts";
import type { MemoryAccount, NodeRecord } from "./record.ts";
import type { TokenTable, TokenWindow } from "./token-cache.ts";

/**
 * Filling anew costs 1 µs a record; reading a longer piece of log costs more. Each process asks for up to 64 empty
 * commits together: those of eight do not empty a cache.
 */
const commitsMax = 512;

/** Of a piece of log: as many patches are read in some 20 ms, during which the process answers nobody. */
const logBytesMax = 1024 * 1024;

/** Two generations instead of a list by use: a hit costs one look-up. What the older one keeps unused is dropped. */
interface Generations {
  young: RecordTable;
  old: RecordTable;
}

/** Of one piece of the log. */
interface Forgetter extends TouchVisitor {
  /** It is too large to be read for the cache's sake. */
  readonly hasPassedOver: boolean;
}

/** Lists may take this part, records the rest. */
const listShare = 1 / 5;

export class RecordCache {
  readonly #bytesMax: number;
  /** Decoded lists, right up to the same number. */
  readonly lists: ListCache;
  readonly #tables = new Map<number, Generations>();
  /** Of the younger generation. */
  readonly account: MemoryAccount = { bytes: 0 };
  #number = 0;
  #changedAt = 0;

  /** 0 bytes: keeps nothing. */
  constructor(bytesMax: number) {
    this.lists = new ListCache(bytesMax * listShare);
    this.#bytesMax = bytesMax - bytesMax * listShare;
  }

  /** That its younger generation takes: what of the older one is used moves there. */
  get bytes(): number {
    return this.account.bytes + this.lists.bytes;
  }

  /** The commit number up to which it is right. */
  get number(): number {
    return this.#number;
  }

  /** No commit after this one, up to `number`, changed anything; there may be an older one of which that is true. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** Brings the cache up to a snapshot. Call once when opening a reader. */
  advance(store: Pick<Store, "walkLog">, snapshot: Snapshot): MaybePromise<void> {
    // Hits decode, too.
    if (this.account.bytes > this.#bytesMax / 2) this.#turn();
    if (snapshot.ts <= this.#number) return;
    // Also with nothing in it: whether anything changed decides which numbers share their start times.
    if (snapshot.ts - this.#number > commitsMax) return this.#restart(snapshot.ts);
    const forgetter = this.#makeForgetter();
    return andThen(store.walkLog(snapshot, this.#number, forgetter), (isWhole) => {
      if (snapshot.ts <= this.#number) return;
      if (!isWhole || forgetter.hasPassedOver) return this.#restart(snapshot.ts);
      this.#number = snapshot.ts;
    });
  }

  /** Puts what it has of `uids` at a snapshot to the same places of `records`. Gives the places that it lacks. */
  find(
    { storageId, ts }: { readonly storageId: number; readonly ts: number },
    uids: Float64Array,
    records: NodeRecord[],
  ): number[] {
    const missing: number[] = [];
    const table = this.#tables.get(storageId);
    let number = -1;
    let page: RecordPage | undefined;
    for (let i = 0; i < uids.length; i++) {
      const uid = must(uids[i], "within bounds");
      const its = RecordTable.numberOf(uid);
      if (its !== number) {
        number = its;
        page = table?.young.page(its);
      }
      let record = page?.[RecordTable.slotOf(uid, its)];
      if (record === undefined && table !== undefined) {
        record = this.#renew(table, uid);
        page = table.young.page(its);
      }
      if (record === undefined || record.filledAt > ts) missing.push(i);
      else records[i] = record;
    }
    return missing;
  }

  /** Does nothing unless the record was read at the cache's number. */
  set(storageId: number, uid: number, record: NodeRecord): void {
    if (record.filledAt !== this.#number || this.#bytesMax === 0) return;
    let table = this.#tables.get(storageId);
    if (table === undefined) {
      table = { young: new RecordTable(), old: new RecordTable() };
      this.#tables.set(storageId, table);
    }
    this.#keep(table, uid, record);
  }

  /** As `set`, of a list; `name` from `ListCache.nameOf`. */
  setList(name: string, uids: UidSet, filledAt: number): void {
    if (filledAt === this.#number && this.#bytesMax > 0) this.lists.set(name, uids, filledAt);
  }

  /** As `set`, of a stretch of an index. */
  addWindow(table: TokenTable, window: TokenWindow): void {
    if (window.changedAt === this.#number) this.lists.tokens.add(table, window);
  }

  clear(): void {
    this.lists.clear();
    this.#tables.clear();
    this.account.bytes = 0;
  }

  /** What the older generation has of it moves to the younger one. */
  #renew(table: Generations, uid: number): NodeRecord | undefined {
    const record = table.old.get(uid);
    if (record === undefined) return undefined;
    table.old.delete(uid);
    this.#keep(table, uid, record);
    return record;
  }

  #keep(table: Generations, uid: number, record: NodeRecord): void {
    this.account.bytes += table.young.set(uid, record) + record.weight;
    if (this.account.bytes > this.#bytesMax / 2) this.#turn();
  }

  #turn(): void {
    this.account.bytes = 0;
    for (const [storageId, table] of this.#tables) {
      if (table.young.isEmpty) this.#tables.delete(storageId);
      table.old = table.young;
      table.young = new RecordTable();
    }
  }

  #restart(number: number): void {
    this.clear();
    this.#number = number;
    this.#changedAt = number;
  }

  /** Takes out what commits changed. Of a commit that another advance has seen meanwhile nothing is done again. */
  #makeForgetter(): Forgetter {
    const { lists } = this;
    let hasPassedOver = false;
    let logBytes = 0;
    let commitTs = 0;
    let isMindful = false;
    return {
      begin: (ts, bytes) => {
        commitTs = ts;
        isMindful = !lists.isEmpty;
        if (ts <= this.#number) return false;
        logBytes += bytes;
        if (logBytes > logBytesMax) hasPassedOver = true;
        return !hasPassedOver;
      },
      get hasPassedOver() {
        return hasPassedOver;
      },
      get wantsMembers() {
        return isMindful;
      },
      record: (storageId, uid, predicate, stays) => {
        this.#changedAt = commitTs;
        if (isMindful && !stays) lists.forgetPresence(storageId, predicate);
        const table = this.#tables.get(storageId);
        if (table === undefined) return;
        const record = table.young.get(uid);
        if (record !== undefined) {
          this.account.bytes -= record.weight;
          table.young.delete(uid);
        }
        table.old.delete(uid);
      },
      member: (list, member, isAdded) => {
        this.#changedAt = commitTs;
        lists.forgetMember(list, member, { isAdded, commitTs });
      },
      // Indexes are filled without a commit before the one that makes them ready.
      meta: () => {
        this.#changedAt = commitTs;
        lists.clear();
      },
    };
  }
}
