/**
 * `@onDelete`: what becomes of nodes that refer to deleted ones, judged in the transaction that deletes, on what is
 * stored and not on what the caller sees. A link that another transaction adds meanwhile conflicts with the deletion.
 */
import { must } from "../../base/assert.ts";
import type { Reader } from "../../graph/reader.ts";
import { printUid } from "../../model/uid.ts";
import type { CompiledSchema, FieldDefinition, NodeType } from "../schema/compiled-schema.ts";
import { refOf } from "./mutation-edges.ts";
import type { FactList } from "./mutation-facts.ts";
import { findOfType, requireAll } from "./mutation-permitted.ts";
import { MutationRefused } from "./mutation-refused.ts";
import { chargeNodes, type MutationStage } from "./mutation-stage.ts";

type OnDelete = NonNullable<FieldDefinition["directives"]["onDelete"]>;

/** What a field says of the nodes that have it. */
export interface DeletionRule {
  readonly type: NodeType;
  readonly field: string;
  readonly predicate: string;
  readonly action: NonNullable<OnDelete["action"]>;
}

const rulesBySchema = new WeakMap<CompiledSchema, readonly DeletionRule[]>();

/** Each once: what implementing types have of an interface is the interface's. */
export function deletionRulesOf(schema: CompiledSchema): readonly DeletionRule[] {
  let rules = rulesBySchema.get(schema);
  if (rules === undefined) rulesBySchema.set(schema, (rules = [...listRules(schema)]));
  return rules;
}

function* listRules({ nodes }: CompiledSchema): Generator<DeletionRule> {
  for (const type of nodes) {
    for (const { name, source, directives } of type.fields.values()) {
      const action = directives.onDelete?.action;
      if (action === undefined || source.kind !== "edge" || source.declaredIn !== type.name)
        continue;
      yield { type, field: name, predicate: source.predicate, action };
    }
  }
}

/** What is deleted, with what follows from that: the nodes by the type under which each was found. */
type Deletion = ReadonlyMap<NodeType, readonly number[]>;

/**
 * Adds what CASCADE deletes along, and refuses what RESTRICT does. `rules`: of the schema. Throws MutationRefused, and
 * what the budget throws.
 */
export async function spreadDeletion(
  stage: MutationStage,
  rules: readonly DeletionRule[],
  uids: readonly number[],
): Promise<Deletion> {
  const deletion = new Map<NodeType, number[]>([[stage.type, [...uids]]]);
  if (rules.length === 0 || uids.length === 0) return deletion;
  const deleted = new Set(uids);
  const cascades = rules.filter(({ action }) => action === "CASCADE");
  for (let fresh = uids; fresh.length > 0 && cascades.length > 0;) {
    const next: number[] = [];
    for (const [rule, nodes] of await findReferrers(stage, cascades, fresh, deleted)) {
      const found = nodes.filter((uid) => !deleted.has(uid));
      chargeNodes(stage, found);
      await requireAll(stage, rule.type, found, "delete");
      const known = deletion.get(rule.type);
      if (known === undefined) deletion.set(rule.type, found);
      else known.push(...found);
      for (const uid of found) deleted.add(uid);
      next.push(...found);
    }
    fresh = next;
  }
  const restricting = rules.filter(({ action }) => action === "RESTRICT");
  const [refusing] = await findReferrers(stage, restricting, [...deleted], deleted);
  if (refusing !== undefined) throw await refuse(stage, refusing[0], [...deleted], deleted);
  return deletion;
}

/** The edges that NULLIFY removes, as facts. */
export async function nullifyReferrers(
  stage: MutationStage,
  rules: readonly DeletionRule[],
  deletion: Deletion,
  facts: FactList,
): Promise<void> {
  const nullifying = rules.filter(({ action }) => action === "NULLIFY");
  if (nullifying.length === 0) return;
  const deleted = new Set([...deletion.values()].flat());
  const edges: [rule: DeletionRule, referrer: number, target: number][] = [];
  const found = await findReferrers(stage, nullifying, [...deleted], deleted, (...edge) => {
    edges.push(edge);
  });
  const changed = new Map([...found].map(([rule, nodes]) => [rule, new Set(nodes)]));
  for (const nodes of changed.values()) chargeNodes(stage, [...nodes]);
  for (const [rule, referrer, target] of edges) {
    if (changed.get(rule)?.has(referrer) !== true) continue;
    facts.removeEdge(refOf(referrer), rule.predicate, refOf(target));
  }
}

/** The nodes outside of `deleted` that refer to `targets`, by rule; those alone that are of the rule's type. */
async function findReferrers(
  stage: MutationStage,
  rules: readonly DeletionRule[],
  targets: readonly number[],
  deleted: ReadonlySet<number>,
  visit?: (rule: DeletionRule, referrer: number, target: number) => void,
): Promise<ReadonlyMap<DeletionRule, readonly number[]>> {
  const found = new Map<DeletionRule, readonly number[]>();
  if (rules.length === 0) return found;
  const { reader } = stage.txn;
  const indexes = rules.map((rule) => findWayBack(reader, rule));
  const uids = Float64Array.from(targets).sort();
  const requests = indexes.map((index) => ({ kind: "reverse", index, facets: false }) as const);
  const columns = await reader.readLevel(uids, requests);
  for (const [k, rule] of rules.entries()) {
    const { offsets, targets: referrers } = must(columns[k], "a column for each request");
    const nodes = new Set<number>();
    for (let i = 0; i < uids.length; i++) {
      for (
        let e = must(offsets[i], "each row has its edges");
        e < must(offsets[i + 1], "each row has its edges");
        e++
      ) {
        const referrer = must(referrers[e], "each edge has its target");
        if (deleted.has(referrer)) continue;
        nodes.add(referrer);
        visit?.(rule, referrer, must(uids[i], "each row has its node"));
      }
    }
    stage.touch(referrers.length);
    stage.budget.charge(referrers.length);
    stage.budget.check();
    const ofType = await findOfType(stage, rule.type, [...nodes]);
    if (ofType.length > 0) found.set(rule, ofType);
  }
  return found;
}

/** The index of a predicate's edges backwards, which setting the schema has made. Throws MutationRefused. */
function findWayBack(reader: Reader, { type, field, predicate }: DeletionRule): number {
  const index = reader.schema.predicate(predicate)?.reverseIndex;
  if (index?.state === "ready") return index.id;
  const place = `${type.name}.${field}`;
  const text =
    index === undefined
      ? `@onDelete of ${place} needs @reverse at the predicate ${predicate}, which was altered: set the GraphQL schema again`
      : `@onDelete of ${place} waits for an index that is being built: try again later`;
  throw new MutationRefused("failed", [{ text }]);
}

/** The node that may not go, which the caller has named; not the one that refers to it, which may be hidden. */
async function refuse(
  stage: MutationStage,
  rule: DeletionRule,
  targets: readonly number[],
  deleted: ReadonlySet<number>,
): Promise<MutationRefused> {
  let target: number | undefined;
  await findReferrers(stage, [rule], targets, deleted, (_rule, _referrer, of) => (target ??= of));
  const type = rule.type.name;
  const node = printUid(target ?? 0);
  const text = `node ${node} is referred to by ${type}.${rule.field}, which says @onDelete(action: RESTRICT)`;
  return new MutationRefused("failed", [
    { text, detail: { code: "REFERRED_TO", type, field: rule.field, value: node } },
  ]);
}
