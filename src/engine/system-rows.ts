/**
 * Rows of the server itself, beside every namespace: no query sees them, no mutation writes them, no drop reaches them.
 * They are read from the newest state each time, so that what one process wrote holds in all of them at once (a
 * snapshot and a row cost a few microseconds).
 */
import { systemClock } from "../base/clock.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { systemRandom } from "../base/random.ts";
import { globalStorageId, metaKey, prefixRange, readMetaName } from "../codec/key.ts";
import { copyBytes } from "../graph/record.ts";
import { StoreRefusal } from "../store/store.ts";
import type { MetaPatch, Snapshot, Store } from "../store/store.ts";
import { ChangeSender } from "./commits.ts";

/** Names are ASCII, short, and begin with their owner's: `key/…`. */
export interface SystemRows {
  /** The newest committed bytes; undefined where there is no such row. */
  read(name: string): MaybePromise<Uint8Array | undefined>;
  /** Rows whose names begin with `prefix`, in the order of their names. */
  list(prefix: string): MaybePromise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Durable, and seen by every process, when it resolves. `value` undefined removes. False, and nothing is changed, when
   * the row no longer is what `expected` says; "any" writes over whatever is there.
   */
  write(
    name: string,
    value: Uint8Array | undefined,
    expected: Uint8Array | undefined | "any",
  ): Promise<boolean>;
}

/** Of a store that no engine serves: takes a slot of its own, as every process that commits. */
export async function openSystemRows(store: Store): Promise<SystemRows> {
  const { slot, floorTs } = await store.claimSlot();
  const committer = new ChangeSender({
    store,
    clock: systemClock,
    random: systemRandom,
    slot,
    floorTs,
  });
  return makeSystemRows(store, committer);
}

const namePrefix = "own/";

function keyOf(name: string): Uint8Array {
  return metaKey(globalStorageId, namePrefix + name);
}

/** For commits that write a row of the server's own beside what they are about. */
export function ownRowPatch(
  name: string,
  value: Uint8Array | undefined,
  expected: Uint8Array | undefined | "any",
): MetaPatch {
  return { kind: "meta", key: keyOf(name), value, expected };
}

export function makeSystemRows(store: Store, committer: ChangeSender): SystemRows {
  return {
    read: (name) => look(store, (snapshot) => readOwnRow(snapshot, name)),
    list: (prefix) => look(store, (snapshot) => listOwnRows(snapshot, prefix)),
    write: (name, value, expected) =>
      committer.retry(async () => {
        const snapshot = await store.snapshot();
        try {
          await committer.commitRows(snapshot, undefined, [ownRowPatch(name, value, expected)]);
          return true;
        } catch (error) {
          if (error instanceof StoreRefusal && error.reason === "schema") return false;
          throw error;
        } finally {
          snapshot.close();
        }
      }),
  };
}

function look<T>(store: Store, use: (snapshot: Snapshot) => MaybePromise<T>): MaybePromise<T> {
  return andThen(store.snapshot(), (snapshot) => {
    let result: MaybePromise<T>;
    try {
      result = use(snapshot);
    } catch (error) {
      snapshot.close();
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => snapshot.close());
    snapshot.close();
    return result;
  });
}

/** Of one state. */
export function readOwnRow(snapshot: Snapshot, name: string): MaybePromise<Uint8Array | undefined> {
  let bytes: Uint8Array | undefined;
  const read = snapshot.readMany([keyOf(name)], (_, row) => {
    if (row !== undefined) bytes = copyBytes(row);
  });
  return andThen(read, () => bytes);
}

/** Of one state; "" for all. */
export function listOwnRows(
  snapshot: Snapshot,
  prefix: string,
): MaybePromise<ReadonlyMap<string, Uint8Array>> {
  const rows = new Map<string, Uint8Array>();
  const read = snapshot.scan(prefixRange(keyOf(prefix)), (key, row) => {
    rows.set(readMetaName(key).slice(namePrefix.length), copyBytes(row));
    return true;
  });
  return andThen(read, () => rows);
}
