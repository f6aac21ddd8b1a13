/** The port in memory: for tests, and for the library mode without a directory. Nothing outlives the process. */
import { systemClock, type Clock } from "../base/clock.ts";
import type { Derive, Snapshot, Store } from "../store/store.ts";
import type { Tuning } from "./apply/tuning.ts";
import { Committer } from "./commit/committer.ts";
import type { LogRetention } from "./commit/log-tail.ts";
import { decodeState, stateKey } from "./commit/state.ts";
import type { Pieces, Prepared, WriteEngine } from "./key-value.ts";
import { readLog, walkLog } from "./read-log.ts";
import { getFromTree, makeTree, scanTree, TreeWriter, type TreeRoot } from "./memory-tree.ts";

interface MemoryStoreOptions {
  readonly clock?: Clock;
  /** Needed for `fill`. */
  readonly derive?: Derive;
  readonly retention?: LogRetention;
  /** Sizes of chunks and parts; tests make them tiny. */
  readonly tuning?: Tuning;
  readonly queueMax?: number;
}

class MemoryEngine implements WriteEngine {
  root: TreeRoot = makeTree();

  *prepare<T>(work: (kv: TreeWriter) => Pieces<T>): Pieces<Prepared<T>> {
    const writer = new TreeWriter(this.root);
    const value = yield* work(writer);
    const commitNow = (): void => {
      this.root = writer.root;
    };
    return { value, commit: async () => commitNow(), commitNow };
  }
}

export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  const engine = new MemoryEngine();
  const committer = new Committer(engine, { ...options, clock: options.clock ?? systemClock });
  return {
    snapshot: () => snapshotOf(engine.root),
    commit: (change) => committer.commit(change),
    lease: (count) => committer.lease(count),
    reserve: (uid) => committer.reserve(uid),
    fill: (job) => committer.fill(job),
    sweep: (request) => committer.sweep(request),
    place: (slice) => committer.place(slice),
    onCommit: (listener) => committer.onCommit(listener),
    readLog,
    walkLog,
    claimSlot: () => committer.slots.claim(true),
    slots: () => committer.slots.floors(),
    describe: () => ({
      engine: "memory",
      commitTs: committer.commitTs,
      maxUid: committer.nextUid - 1,
      bytesUsed: 0,
      bytesMax: 0,
      damageCount: 0,
    }),
    close: async () => committer.stop("closed"),
  };
}

function snapshotOf(root: TreeRoot): Snapshot {
  const state = decodeState(getFromTree(root, stateKey));
  return {
    ts: state.commitTs,
    fence: state.fence,
    slotsVersion: state.slotsVersion,
    readMany(keys, visit) {
      for (const [i, key] of keys.entries()) visit(i, getFromTree(root, key));
    },
    scan: (range, visit) => scanTree(root, range, visit),
    close() {},
  };
}
