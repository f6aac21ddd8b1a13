import type { MaybePromise } from "../base/maybe.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { PredicateUse } from "../plan/plan.ts";
import { verifyCells } from "./lookup.ts";
import type { CellTest } from "./compare.ts";
import type { Run } from "./run.ts";

/**
 * What an index gives for a function: its nodes, or more of them, each to be checked by its values. Price of the check:
 * one read of one predicate of all candidates.
 */
export interface Candidates {
  /** Ascending. */
  readonly uids: UidSet;
  /** undefined: all of them are right. */
  readonly check: { readonly use: PredicateUse; readonly test: CellTest } | undefined;
}

export const noCandidates: Candidates = { uids: emptyUidSet, check: undefined };

/** The index says it all. */
export function exact(uids: UidSet): Candidates {
  return { uids, check: undefined };
}

export function needsRecheck(uids: UidSet, use: PredicateUse, test: CellTest): Candidates {
  return { uids, check: { use, test } };
}

/** Those of a part of the candidates that are right. */
export function checkCandidates(run: Run, found: Candidates): MaybePromise<UidSet> {
  const { uids, check } = found;
  return check === undefined ? uids : verifyCells(run, check.use, check.test, uids);
}
