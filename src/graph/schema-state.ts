/**
 * The stored form of a namespace's schema: one small row with the numbers that every snapshot reads, one row with
 * the definitions that is read only when the version moved (reference/storage 7). Reserved predicates are not
 * stored; `makeSchema` adds them.
 */
import type { PredicateDefinition, TypeDefinition } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import { tokenVersionOf } from "../tokens/tokenizers.ts";
import { firstUserId, reservedPredicates, reservedTypes } from "./reserved.ts";
import type { ReservedOptions } from "./reserved.ts";
import type { IndexState, Predicate, PredicateIndex, Schema } from "./schema.ts";

/** Everything that is stored about a namespace; immutable, a change makes a new one. */
export interface SchemaState {
  readonly namespace: number;
  readonly version: number;
  readonly fence: number;
  readonly storageId: number;
  /** The next predicate or index id; never goes back. */
  readonly nextId: number;
  readonly predicates: readonly Predicate[];
  readonly types: readonly TypeDefinition[];
}

/** The small row. */
export interface SchemaHead {
  readonly version: number;
  readonly fence: number;
  readonly storageId: number;
}

export function emptySchemaState(namespace: number, storageId: number): SchemaState {
  return {
    namespace,
    version: 1,
    fence: 1,
    storageId,
    nextId: firstUserId,
    predicates: [],
    types: [],
  };
}

const headBytes = 24;

export function encodeSchemaHead(head: SchemaHead): Uint8Array {
  const bytes = new Uint8Array(headBytes);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, head.version);
  view.setFloat64(8, head.fence);
  view.setFloat64(16, head.storageId);
  return bytes;
}

/** About 60 ns: it is done for each snapshot. */
export function decodeSchemaHead(bytes: Uint8Array): SchemaHead {
  if (bytes.length !== headBytes)
    throw new Fault("E_STORE_CORRUPT", "schema head has a wrong size");
  const view = new DataView(bytes.buffer, bytes.byteOffset, headBytes);
  return {
    version: view.getFloat64(0),
    fence: view.getFloat64(8),
    storageId: view.getFloat64(16),
  };
}

/** The format's number; a row with a newer one is refused. */
const formatVersion = 1;

interface StoredIndex {
  readonly id: number;
  readonly state: IndexState;
}

interface StoredPredicate {
  readonly id: number;
  readonly definition: PredicateDefinition;
  readonly indexes: readonly (StoredIndex & {
    /** Of the tokenizer; absent for 1. */
    readonly version?: number | undefined;
  })[];
  readonly reverse?: StoredIndex | undefined;
  readonly count?: StoredIndex | undefined;
  readonly reverseCount?: StoredIndex | undefined;
  readonly formerScalar?: true | undefined;
}

interface StoredState {
  readonly format: number;
  readonly namespace: number;
  readonly version: number;
  readonly fence: number;
  readonly storageId: number;
  readonly nextId: number;
  readonly predicates: readonly StoredPredicate[];
  readonly types: readonly TypeDefinition[];
}

export function encodeSchemaState(state: SchemaState): Uint8Array {
  const stored: StoredState = {
    format: formatVersion,
    namespace: state.namespace,
    version: state.version,
    fence: state.fence,
    storageId: state.storageId,
    nextId: state.nextId,
    predicates: state.predicates.map(storePredicate),
    types: state.types,
  };
  return new TextEncoder().encode(JSON.stringify(stored));
}

export function decodeSchemaState(bytes: Uint8Array): SchemaState {
  const stored = JSON.parse(new TextDecoder().decode(bytes)) as StoredState;
  if (stored.format !== formatVersion) {
    throw new Fault("E_STARTUP", `schema rows of format ${stored.format} are not known here`);
  }
  return {
    namespace: stored.namespace,
    version: stored.version,
    fence: stored.fence,
    storageId: stored.storageId,
    nextId: stored.nextId,
    predicates: stored.predicates.map(restorePredicate),
    types: stored.types,
  };
}

function storePredicate(predicate: Predicate): StoredPredicate {
  return {
    id: predicate.id,
    definition: predicate.definition,
    indexes: predicate.indexes.map(({ id, state, version }) => ({
      id,
      state,
      version: version === 1 ? undefined : version,
    })),
    reverse: predicate.reverseIndex,
    count: predicate.countIndex,
    reverseCount: predicate.reverseCountIndex,
    formerScalar: predicate.formerScalar ? true : undefined,
  };
}

function restorePredicate(stored: StoredPredicate): Predicate {
  return {
    id: stored.id,
    definition: stored.definition,
    indexes: stored.indexes.map(({ id, state: kept, version = 1 }, i): PredicateIndex => {
      const spec = stored.definition.indexes[i];
      if (spec === undefined)
        throw new Fault("E_STORE_CORRUPT", "schema row: index without a spec");
      const { tokenizer, options = [] } = spec;
      const state = version === tokenVersionOf(tokenizer) ? kept : "stale";
      return { id, tokenizer, options, version, state };
    }),
    reverseIndex: stored.reverse,
    countIndex: stored.count,
    reverseCountIndex: stored.reverseCount,
    formerScalar: stored.formerScalar ?? false,
  };
}

/** The compact schema that plans and readers use. A few microseconds a predicate, once per version and process. */
export function makeSchema(state: SchemaState, options: ReservedOptions): Schema {
  const byName = new Map<string, Predicate>();
  const byId = new Map<number, Predicate>();
  const predicates = [...reservedPredicates(options), ...state.predicates].sort((a, b) =>
    compareNames(a.definition.name, b.definition.name),
  );
  for (const predicate of predicates) {
    byName.set(predicate.definition.name, predicate);
    byId.set(predicate.id, predicate);
  }
  const types = [...reservedTypes(options), ...state.types].sort((a, b) =>
    compareNames(a.name, b.name),
  );
  const typeByName = new Map(types.map((type) => [type.name, type]));
  return {
    version: state.version,
    fence: state.fence,
    namespace: state.namespace,
    storageId: state.storageId,
    predicate: (name) => byName.get(name),
    predicateById: (id) => byId.get(id),
    type: (name) => typeByName.get(name),
    predicates,
    types,
  };
}

/** By bytes of UTF-8, as the reference sorts; UTF-16 order differs only beyond the basic plane. */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xHigh = x >= 0xd800 && x <= 0xdfff;
    const yHigh = y >= 0xd800 && y <= 0xdfff;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
