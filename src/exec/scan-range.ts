/** The members of a range of tokens, as inequalities ask for them. */
import { sortUnique } from "../base/sorted.ts";
import type { TokenRange } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type { CompareOperator } from "../plan/plan.ts";
import { isSameToken } from "./index-tokens.ts";
import type { Run } from "./run.ts";
import { scanYielding } from "./yielding-scan.ts";

/** A set of its own, beside its members. */
const runBytes = 160;

/** All members of a range of tokens but `excluded`. */
export async function scanRange(
  run: Run,
  index: number,
  range: TokenRange,
  excluded?: Uint8Array,
): Promise<UidSet> {
  const runs: UidSet[] = [];
  let length = 0;
  await scanYielding(run, index, range, (token, uids) => {
    if (excluded !== undefined && isSameToken(token, excluded)) return true;
    runs.push(uids.slice());
    length += uids.length;
    run.budget.chargeBytes(runBytes + uids.length * 16);
    return true;
  });
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) return only;
  const all = new Float64Array(length);
  let at = 0;
  for (const set of runs) {
    all.set(set, at);
    at += set.length;
  }
  return sortUnique(all);
}

/** Scans include both ends; lt and gt leave the bound's own token out. */
export function excludedToken(
  { operator }: { readonly operator: CompareOperator },
  range: TokenRange,
): Uint8Array | undefined {
  if (operator === "gt") return range.from;
  return operator === "lt" ? range.to : undefined;
}
