import type { Cell } from "../graph/reader.ts";
import type { Value } from "../model/value.ts";
import { GuessGuard } from "../passwords/guess-guard.ts";
import { comparePassword } from "../passwords/passwords.ts";
import type { CheckPasswordField } from "../plan/plan.ts";
import type { FieldColumn } from "./frame.ts";
import { slotText, type Run } from "./run.ts";

/** Shorter ones are false without being compared (reference/dql 4.19). */
const passwordBytesMin = 6;

/** Guesses at the passwords of nodes, in this process. */
const guesses = new GuessGuard();

/** Comparisons that a query has under way at once: so many wait for each other before it looks at its time. */
const lanes = 4;

/**
 * checkpwd(): whether each node's password is the one given; false where it has none. Some 50 ms a node: a query that
 * is over its time, or whose sender is gone, compares no more. Throws Fault E_LIMIT before any is compared where a request
 * has too many, and E_LOGIN_WAIT where too many wrong ones were given before.
 */
export async function checkPasswords(
  run: Run,
  field: CheckPasswordField,
  cells: readonly (readonly Cell[] | undefined)[],
): Promise<FieldColumn> {
  const password = slotText(run, field.password);
  // Columns may have holes, which `map` would pass over.
  const values = Array.from(cells, (): Value => ({ kind: "bool", bool: false }));
  if (new TextEncoder().encode(password).length < passwordBytesMin) {
    return { kind: "computed", values };
  }
  const hashes = [...findHashes(cells)];
  run.budget.chargePasswords(hashes.length, run.limits.passwordChecksMax);
  for (let from = 0; from < hashes.length; from += lanes) {
    const compared = hashes.slice(from, from + lanes).map(async ({ row, hash }) => {
      const isRight = await guesses.run(
        hash,
        () => run.clock.tickMs(),
        () => comparePassword(password, hash, run.budget),
      );
      values[row] = { kind: "bool", bool: isRight };
    });
    await Promise.all(compared);
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  return { kind: "computed", values };
}

function* findHashes(
  cells: readonly (readonly Cell[] | undefined)[],
): Iterable<{ readonly row: number; readonly hash: string }> {
  for (const [row, found] of cells.entries()) {
    const value = found?.[0]?.value;
    if (value?.kind === "password") yield { row, hash: value.hash };
  }
}
