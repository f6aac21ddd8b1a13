/**
 * Adapters of the port: engines that keep ordered keys and values, and the rules that every one of them shares. In:
 * changes made of patches. Out: commits, snapshots. Never here: what a record or a token means.
 *
 * This file is what an engine shows to the shared rules inside of one write transaction.
 */
import type { ScanRange, Snapshot } from "../store/store.ts";

export interface KeyValue {
  /** Lent until the next call. */
  get(key: Uint8Array): Uint8Array | undefined;
  /**
   * Key and value are given away: not changed afterwards. Where a list's head stands (`codec/chunk.ts`), another form
   * of row is put only after `remove`.
   */
  put(key: Uint8Array, value: Uint8Array): void;
  remove(key: Uint8Array): void;
  /** As Snapshot.scan. `visit` must not write. */
  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void;
}

/** Work that is cut into pieces: between two of them the process may do other things. */
export type Pieces<T> = Generator<void, T, void>;

export interface WriteEngine {
  /**
   * Whether what makes a transaction durable is another machine's to say: the second step takes its time, and
   * `commitNow` is not to be called of a transaction that has put something.
   */
  readonly isShipped?: boolean;
  /**
   * A write transaction in two steps. `work` is run on the newest state, piece by piece; nothing of it is visible, and
   * no other transaction may be prepared, before the second step. Throws what `work` throws: then nothing stays. Who does
   * not go on with the pieces ends them with `throw`.
   */
  prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>>;
}

/** One of the two ends it. When they fail, nothing of the transaction stays. */
export interface Prepared<T> {
  readonly value: T;
  /**
   * Resolves when all of it is durable and visible. `keys`: asked for where it is shipped; what the machines that follow
   * have to know of it to judge what comes later.
   */
  commit(keys?: () => Uint8Array): Promise<void>;
  /** All of it is durable and visible when this returns. May be called while `commit` is under way. */
  commitNow(): void;
}

/** The engine cannot go on: the writer ends. */
export class FatalEngineError extends Error {
  override readonly name = "FatalEngineError";
}

/** Both steps at once. */
export function transact<T>(engine: WriteEngine, work: (kv: KeyValue) => T): T {
  const prepared = prepareNow(engine, work);
  prepared.commitNow();
  return prepared.value;
}

/** The first step at once. */
export function prepareNow<T>(engine: WriteEngine, work: (kv: KeyValue) => T): Prepared<T> {
  return finishPieces(engine.prepare((kv) => inOnePiece(kv, work)));
}

/** All pieces that are left, before it returns. */
export function finishPieces<T>(pieces: Pieces<T>): T {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
  }
}

function* inOnePiece<T>(kv: KeyValue, work: (kv: KeyValue) => T): Pieces<T> {
  const value = work(kv);
  yield;
  return value;
}

/** The state inside a write transaction, read as a snapshot is. */
export function viewAsSnapshot(
  kv: KeyValue,
  state: Pick<Snapshot, "ts" | "fence" | "slotsVersion">,
): Snapshot {
  return {
    ts: state.ts,
    fence: state.fence,
    slotsVersion: state.slotsVersion,
    readMany(keys, visit) {
      for (const [i, key] of keys.entries()) visit(i, kv.get(key));
    },
    scan: (range, visit) => kv.scan(range, visit),
    close() {},
  };
}
