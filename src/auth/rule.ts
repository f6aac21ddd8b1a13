/** Rules of `@auth` as a tree, and what is left of one for a caller (reference/graphql 6.3). */
import { holdsRole } from "./role-rule.ts";
import type { RoleRule } from "./role-rule.ts";
import type { Claims } from "./token.ts";

/** `G` is a rule about the graph. */
export type Rule<G> =
  | { readonly kind: "and" | "or"; readonly rules: readonly Rule<G>[] }
  | { readonly kind: "not"; readonly rule: Rule<G> }
  | { readonly kind: "role"; readonly role: RoleRule }
  | { readonly kind: "graph"; readonly graph: G };

/** What the caller's claims leave open: nothing, or a condition on nodes. */
export type Decision<G> =
  | boolean
  | { readonly kind: "and" | "or"; readonly rules: readonly Condition<G>[] }
  | { readonly kind: "not"; readonly rule: Condition<G> }
  | { readonly kind: "graph"; readonly graph: G };

export type Condition<G> = Exclude<Decision<G>, boolean>;

/**
 * A rule with the claims of a caller. `canAsk` tells whether the claims have all that a graph rule needs; a rule
 * that cannot be asked counts against the caller, below `not` too: it is false in a positive place, and true in a
 * negated one.
 */
export function decide<G>(
  rule: Rule<G>,
  claims: Claims,
  canAsk: (graph: G) => boolean,
): Decision<G> {
  return decideIn(rule, claims, canAsk, false);
}

function decideIn<G>(
  rule: Rule<G>,
  claims: Claims,
  canAsk: (graph: G) => boolean,
  isNegated: boolean,
): Decision<G> {
  switch (rule.kind) {
    case "role":
      return holdsRole(rule.role, claims);
    case "graph":
      return canAsk(rule.graph) ? rule : isNegated;
    case "not": {
      const inner = decideIn(rule.rule, claims, canAsk, !isNegated);
      return typeof inner === "boolean" ? !inner : { kind: "not", rule: inner };
    }
    default:
      return join(
        rule.kind,
        rule.rules.map((member) => decideIn(member, claims, canAsk, isNegated)),
      );
  }
}

/** A conjunction ends with the first false, a disjunction with the first true; the rest is what remains open. */
function join<G>(kind: "and" | "or", parts: readonly Decision<G>[]): Decision<G> {
  const ending = kind === "or";
  const open: Condition<G>[] = [];
  for (const part of parts) {
    if (part === ending) return ending;
    if (typeof part !== "boolean") open.push(part);
  }
  const [only] = open;
  if (only === undefined) return !ending;
  return open.length === 1 ? only : { kind, rules: open };
}
