/** What the groups of a user may do with each predicate, merged (reference/graphql 11.3). */
import { createHash } from "node:crypto";
import { secretPredicate, type PredicateAccess } from "../model/principal.ts";

export interface PredicateRule {
  readonly predicate: string;
  /** Bits: 4 read, 2 write, 1 modify. */
  readonly permission: number;
}

const readBit = 4;
const writeBit = 2;
const modifyBit = 1;
const everyBit = 7;

/** A rule for this name is one for every predicate. */
const everyPredicate = "dgraph.all";

/** Users, groups and rules: for guardians alone, whatever a rule says. */
const ofGuardians: ReadonlySet<string> = new Set([
  "dgraph.xid",
  "dgraph.password",
  "dgraph.user.group",
  "dgraph.acl.rule",
  "dgraph.rule.predicate",
  "dgraph.rule.permission",
]);

/**
 * The text of the GraphQL schema may hold the secret that tokens are signed with: only a rule that names its predicate
 * lets a user read it. The union of all rules: one of 0 takes nothing away. A permission that is no sum of the three bits gives none. `~p` is
 * read by a rule of its own.
 */
export function mergeRules(rules: Iterable<PredicateRule>): PredicateAccess {
  const bits = new Map<string, number>();
  for (const { predicate, permission } of rules) {
    if (!Number.isInteger(permission) || permission < 1 || permission > everyBit) continue;
    bits.set(predicate, (bits.get(predicate) ?? 0) | permission);
  }
  const general = bits.get(everyPredicate) ?? 0;
  const may = (predicate: string, bit: number): boolean => {
    const own = bits.get(predicate) ?? 0;
    const granted = predicate === secretPredicate ? own : general | own;
    return (granted & bit) !== 0 && !isOfGuardians(predicate);
  };
  return {
    key: keyOf(bits),
    mayRead: (predicate) => may(predicate, readBit),
    mayWrite: (predicate) => may(predicate, writeBit),
    mayModify: (predicate) => may(predicate, modifyBit),
  };
}

function isOfGuardians(predicate: string): boolean {
  return ofGuardians.has(predicate.startsWith("~") ? predicate.slice(1) : predicate);
}

/** Of constant length however many the rules. */
function keyOf(bits: ReadonlyMap<string, number>): string {
  const sorted = [...bits].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("base64");
}
