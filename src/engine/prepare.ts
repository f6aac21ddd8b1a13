/** One request's facts → edits over a view: conditions, variables, new predicates, new nodes, in that order. */
import { must } from "../base/assert.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import type { ExecutionResult, VariableResult } from "../exec/frame.ts";
import { emptyUidSet } from "../model/uid.ts";
import { Fault } from "../model/fault.ts";
import type { Limits } from "../model/limits.ts";
import type { Mutation, NQuad } from "../model/nquad.ts";
import type { Plan } from "../plan/plan.ts";
import type { Schema } from "../graph/schema.ts";
import type { Edit } from "../write/edit.ts";
import { inferDefinitions } from "../write/infer.ts";
import { checkKnown, resolveEdits } from "../write/resolve.ts";
import type { PlainMutation } from "../write/resolve.ts";
import type { Look } from "../model/request-budget.ts";
import type { BlankNodes, UidSource } from "../write/uid-assign.ts";
import { expandVariables } from "../write/upsert.ts";
import type { UpsertVariable, UpsertVariables } from "../write/upsert.ts";
import type { ConditionalMutation } from "./body.ts";

/** Whether mutations may bring up predicates, or happen at all (setting `mutations`). */
export type MutationsMode = "allow" | "strict" | "disallow";

/** Thrown when predicates must be added to the schema first; then the request is prepared again. */
export class MissingPredicates extends Error {
  override readonly name = "MissingPredicates";
  readonly definitions: readonly PredicateDefinition[];

  constructor(definitions: readonly PredicateDefinition[]) {
    super("predicates are missing");
    this.definitions = definitions;
  }
}

interface PrepareContext {
  readonly schema: Schema;
  readonly limits: Limits;
  readonly mode: MutationsMode;
  readonly nodes: BlankNodes;
  readonly uids: UidSource;
  /** Asked on the way through many facts. */
  readonly look?: Look | undefined;
}

interface PreparedEdits {
  readonly edits: readonly Edit[];
  /** Label → uid of the nodes that this call made. */
  readonly added: ReadonlyMap<string, number>;
  /** Their uids: nothing was ever written there. */
  readonly fresh: ReadonlySet<number>;
  /** Facts after expansion, for the cost of the request. */
  readonly factCount: number;
}

/** Variables of a query by name. */
export function variablesByName(plan: Plan, result: ExecutionResult): UpsertVariables {
  const byName = new Map<string, UpsertVariable>();
  plan.variables.forEach((variable, i) => {
    const found = result.variables[i];
    if (found !== undefined) byName.set(variable.name, toUpsertVariable(found));
  });
  return byName;
}

function toUpsertVariable(found: VariableResult): UpsertVariable {
  return {
    uids: found.uids,
    values: found.values?.values,
    valueUids: found.values?.uids ?? emptyUidSet,
    constant: found.constant,
  };
}

/** Those whose condition is true. All conditions saw the state before the first mutation. */
export function chooseMutations(
  mutations: readonly ConditionalMutation[],
  variables: UpsertVariables,
): readonly Mutation[] {
  return mutations.filter(
    ({ condition }) => condition === undefined || (variables.get(condition)?.uids.length ?? 0) > 0,
  );
}

/** Of more new nodes the set alone takes its time. */
const namedAtOnce = 10_000;

const emptyFresh: ReadonlySet<number> = new Set();

/**
 * Throws MissingPredicates where the schema has to grow first, and Faults for what is refused. New nodes are named by
 * then: `nodes` holds them for the next call.
 */
export async function prepareEdits(
  mutations: readonly Mutation[],
  variables: UpsertVariables,
  context: PrepareContext,
): Promise<PreparedEdits> {
  const { schema, limits, nodes } = context;
  if (variables.size > 0) checkSharedUnique(mutations, variables, schema);
  const plain = expandVariables(mutations, variables, {
    nquadMax: limits.mutationNquadMax,
    edgeMax: limits.queryEdgeMax,
  });
  if (context.mode === "strict") refuseUnknown(plain, schema);
  const pause = context.look?.(countFacts(plain));
  if (pause !== undefined) await pause;
  const only = plain.length === 1 ? plain[0] : undefined;
  const facts = only?.set ?? plain.flatMap((mutation) => mutation.set);
  const assigned = nodes.assign(facts, context.uids, context.look);
  const added = assigned instanceof Promise ? await assigned : assigned;
  if (!plain.every(({ set }) => knowsAll(schema, set))) {
    // What the schema refuses as it is makes no predicates.
    const checked = checkKnown(schema, plain, nodes, context.look);
    if (checked instanceof Promise) await checked;
    addUnknown(
      schema,
      plain.map(({ set }, i) => ({
        set,
        hints: must(mutations[i], "a body for each mutation").hints,
      })),
    );
  }
  const factCount = countFacts(plain);
  const fresh = added.size === 0 ? emptyFresh : new Set(added.values());
  if (added.size > namedAtOnce) await context.look?.(added.size);
  const resolved = resolveEdits(schema, plain, nodes, context.look);
  const edits = resolved instanceof Promise ? await resolved : resolved;
  return { edits, added, fresh, factCount };
}

function countFacts(mutations: readonly PlainMutation[]): number {
  let count = 0;
  for (const mutation of mutations) count += mutation.set.length + mutation.delete.length;
  return count;
}

/** One unique value for several nodes is refused by its form alone. */
function checkSharedUnique(
  mutations: readonly Mutation[],
  variables: UpsertVariables,
  schema: Schema,
): void {
  for (const { set } of mutations) {
    for (const { subject, predicate, object } of set) {
      if (subject.kind !== "variable" || object.kind === "node") continue;
      if (schema.predicate(predicate)?.definition.unique !== true) continue;
      const variable = variables.get(subject.name);
      if (variable === undefined || variable.values !== undefined) continue;
      if (variable.uids.length < 2) continue;
      throw new Fault("E_MUTATION", `unique constraint violated for predicate [${predicate}]`);
    }
  }
}

function knowsAll(schema: Schema, facts: readonly NQuad[]): boolean {
  for (const { predicate } of facts) if (schema.predicate(predicate) === undefined) return false;
  return true;
}

function addUnknown(schema: Schema, mutations: readonly Pick<Mutation, "set" | "hints">[]): void {
  const missing = inferDefinitions(schema, mutations);
  if (missing.length > 0) throw new MissingPredicates(missing);
}

/** Where mutations bring up no predicates: those that are deleted must be known too. */
function refuseUnknown(mutations: readonly PlainMutation[], schema: Schema): void {
  for (const { set, delete: deletes } of mutations) {
    for (const facts of [deletes, set]) {
      for (const { predicate } of facts) {
        if (predicate === "*" || schema.predicate(predicate) !== undefined) continue;
        throw new Fault(
          "E_MUTATION_FACTS",
          `Schema not defined for predicate: ${schema.namespace}-${predicate}.`,
        );
      }
    }
  }
}
