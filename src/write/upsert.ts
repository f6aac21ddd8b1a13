/** `uid(v)` and `val(v)` of upserts → plain facts (reference/dql 3.5). */
import { hasMember, lowerBound } from "../base/sorted.ts";
import { Fault } from "../model/fault.ts";
import { nameLimit } from "../model/limits.ts";
import type { NodeRef, NQuad, ObjectRef } from "../model/nquad.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { PlainMutation } from "./resolve.ts";

/** A variable of the upsert's query after it ran. */
export interface UpsertVariable {
  readonly uids: UidSet;
  /** `values[i]` belongs to `valueUids[i]`; undefined for uid variables. */
  readonly values: readonly Value[] | undefined;
  readonly valueUids: UidSet;
  /** An aggregate: fits any subject. */
  readonly constant: Value | undefined;
}

export type UpsertVariables = ReadonlyMap<string, UpsertVariable>;

interface ExpansionBounds {
  /** Facts of the request after expansion. */
  readonly nquadMax: number;
  /** Facts that are set, where variables stand in them. */
  readonly edgeMax: number;
}

/** A variable of more nodes is refused. */
const variableUidsMax = 1_000_000;

/** Expands all mutations of a request; counts the facts. Throws for undefined variables and for too many facts. */
export function expandVariables(
  mutations: readonly PlainMutation[],
  variables: UpsertVariables,
  bounds: ExpansionBounds,
): readonly PlainMutation[] {
  let count = 0;
  const take = (facts: readonly NQuad[], isDelete: boolean): readonly NQuad[] => {
    if (!facts.some(usesVariable)) {
      count += facts.length;
      checkCount(count, bounds);
      return facts;
    }
    const expanded: NQuad[] = [];
    for (const fact of facts) {
      if (usesVariable(fact)) {
        const already = count + expanded.length;
        const size = already + productSize(fact, variables);
        checkCount(size, bounds);
        if (!isDelete) checkEdges(size, bounds);
        expandFact(expanded, fact, { variables, isDelete });
      } else expanded.push(fact);
    }
    count += expanded.length;
    checkCount(count, bounds);
    return expanded;
  };
  return mutations.map((mutation) => {
    const set = take(mutation.set, false);
    return { set, delete: take(mutation.delete, true) };
  });
}

/** Names of the variables that facts use. */
export function usedVariables(mutations: readonly PlainMutation[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const mutation of mutations) {
    for (const fact of mutation.set) addUsed(names, fact);
    for (const fact of mutation.delete) addUsed(names, fact);
  }
  return names;
}

function addUsed(names: Set<string>, { subject, object }: NQuad): void {
  if (subject.kind === "variable") names.add(subject.name);
  if (object.kind === "val") names.add(object.name);
  else if (object.kind === "node" && object.node.kind === "variable") names.add(object.node.name);
}

function checkCount(count: number, { nquadMax }: ExpansionBounds): void {
  if (count <= nquadMax) return;
  throw new Fault(
    "E_MUTATION",
    nameLimit(
      "mutations-nquad",
      `NQuad count in the request: ${count}, is more that threshold: ${nquadMax}`,
    ),
  );
}

function checkEdges(count: number, { edgeMax }: ExpansionBounds): void {
  if (count <= edgeMax) return;
  throw new Fault(
    "E_MUTATION",
    nameLimit(
      "query-edge",
      `NQuad count in the request: ${count}, is more that threshold: ${edgeMax}`,
    ),
  );
}

function usesVariable(fact: NQuad): boolean {
  if (fact.subject.kind === "variable" || fact.object.kind === "val") return true;
  return fact.object.kind === "node" && fact.object.node.kind === "variable";
}

function find(variables: UpsertVariables, name: string): UpsertVariable {
  const variable = variables.get(name);
  if (variable === undefined) throw new Fault("E_MUTATION", `variables [${name}] not defined`);
  if (variable.uids.length > variableUidsMax) {
    throw new Fault("E_MUTATION", `var [${name}] has over million UIDs`);
  }
  return variable;
}

function productSize(fact: NQuad, variables: UpsertVariables): number {
  const size = (node: NodeRef): number =>
    node.kind === "variable" ? find(variables, node.name).uids.length : 1;
  const objects = fact.object.kind === "node" ? size(fact.object.node) : 1;
  return size(fact.subject) * objects;
}

interface Expansion {
  readonly variables: UpsertVariables;
  readonly isDelete: boolean;
}

function expandFact(expanded: NQuad[], fact: NQuad, expansion: Expansion): void {
  const subjects = expandNode(fact.subject, expansion);
  const { object } = fact;
  if (object.kind === "val") {
    const variable = find(expansion.variables, object.name);
    for (const subject of subjects) {
      const value = valueAt(variable, subject, expansion.isDelete);
      if (value !== undefined) expanded.push(withNodes(fact, subject, { kind: "value", value }));
    }
    return;
  }
  const objects: readonly ObjectRef[] =
    object.kind === "node"
      ? expandNode(object.node, expansion).map((node) => ({ kind: "node", node }))
      : [object];
  for (const subject of subjects) {
    for (const target of objects) expanded.push(withNodes(fact, subject, target));
  }
}

/** Made member by member: a spread with more behind it costs V8 a microsecond and more. */
function withNodes(
  { predicate, language, facets }: NQuad,
  subject: NodeRef,
  object: ObjectRef,
): NQuad {
  return { subject, predicate, language, object, facets };
}

/** An empty variable is one new node in a set, named after it, and nothing in a delete. */
function expandNode(node: NodeRef, { variables, isDelete }: Expansion): readonly NodeRef[] {
  if (node.kind !== "variable") return [node];
  const { uids } = find(variables, node.name);
  const nodes: NodeRef[] = [];
  for (const uid of uids) nodes.push({ kind: "uid", uid });
  if (nodes.length > 0) return nodes;
  return isDelete ? [] : [{ kind: "blank", label: `uid(${node.name})` }];
}

function valueAt(variable: UpsertVariable, subject: NodeRef, isDelete: boolean): Value | undefined {
  if (subject.kind === "uid" && variable.values !== undefined) {
    if (hasMember(variable.valueUids, subject.uid)) {
      return variable.values[lowerBound(variable.valueUids, subject.uid)];
    }
  }
  if (subject.kind === "blank" && isDelete) return undefined;
  return variable.constant;
}
