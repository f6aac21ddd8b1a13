/**
 * Operations that a type leaves open although it has rules for others: everybody may do them (reference/graphql 6.4),
 * which is seldom what was meant. Whoever may not read a node can still change it, and learn from how many nodes a
 * change met what it holds. And types without rules that the rules of others go by: everybody may change what decides.
 */
import { Fault } from "../../model/fault.ts";
import type {
  CompiledSchema,
  FieldDefinition,
  NamedType,
  NodeType,
  RuleOperation,
  RootField,
  TypeRules,
} from "./compiled-schema.ts";
import { readsOfRule } from "./rule-reads.ts";

const operations: readonly RuleOperation[] = ["query", "add", "update", "delete"];

/** A sentence for each type with such operations, or that decides unguarded, in the order of the types' names. */
export function findRuleGaps(schema: CompiledSchema): readonly string[] {
  const { rules } = schema;
  if (rules === undefined) return [];
  const gaps: string[] = [];
  for (const [type, own] of rules.byType) {
    const open = openOperations(type, own);
    if (open.length === 0) continue;
    gaps.push(
      `Type ${type.name}; @auth has rules, but none for ${open.join(", ")}: everybody may do that to all of its nodes.`,
    );
  }
  for (const [type, { fields, readers }] of findUnguarded(schema)) {
    const names = [...fields].sort().join(", ");
    gaps.push(
      `Type ${type.name}; it has no rules, and those of ${[...readers].sort().join(", ")} go by its ${names}: everybody may change what they go by.`,
    );
  }
  return gaps.sort();
}

interface Unguarded {
  readonly fields: Set<string>;
  /** Types whose rules read them. */
  readonly readers: Set<string>;
}

/** Types that anybody may update, and by whose fields the rules of others decide. */
function findUnguarded(schema: CompiledSchema): ReadonlyMap<NodeType, Unguarded> {
  const found = new Map<NodeType, Unguarded>();
  for (const [reader, own] of schema.rules?.byType ?? [])
    for (const rule of Object.values(own))
      for (const { of, field } of readsOfRule(rule))
        for (const type of nodesOf(of)) {
          if (schema.rules?.byType.has(type) === true || !isChangeable(schema, type, field))
            continue;
          let entry = found.get(type);
          if (entry === undefined) found.set(type, (entry = { fields: new Set(), readers: new Set() })); // prettier-ignore
          entry.fields.add(field.name);
          entry.readers.add(reader.name);
        }
  return found;
}

function nodesOf(type: NamedType): readonly NodeType[] {
  const own = type.kind === "object" || type.kind === "interface" ? [type] : [];
  const members = type.kind === "union" ? type.members : [];
  const below = type.kind === "interface" ? type.implementors : members;
  return (below.length > 0 ? below : own).filter((one): one is NodeType => one.node !== undefined);
}

/** Whether a mutation changes the field of nodes that are there: the type's own, or one from the edge's other side. */
function isChangeable(
  schema: CompiledSchema,
  type: NodeType,
  { source }: FieldDefinition,
): boolean {
  if (source.kind !== "value" && source.kind !== "edge") return false;
  const isReverse = source.kind === "edge" && source.isReverse;
  if (!isReverse && canUpdate(schema, type)) return true;
  if (source.kind !== "edge" || (source.inverse === undefined && !isReverse)) return false;
  return nodesOf(source.target).some((other) => canAdd(schema, other) || canUpdate(schema, other));
}

function canUpdate(schema: CompiledSchema, type: NodeType): boolean {
  const named = type.kind === "object" ? [type, ...type.interfaces] : [type];
  return isMutated(
    schema,
    ({ kind, of, arguments: given }) =>
      (kind === "update" && named.some((one) => one === of)) ||
      (kind === "add" && of === type && given.has("upsert")),
  );
}

function canAdd(schema: CompiledSchema, type: NodeType): boolean {
  return isMutated(schema, ({ kind, of }) => kind === "add" && of === type);
}

function isMutated(schema: CompiledSchema, does: (root: RootField) => boolean): boolean {
  return [...schema.mutations.values()].some(does);
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
