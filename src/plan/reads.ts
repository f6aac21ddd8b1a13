import type { Plan } from "./plan.ts";

/**
 * Ids of the predicates that decide the plan's answer: while none of them changes, and the schema stays, the answer
 * stays. Undefined where the data decide what is read (`expand`). A plan names whatever it reads under `predicate`,
 * so the plan is walked as it is, and a part that is added to it later is found without being listed here.
 */
export function findReads(plan: Plan): ReadonlySet<number> | undefined {
  const ids = new Set<number>();
  const open: unknown[] = [...plan.blocks];
  // The level of a recursion is its own descendant.
  const seen = new Set<unknown>();
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (seen.has(part)) continue;
    seen.add(part);
    if (Array.isArray(part)) {
      for (const inner of part) if (isPart(inner)) open.push(inner);
      continue;
    }
    for (const [name, inner] of Object.entries(part as object)) {
      if (name === "kind" && inner === "expand") return undefined;
      if (!isPart(inner)) continue;
      if (name === "predicate") ids.add((inner as { readonly id: number }).id);
      else open.push(inner);
    }
  }
  return ids;
}

function isPart(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
