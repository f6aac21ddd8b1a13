/** What one transaction does with a group of changes: each is judged and applied, then all are logged. */
import { must } from "../../base/assert.ts";
import { StoreRefusal, type Change, type Commit, type Patch } from "../../store/store.ts";
import type { Tuning } from "../apply/tuning.ts";
import { WorkingSet } from "../apply/working-set.ts";
import { FatalEngineError, type KeyValue, type Pieces } from "../key-value.ts";
import type { Waiting } from "./change-queue.ts";
import type { StarvationGuard } from "./starvation-guard.ts";
import { noteKeys, type GroupKeys, type ConflictChecker } from "./conflict-checker.ts";
import type { LogTail } from "./log-tail.ts";
import { refuseNumber } from "./number-limit.ts";
import type { SlotTable } from "./slot-table.ts";
import { encodeState, stateKey, type StoreState } from "./state.ts";
import type { UidLease } from "./uid-lease.ts";

/** What came of one change in one try of its group. */
type Verdict =
  | { readonly kind: "committed"; readonly commitTs: number }
  | { readonly kind: "refused"; readonly error: unknown }
  | { readonly kind: "held" };

export interface Outcome {
  /** One for each change of the group. */
  readonly verdicts: readonly Verdict[];
  readonly state: StoreState;
  readonly keys: GroupKeys;
  /** Moves what is kept in memory; when the transaction is durable. */
  readonly settle: () => void;
}

/** Thrown out of a transaction: one change of the group cannot be applied. */
export class BadChange extends Error {
  /** Its place in the group. */
  readonly at: number;

  constructor(at: number, cause: unknown) {
    super("a change cannot be applied", { cause });
    this.at = at;
  }
}

/** What a group is applied with. */
interface GroupHost {
  readonly tuning: Tuning;
  readonly state: StoreState;
  readonly checker: ConflictChecker;
  readonly starvationGuard: StarvationGuard;
  readonly log: LogTail;
  readonly leases: UidLease;
  readonly slots: SlotTable;
}

/** Patches of a piece: some hundred microseconds. */
const patchesInPiece = 128;

/** One try, inside of the transaction. Throws BadChange for a change that cannot be applied. */
export function* applyGroup(
  kv: KeyValue,
  host: GroupHost,
  group: readonly Waiting[],
): Pieces<Outcome> {
  const { checker, starvationGuard, slots, leases } = host;
  const working = new WorkingSet(kv, host.tuning);
  const keys = checker.beginGroup();
  const commits: Commit[] = [];
  const verdicts: Verdict[] = [];
  let { commitTs, fence } = host.state;
  let left = patchesInPiece;
  for (let i = 0; i < group.length; i++) {
    const { change } = must(group[i], "within bounds");
    if (starvationGuard.holdsBack(change)) {
      verdicts.push({ kind: "held" });
      continue;
    }
    const refusal = slots.admits(change.id)
      ? (checker.checker(change, fence, kv, keys) ?? refuseNumber(commitTs, change))
      : new StoreRefusal("slot");
    if (refusal !== undefined) {
      verdicts.push({ kind: "refused", error: refusal });
      continue;
    }
    commitTs += change.beginsLog === true ? 2 : 1;
    try {
      for (let from = 0; from < change.patches.length;) {
        const end = applySome(working, leases, change, from, left);
        left -= end - from;
        from = end;
        if (left > 0) continue;
        left = patchesInPiece;
        yield;
      }
      const applied = working.endChange();
      commits.push({ commitTs, id: change.id, log: change.log, applied });
    } catch (error) {
      throw error instanceof FatalEngineError ? error : new BadChange(i, error);
    }
    if (change.raisesFence === true) fence = commitTs;
    noteKeys(keys, change, commitTs);
    verdicts.push({ kind: "committed", commitTs });
  }
  if (commits.length === 0) return { verdicts, state: host.state, keys, settle: () => {} };
  yield* working.flushInPieces();
  // It is alone in its group.
  const beginsLog = group[0]?.change.beginsLog === true;
  const { state, settle } = yield* writeCommits(kv, host, commits, { commitTs, fence, beginsLog });
  return { verdicts, state, keys, settle };
}

/**
 * Applies up to `count` patches of a change; the place of the first that is left. Hot, and a function of its own: loops
 * of a generator are compiled late, and each of their steps makes an object meanwhile.
 */
function applySome(
  working: WorkingSet,
  leases: UidLease,
  { patches }: Change,
  from: number,
  count: number,
): number {
  const end = Math.min(patches.length, from + count);
  for (let i = from; i < end; i++) {
    const patch = must(patches[i], "within bounds");
    working.apply(patch);
    reserveUids(patch, leases);
  }
  return end;
}

/**
 * Whoever wrote the patch has leased its uids, or asked to reserve them; but perhaps of a writer that is gone and never
 * wrote it down. They are set aside on disk by the commit that uses them.
 */
export function reserveUids(patch: Patch, leases: UidLease): void {
  switch (patch.kind) {
    case "edge":
      if (patch.target >= leases.nextUid) leases.reserve(patch.target);
      if (patch.uid >= leases.nextUid) leases.reserve(patch.uid);
      return;
    case "cell":
      if (patch.uid >= leases.nextUid) leases.reserve(patch.uid);
      return;
    case "member":
    case "meta":
  }
}

/** The log's rows and the store's state behind the changes. */
function* writeCommits(
  kv: KeyValue,
  { log, leases, tuning, state: before }: GroupHost,
  commits: readonly Commit[],
  {
    beginsLog,
    ...newest
  }: Pick<StoreState, "commitTs" | "fence"> & { readonly beginsLog: boolean },
): Pieces<Pick<Outcome, "state" | "settle">> {
  const added = yield* log.write(kv, commits);
  const trimmed = beginsLog ? log.clear(kv) : log.trim(kv, added);
  const reserved = leases.writeReserved(kv, tuning);
  const state = { ...before, ...newest, nextUid: leases.durableNext };
  kv.put(stateKey, encodeState(state));
  const settle = (): void => {
    log.settle(added, trimmed);
    leases.settleReserved(reserved);
    leases.raiseBound(state.nextUid);
  };
  return { state, settle };
}
