/**
 * Commits of a log applied to a store that is being made of an older state. Their patches say all that a commit
 * changed; index builds and sweeps are not in the log (reference/storage 9), so whoever replays begins those anew.
 */
import { globalStorageId, keyKind, kindRange, logKey } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import { decodeCommit } from "../store/patch-codec.ts";
import type { MetaPatch, Patch } from "../store/store.ts";
import { defaultTuning } from "./apply/tuning.ts";
import { WorkingSet } from "./apply/working-set.ts";
import { reserveUids } from "./commit/group.ts";
import { decodeState, encodeState, stateKey, type StoreState } from "./commit/state.ts";
import { UidLease } from "./commit/uid-lease.ts";
import { transact, type KeyValue, type WriteEngine } from "./key-value.ts";
import type { LogRow } from "./stored-log.ts";

/** Rows that one transaction removes. */
const removedAtOnce = 10_000;

export class LogReplay {
  readonly #engine: WriteEngine;
  readonly #leases: UidLease;
  #state: StoreState;
  /** Entries that the log holds, from the first on: those of the newest rows alone, as each has all before it. */
  #kept: { readonly first: number; readonly last: number } | undefined = undefined;
  #hasBegun = false;

  constructor(engine: WriteEngine) {
    this.#engine = engine;
    const opened = transact(engine, (kv) => {
      const state = decodeState(kv.get(stateKey));
      return { state, leases: new UidLease(kv, state.nextUid, defaultTuning) };
    });
    this.#state = opened.state;
    this.#leases = opened.leases;
  }

  /** The newest that was applied. */
  get commitTs(): number {
    return this.#state.commitTs;
  }

  /** One transaction. Patches for which `isLeftOut` says so are passed over. Fault E_BACKUP where a commit is missing. */
  apply(rows: readonly LogRow[], isLeftOut: (patch: Patch) => boolean): void {
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#begin();
    const reserved = transact(this.#engine, (kv) => {
      let { commitTs } = this.#state;
      const working = new WorkingSet(kv);
      for (const { commitTs: next, row } of rows) {
        if (next !== ++commitTs) throw new Fault("E_BACKUP", `commit ${commitTs} is missing`);
        for (const { patch } of decodeCommit(next, row).applied) {
          if (isLeftOut(patch)) continue;
          working.apply(patch);
          reserveUids(patch, this.#leases);
        }
        working.endChange();
        kv.put(logKey(next), row);
      }
      working.flush();
      this.#forget(kv);
      const count = this.#leases.writeReserved(kv, defaultTuning);
      const nextUid = this.#leases.durableNext;
      // Nothing that was derived before is committed any more.
      this.#state = { ...this.#state, commitTs, fence: commitTs, nextUid };
      kv.put(stateKey, encodeState(this.#state));
      return count;
    });
    this.#leases.settleReserved(reserved);
    this.#leases.raiseBound(this.#state.nextUid);
    this.#kept = { first: first.commitTs, last: last.commitTs };
  }

  /** Rows beside all commits. */
  change(patches: readonly MetaPatch[]): void {
    transact(this.#engine, (kv) => {
      const working = new WorkingSet(kv);
      for (const patch of patches) working.apply(patch);
      working.endChange();
      working.flush();
    });
  }

  /** The older state's log goes: subscribers and retries of that store do not come here. */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (let isMore = true; isMore;) {
      isMore = transact(this.#engine, (kv) => {
        const keys: Uint8Array[] = [];
        kv.scan(kindRange(globalStorageId, keyKind.log), (key) => {
          keys.push(key.slice());
          return keys.length < removedAtOnce;
        });
        for (const key of keys) kv.remove(key);
        return keys.length === removedAtOnce;
      });
    }
  }

  #forget(kv: KeyValue): void {
    if (this.#kept === undefined) return;
    for (let ts = this.#kept.first; ts <= this.#kept.last; ts++) kv.remove(logKey(ts));
  }
}
