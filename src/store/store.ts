/**
 * The port to storage: a transactional, ordered, snapshot-reading key-value store (reference/storage 1). It may answer
 * at once (embedded) or later (network); it alone decides what is committed. Nothing above `stores/` knows which engine is
 * below. Keys are made by `codec/key.ts`, bytes of records and lists by `codec/record.ts` and `codec/chunk.ts`.
 */
import type { MaybePromise } from "../base/maybe.ts";

/** Commit numbers stay below 2^38: with slot and serial they make a start time of 53 bits. */
export const commitNumberMax = 2 ** 38 - 1;

export interface Store {
  /** The newest committed state, never older than an acknowledged commit of any process of this machine. Close it. */
  snapshot(): MaybePromise<Snapshot>;
  /**
   * Of one of several machines: when it resolves, `snapshot` is not older than anything that was acknowledged anywhere
   * when it was called. Rejects with Fault E_STORE_UNAVAILABLE where that cannot be known soon. Where it is absent,
   * every snapshot is.
   */
  whenCurrent?(): MaybePromise<void>;
  /**
   * Atomic and durable when it resolves. Rejects with StoreRefusal (below) when the store decides against it, with
   * Fault E_STORE_FULL, E_OVERLOADED, E_OUTCOME_UNKNOWN, E_STORE_CORRUPT or E_LIMIT (no commit numbers are left)
   * otherwise.
   */
  commit(change: Change): Promise<CommitResult>;
  /** The first of `count` consecutive uids, never handed out before, never used explicitly before. */
  lease(count: number): Promise<number>;
  /**
   * Sees to it that an explicitly used uid is never handed out, also by a later writer. At once when it already cannot
   * be. A uid far above the lease does not raise it but is passed over when the lease comes there; a later writer
   * knows of it from the commit that uses it.
   */
  reserve(uid: number): MaybePromise<void>;
  /** One slice of filling a building index (below). */
  fill(job: FillJob): Promise<FillResult>;
  /** Clears one slice of what was dropped (below). */
  sweep(request: SweepRequest): Promise<SweepResult>;
  /** Brings rows of another store (below). */
  place(slice: PlacedRows): Promise<void>;
  /** Called after each commit that this process can now see; only wakes, the log is read from a snapshot. */
  onCommit(listener: (commitTs: number) => void): () => void;
  /** Entries of the log after `from` up to the snapshot's number; undefined when the log no longer reaches back. */
  readLog(snapshot: Snapshot, from: number): MaybePromise<readonly Commit[] | undefined>;
  /**
   * What the entries after `from` touched, oldest first, at a fraction of `readLog`'s price. False when the log no longer
   * reaches back: some of it may have been told then.
   */
  walkLog(snapshot: Snapshot, from: number, visitor: TouchVisitor): MaybePromise<boolean>;
  /**
   * A slot for start times (reference/transactions 3), taken by an empty commit; its number is the slot's floor.
   * `onLost`: called once when the process is told that the slot is not its own any more (the writer was gone, and the
   * process did not come back in time). It can commit nothing then, and must hand out nothing.
   */
  claimSlot(onLost?: () => void): Promise<{ readonly slot: number; readonly floorTs: number }>;
  /** Slots with a living process and their floors: a start time of another slot, or below its floor, is aborted. */
  slots(): MaybePromise<ReadonlyMap<number, number>>;
  /** Sizes and counters for health and metrics. */
  describe(): MaybePromise<StoreDescription>;
  close(): Promise<void>;
}

/**
 * One committed state. Bytes lent to a visitor (keys too) die when the visitor returns, or reads anything else; they
 * must not be changed.
 */
export interface Snapshot {
  /** The number of the newest commit that it holds. All numbers of this port are plain commit numbers (38 bits). */
  readonly ts: number;
  /** The number of the newest commit that raised the fence (Change.raisesFence); 0 before the first. */
  readonly fence: number;
  /** Another number for each state of the slots: where it is the same, `slots()` is. */
  readonly slotsVersion: number;
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
  /** `snapshot.fence` of the snapshot that the patches were derived on; an older one than the store's is refused. */
  readonly fence: number;
  /**
   * This commit changes the schema other than by pure additions: its number becomes the store's fence, so that every
   * change derived before it is refused. One fence serves all namespaces: a needless refusal costs one more planning.
   */
  readonly raisesFence?: boolean;
  /**
   * What it brings the log does not tell: with this commit the log begins anew, and one number is left out before it, so
   * that the log reaches back to no state from before. Whoever follows it reads everything again.
   */
  readonly beginsLog?: boolean;
  /** 64-bit fingerprints (as decimal-safe strings of 8 bytes, latin1) that nobody else may have committed after startTs. */
  readonly conflictKeys: readonly string[];
  /** Fingerprints of what decided the patches: committed by someone after basisTs → refusal "basis", derive again. */
  readonly basisKeys: readonly string[];
  /**
   * Fingerprints of nodes: nobody may have committed one of `touched` as `deleted` after startTs, nor one of `deleted` as
   * `touched` (refusal "conflict"). Those who touch one node do not conflict with each other.
   */
  readonly touched?: readonly string[];
  readonly deleted?: readonly string[];
  readonly patches: readonly Patch[];
  /** The facts of the commit with their values before, encoded by `codec/log-entry.ts`. */
  readonly log: Uint8Array;
}

/** Changes are taken only from the process that holds the slot with this floor. */
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
  /** conflict: abort the client. basis: derive again, unseen. fence: plan again. horizon: start time too old. schema: an addition differs from what is stored by now. slot: the change's slot is not the process's (any more). */
  readonly reason: "conflict" | "basis" | "fence" | "horizon" | "schema" | "slot";

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
  /** "" for a single untagged value, the tag for a tagged one, 8 bytes (latin1) of fingerprint for a list element. At most 255 units below 256. */
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

/** Told what commits touched. Bytes are lent for the call; nothing may be read in it. */
export interface TouchVisitor {
  /** Before the patches of a commit, of so many bytes; false passes it over. */
  begin(commitTs: number, bytes: number): boolean;
  /** Whether members of lists are told. */
  readonly wantsMembers: boolean;
  /** A cell or edge; `stays`: the slot or edge was there before and is there still. */
  record(storageId: number, uid: number, predicate: number, stays: boolean): void;
  member(list: Uint8Array, member: number, isAdded: boolean): void;
  meta(): void;
}

/** A patch that changed something, with what was there before (undefined: nothing; of edges and members the facets, empty for none). */
export interface AppliedPatch {
  readonly patch: Patch;
  readonly existed: boolean;
  readonly before: Uint8Array | undefined;
}

interface StoreDescription {
  readonly engine: string;
  readonly commitTs: number;
  readonly maxUid: number;
  readonly bytesUsed: number;
  /** 0 for no bound but the disk, or where it is not known. */
  readonly bytesMax: number;
  /** Rows and pages that this process has found to be damaged. */
  readonly damageCount: number;
}

/**
 * One slice of filling an index that is `building`. Inside one write transaction the writer reads the next `limit`
 * nodes that have `predicate` (its presence list, after `after`), calls the `derive` function that the process was
 * composed with, and applies the patches that it gives. Not logged and without a commit number: no reader uses the
 * index before the commit that makes it `ready`, whose snapshot has all slices. A slice that is done twice does no harm
 * as long as `derive` only adds what is true.
 */
export interface FillJob {
  readonly storageId: number;
  readonly predicate: number;
  /** 0 to begin, then the `after` of the last result. */
  readonly after: number;
  /** Nodes in this slice. 256 keep the writer busy for a few milliseconds. 0: `derive` knows them by `detail`. */
  readonly limit: number;
  /**
   * The commit up to which whoever made `detail` knows what changed. Patches for members that had a change of
   * `predicate` after it are left out; where the log no longer reaches back nothing is applied, and `done` is false.
   */
  readonly basisTs?: number;
  /** What `derive` needs to know; the store does not look into it. */
  readonly detail: Uint8Array;
}

export interface FillResult {
  readonly after: number;
  readonly done: boolean;
  /** For how long the writer was busy with it: who asks for slices makes them so small that nobody waits long. */
  readonly tookMs: number;
}

/**
 * Handed to the adapter by the process that composes (the `stores` module may not know records' meaning). `snapshot`
 * is the state inside the write transaction; its methods answer at once. `uids` are the slice, ascending.
 */
export type Derive = (snapshot: Snapshot, job: FillJob, uids: Float64Array) => readonly Patch[];

/**
 * What a drop leaves behind: ids that are never used again, whose rows go in slices. Repeat until `done`; who keeps
 * the list of retired ids (meta rows) then forgets the id. Not logged and without a commit number.
 */
export type SweepRequest =
  /** Every row of a storage id (drop_all, drop_data, a deleted namespace). */
  | { readonly kind: "storage"; readonly storageId: number; readonly limit: number }
  /** The rows of an index, reverse or count id. */
  | {
      readonly kind: "index";
      readonly storageId: number;
      readonly index: number;
      readonly limit: number;
    }
  /** A predicate's entries in records, its long lists, wide values and presence. */
  | {
      readonly kind: "predicate";
      readonly storageId: number;
      readonly predicate: number;
      readonly limit: number;
    };

export interface SweepResult {
  readonly done: boolean;
}

/**
 * Rows of a storage id that no schema names yet, as another store has them: what a restore brings before the commit that
 * makes them visible. Not logged and without a commit number. Refused as "slot" where the slot is not the process's.
 */
export interface PlacedRows {
  readonly slot: number;
  readonly floorTs: number;
  readonly rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  /** Never handed out from now on, also by a later writer. */
  readonly uids: readonly number[];
}
