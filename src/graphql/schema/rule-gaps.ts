/**
 * Operations that a type leaves open although it has rules for others: everybody may do them (reference/graphql 6.4),
 * which is seldom what was meant. Whoever may not read a node can still change it, and learn from how many nodes a
 * change met what it holds.
 */
import { Fault } from "../../model/fault.ts";
import type { CompiledSchema, NodeType, RuleOperation, TypeRules } from "./compiled-schema.ts";

const operations: readonly RuleOperation[] = ["query", "add", "update", "delete"];

/** A sentence for each type with such operations, in the order of the types' names. */
export function findRuleGaps({ rules }: CompiledSchema): readonly string[] {
  if (rules === undefined) return [];
  const gaps: string[] = [];
  for (const [type, own] of rules.byType) {
    const open = openOperations(type, own);
    if (open.length === 0) continue;
    gaps.push(
      `Type ${type.name}; @auth has rules, but none for ${open.join(", ")}: everybody may do that to all of its nodes.`,
    );
  }
  return gaps.sort();
}

function openOperations(type: NodeType, rules: TypeRules): readonly RuleOperation[] {
  const wanted: readonly RuleOperation[] =
    type.node.secret === undefined ? operations : [...operations, "password"];
  const given = wanted.filter((operation) => rules[operation] !== undefined);
  return given.length === 0 ? [] : wanted.filter((operation) => !given.includes(operation));
}

/** `--graphql strict-rules`: throws Fault E_GRAPHQL_SCHEMA where there are any. */
export function refuseRuleGaps(gaps: readonly string[]): void {
  if (gaps.length === 0) return;
  const lines = gaps.map((gap) => `input: ${gap} (--graphql strict-rules)`);
  throw new Fault("E_GRAPHQL_SCHEMA", `${lines.join("\n")}\n`);
}
