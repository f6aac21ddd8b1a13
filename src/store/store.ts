/**
 * THE WELL: a transactional, ordered, snapshot-reading key-value store (architecture 3.1). It may answer at once
 * (embedded) or later (network); it alone decides what is committed. Nothing above `stores/` knows which engine is
 * below. Keys are made by `codec/key.ts`, bytes of records and lists by `codec/record.ts` and `codec/chunk.ts`.
 */
import type { MaybePromise } from "../base/maybe.ts";

export interface Store {
  /** The newest committed state, never older than an acknowledged commit of any process. Close it. */
  snapshot(): MaybePromise<Snapshot>;
  /**
   * Atomic and durable when it resolves. Rejects with StoreRefusal (below) when the store decides against it, with
   * Fault E_STORE_FULL, E_OVERLOADED, E_OUTCOME_UNKNOWN or E_STORE_CORRUPT otherwise.
   */
  commit(change: Change): Promise<CommitResult>;
  /** The first of `count` consecutive uids, never handed out before, never used explicitly before. */
  lease(count: number): Promise<number>;
  /** Raises the lease above `uid`, so that an explicitly used uid is never handed out. At once when it already is. */
  reserve(uid: number): MaybePromise<void>;
  /** Called after each commit that this process can now see; only wakes, the log is read from a snapshot. */
  onCommit(listener: (commitTs: number) => void): () => void;
  /** Entries of the log after `from` up to the snapshot's number; undefined when the log no longer reaches back. */
  readLog(snapshot: Snapshot, from: number): MaybePromise<readonly Commit[] | undefined>;
  /** A slot for start times (architecture 4), taken by an empty commit; its number is the slot's floor. */
  claimSlot(): Promise<{ readonly slot: number; readonly floorTs: number }>;
  /** Slots with a living process and their floors: a start time of another slot, or below its floor, is aborted. */
  slots(): MaybePromise<ReadonlyMap<number, number>>;
  /** Sizes and counters for health and metrics. */
  describe(): MaybePromise<StoreDescription>;
  close(): Promise<void>;
}

/** One committed state. Bytes lent to a visitor die when the visitor returns. */
export interface Snapshot {
  /** The number of the newest commit that it holds. */
  readonly ts: number;
  /** `visit(i, bytes)` once per key, in the order of the keys; undefined where there is none. */
  readMany(
    keys: readonly Uint8Array[],
    visit: (i: number, bytes: Uint8Array | undefined) => void,
  ): MaybePromise<void>;
  /** Keys in [start, end), ascending, or descending when `reverse`. `visit` returns false to stop. */
  scan(
    range: ScanRange,
    visit: (key: Uint8Array, bytes: Uint8Array) => boolean,
  ): MaybePromise<void>;
  close(): void;
}

export interface ScanRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly reverse?: boolean;
}

/** What a transaction asks for. */
export interface Change {
  /** Logged with the change, so that a resend after a lost answer is recognised. */
  readonly id: ChangeId;
  /** Conflict keys are judged against it; retries never move it. */
  readonly startTs: number;
  /** The commit number of the snapshot on which the patches were derived; basis keys are judged against it. */
  readonly basisTs: number;
  /** The schema fence that the patches were derived under; an older one than the store's is refused. */
  readonly fence: number;
  /** 64-bit fingerprints (as decimal-safe strings of 8 bytes, latin1) that nobody else may have committed after startTs. */
  readonly conflictKeys: readonly string[];
  /** Fingerprints of what decided the patches: committed by someone after basisTs → refusal "basis", derive again. */
  readonly basisKeys: readonly string[];
  readonly patches: readonly Patch[];
  /** The facts of the commit with their values before, encoded by `codec/log-entry.ts`. */
  readonly log: Uint8Array;
}

export interface ChangeId {
  readonly slot: number;
  readonly floorTs: number;
  readonly sequence: number;
}

export interface CommitResult {
  readonly commitTs: number;
}

/** The store decided against a change. The caller acts on `reason`. */
export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
  /** conflict: abort the client. basis: derive again, unseen. fence: plan again. horizon: start time too old. schema: an addition differs from what is stored by now. */
  readonly reason: "conflict" | "basis" | "fence" | "horizon" | "schema";

  constructor(reason: StoreRefusal["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * One storable step. The store finds the part or chunk, splits it, keeps heads, presence and count lists, and logs
 * what changed with what was there before. Patches of one group to one chunk are applied together, the last wins.
 */
export type Patch = CellPatch | EdgePatch | MemberPatch | MetaPatch;

/** Sets (or with undefined removes) one scalar slot of a record. */
export interface CellPatch {
  readonly kind: "cell";
  readonly storageId: number;
  readonly uid: number;
  readonly predicate: number;
  /** "" for a single untagged value, the tag for a tagged one, 8 bytes (latin1) of fingerprint for a list element. */
  readonly slot: string;
  /** An encoded cell (`codec/cell.ts`); undefined removes the slot. */
  readonly cell: Uint8Array | undefined;
  /** An index id whose count list follows the number of slots; 0 for none. */
  readonly countIndex: number;
}

/** Adds (or removes) one edge of a node. The store decides whether the list is short (in the record) or long. */
export interface EdgePatch {
  readonly kind: "edge";
  readonly storageId: number;
  readonly uid: number;
  readonly predicate: number;
  readonly target: number;
  readonly add: boolean;
  /** Encoded facets; an added edge that exists gets these instead of its own. */
  readonly facets: Uint8Array | undefined;
  readonly countIndex: number;
}

/** Adds (or removes) one member of an index or reverse list. */
export interface MemberPatch {
  readonly kind: "member";
  /** The list's key prefix, `codec/key.ts`. */
  readonly list: Uint8Array;
  readonly member: number;
  readonly add: boolean;
  readonly facets: Uint8Array | undefined;
  /** For reverse lists with @count: the count list's index id and the node that owns the list; 0 for none. */
  readonly countIndex: number;
  readonly owner: number;
}

/** Writes (or with undefined removes) a meta row, whole. `expected`: its bytes now, else refusal "schema". */
export interface MetaPatch {
  readonly kind: "meta";
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
  readonly expected: Uint8Array | undefined | "any";
}

/** An entry of the log: what a commit did, for undo, caches, subscriptions and the change feed. */
export interface Commit {
  readonly commitTs: number;
  readonly id: ChangeId;
  readonly log: Uint8Array;
  readonly applied: readonly AppliedPatch[];
}

/** A patch that changed something, with what was there before (undefined: nothing; of edges and members the facets, empty for none). */
export interface AppliedPatch {
  readonly patch: Patch;
  readonly existed: boolean;
  readonly before: Uint8Array | undefined;
}

export interface StoreDescription {
  readonly engine: string;
  readonly commitTs: number;
  readonly maxUid: number;
  readonly bytesUsed: number;
  readonly bytesMax: number;
}
