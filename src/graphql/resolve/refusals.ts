/** Why rules of `@auth` refuse a request, for who develops a schema. Clients are never told. */
import type { Rule } from "../../auth/rule.ts";
import type {
  CompiledSchema,
  GraphRule,
  NamedType,
  NodeType,
  RuleOperation,
} from "../schema/compiled-schema.ts";
import type { OperationRun } from "../operation/cache.ts";
import { isNode } from "../operation/meta.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { Caller } from "./caller.ts";
import { rootFieldOf } from "./query-root.ts";

export interface RuleRefusal {
  /** Empty where the token itself is not believed. */
  readonly type: string;
  readonly operation: RuleOperation | "any";
  /** As the schema has it, on one line; undefined where none is to blame. */
  readonly rule: string | undefined;
  /** Of the rule in the schema. */
  readonly line: number | undefined;
  readonly why: string;
}

export type TellRefusal = (refusal: RuleRefusal) => void;

/** What a write was refused for. `isWhole`: no node of the type could pass, by the claims alone. */
export interface RefusedNodes {
  readonly type: NamedType;
  readonly operation: RuleOperation;
  readonly isWhole: boolean;
}

/**
 * Of an operation before it runs: types of which the caller can see or change no node at all. What a new node is
 * refused for is known when it is written (`explainNodes`).
 */
export function explainOperation(
  schema: CompiledSchema,
  run: OperationRun,
  caller: Caller,
  tell: TellRefusal,
): void {
  if (caller.refusal !== undefined && schema.rules !== undefined) {
    tell({ type: "", operation: "any", rule: undefined, line: undefined, why: caller.refusal });
    return;
  }
  const { guard } = caller;
  if (guard === undefined) return;
  const seen = new Set<string>();
  const judge = (type: NamedType, operation: RuleOperation): void => {
    const key = `${operation} ${type.name}`;
    if (seen.has(key) || !guard.denies(type, operation)) return;
    seen.add(key);
    tell(explainNodes(schema, caller, { type, operation, isWhole: true }));
  };
  const visit = ({ selection }: SelectedField): void => {
    if (selection === undefined) return;
    judge(selection.type, "query");
    for (const field of selection.fields) visit(field);
  };
  for (const field of run.roots) {
    const root = rootFieldOf(schema, run.node.operation, field.definition);
    if (root?.kind === "update" || root?.kind === "delete") {
      if (root.of !== undefined) judge(root.of, root.kind);
    }
    if (root?.kind === "checkPassword" && root.of !== undefined) judge(root.of, "password");
    if (root !== undefined) visit(field);
  }
}

export function explainNodes(
  schema: CompiledSchema,
  { claims }: Caller,
  { type, operation, isWhole }: RefusedNodes,
): RuleRefusal {
  const owner = isNode(type) ? ownerOf(type, operation) : undefined;
  const written = owner?.node.auth?.rules[operation];
  const compiled = isNode(type) ? schema.rules?.byType.get(type)?.[operation] : undefined;
  const asked = compiled === undefined ? [] : claimsOf(compiled);
  const missing = asked.filter((name) => claims?.get(name) === undefined);
  const found = claims === undefined ? [] : [...claims.keys()];
  const lacks = `the rule asks for ${missing.join(", ")}, and ${
    found.length === 0 ? "the request has no token" : `the token has ${found.join(", ")}`
  }`;
  const nodes = isWhole ? "the claims of the token do not fulfil it" : "a node does not fulfil it";
  return {
    type: type.name,
    operation,
    rule: written?.loc?.source.body
      .slice(written.loc.start, written.loc.end)
      .replaceAll(/\s+/g, " "),
    line: written?.loc?.startToken.line,
    why: missing.length > 0 ? lacks : nodes,
  };
}

/** Whose rule it is: the type's, or that of an interface. */
function ownerOf(type: NodeType, operation: RuleOperation): NodeType | undefined {
  if (type.node.auth?.rules[operation] !== undefined) return type;
  const above = type.kind === "object" ? type.interfaces : [];
  return above.find((one) => isNode(one) && one.node.auth?.rules[operation] !== undefined) as
    NodeType | undefined;
}

function claimsOf(rule: Rule<GraphRule>): readonly string[] {
  switch (rule.kind) {
    case "role":
      return [rule.role.variable];
    case "graph":
      return rule.graph.variables.map(({ name }) => name);
    case "not":
      return claimsOf(rule.rule);
    default:
      return [...new Set(rule.rules.flatMap((one) => claimsOf(one)))];
  }
}
