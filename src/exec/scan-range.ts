/** The members of a range of tokens, as inequalities ask for them. */
import type { TokenRange } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type { CompareOperator } from "../plan/plan.ts";
import { isSameToken } from "./index-tokens.ts";
import { joinLists } from "./lookup.ts";
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
  await scanYielding(run, index, range, (token, uids) => {
    if (excluded !== undefined && isSameToken(token, excluded)) return true;
    runs.push(uids.slice());
    run.budget.chargeBytes(runBytes + uids.length * 16);
    return true;
  });
  const [only] = runs;
  return runs.length === 1 && only !== undefined ? only : joinLists(run, runs);
}

/** Scans include both ends; lt and gt leave the bound's own token out. */
export function excludedToken(
  { operator }: { readonly operator: CompareOperator },
  range: TokenRange,
): Uint8Array | undefined {
  if (operator === "gt") return range.from;
  return operator === "lt" ? range.to : undefined;
}
