import bcrypt from "bcrypt";
import type { Cell } from "../graph/reader.ts";
import type { Value } from "../model/value.ts";
import type { CheckPasswordField } from "../plan/plan.ts";
import type { FieldColumn } from "./frame.ts";
import { slotText, type Run } from "./run.ts";

/** Shorter ones are false without being compared (dql.md 4.19). */
const passwordBytesMin = 6;

/** checkpwd(): whether each node's password is the one given; false where it has none. */
export async function checkPasswords(
  run: Run,
  field: CheckPasswordField,
  cells: readonly (readonly Cell[] | undefined)[],
): Promise<FieldColumn> {
  const password = slotText(run, field.password);
  const isLongEnough = new TextEncoder().encode(password).length >= passwordBytesMin;
  // bcrypt works on threads of its own, so all nodes are compared at once.
  const values = await Promise.all(
    // Columns may have holes, which `map` would pass over.
    Array.from(cells, async (row): Promise<Value> => {
      const cell = row?.[0];
      if (cell?.value.kind !== "password" || !isLongEnough) return { kind: "bool", bool: false };
      return { kind: "bool", bool: await bcrypt.compare(password, cell.value.hash) };
    }),
  );
  return { kind: "computed", values };
}
