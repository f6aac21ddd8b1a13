/**
 * Indexes of a store that was brought forward by its log. What a build filled is not in the log, so an index that became
 * ready behind the older state is built again before anybody reads it.
 */
import { readNamespaces, SchemaCache, schemaPatches } from "../graph/schema-rows.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import { findBuilds } from "../graph/schema-diff.ts";
import type { Predicate } from "../graph/schema.ts";
import type { MetaPatch, Snapshot } from "../store/store.ts";

/** Namespace and number of indexes of a state that are whole. */
type ReadyIndexes = ReadonlySet<string>;

export async function readReadyIndexes(snapshot: Snapshot): Promise<ReadyIndexes> {
  const ready = new Set<string>();
  for (const { state } of await readSchemas(snapshot)) {
    for (const predicate of state.predicates) {
      changeIndexes(predicate, (index) => {
        if (index.state === "ready") ready.add(nameOf(state.namespace, index.id));
        return index;
      });
    }
  }
  return ready;
}

interface Reopened {
  /** Make indexes that were not ready in the older state wait for their build. */
  readonly patches: readonly MetaPatch[];
  /** Whether any index waits for its build then. */
  readonly isBuilding: boolean;
}

export async function reopenIndexes(snapshot: Snapshot, ready: ReadyIndexes): Promise<Reopened> {
  const patches: MetaPatch[] = [];
  let isBuilding = false;
  for (const known of await readSchemas(snapshot)) {
    const { state } = known;
    let count = 0;
    const predicates = state.predicates.map((predicate) =>
      changeIndexes(predicate, (index) => {
        if (index.state !== "ready" || ready.has(nameOf(state.namespace, index.id))) return index;
        count++;
        return { ...index, state: "building" };
      }),
    );
    if (count > 0) {
      patches.push(...schemaPatches({ ...state, predicates, version: state.version + 1 }, known));
    }
    isBuilding ||= count > 0 || findBuilds(state).length > 0;
  }
  return { patches, isBuilding };
}

async function readSchemas(snapshot: Snapshot): Promise<readonly KnownSchema[]> {
  const cache = new SchemaCache({ acl: true });
  const schemas: KnownSchema[] = [];
  for (const namespace of await readNamespaces(snapshot)) {
    const known = await cache.read(snapshot, namespace);
    if (known !== undefined) schemas.push(known);
  }
  return schemas;
}

function nameOf(namespace: number, index: number): string {
  return `${namespace}/${index}`;
}

type StateOf = Pick<NonNullable<Predicate["reverseIndex"]>, "id" | "state">;

/** Each index of a predicate, of whatever kind. */
function changeIndexes(
  predicate: Predicate,
  change: <T extends StateOf>(index: T) => T,
): Predicate {
  const each = <T extends StateOf>(index: T | undefined): T | undefined =>
    index === undefined ? undefined : change(index);
  return {
    ...predicate,
    indexes: predicate.indexes.map((index) => change(index)),
    reverseIndex: each(predicate.reverseIndex),
    countIndex: each(predicate.countIndex),
    reverseCountIndex: each(predicate.reverseCountIndex),
  };
}
