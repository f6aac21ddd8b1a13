/**
 * What an alter makes of a schema: the next state, and what must be built from the data. Every refusal of
 * reference/dql 1.6, 2.3, 2.6, 2.10 that needs the present schema is here; those of the text alone are in
 * `schema-parse.ts`.
 */
import type { MaybePromise } from "../base/maybe.ts";
import type {
  IndexSpec,
  PredicateDefinition,
  PredicateKind,
  SchemaText,
  TypeDefinition,
} from "../model/definition.ts";
import { isVectorIndex } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import { tokenVersionOf } from "../tokens/tokenizers.ts";
import {
  internalNameSentence,
  isInternalName,
  isReservedName,
  reservedNameSentence,
  reservedPredicates,
  reservedTypes,
} from "./reserved.ts";
import type { ReservedOptions } from "./reserved.ts";
import type { IndexState, Predicate, PredicateIndex } from "./schema.ts";
import type { SchemaState } from "./schema-state.ts";

/** An index that starts in state `building` and must be filled from the records. */
export interface IndexBuild {
  readonly predicate: number;
  readonly index: number;
  readonly kind: "token" | "reverse" | "count" | "reverseCount";
}

export interface SchemaChange {
  /** The next state, version and fence already raised; the same object when nothing changes. */
  readonly state: SchemaState;
  readonly builds: readonly IndexBuild[];
  /** Ids that nobody uses any more; a sweeper clears their keys. */
  readonly retired: readonly Retired[];
}

interface Retired {
  readonly kind: "predicate" | "index";
  readonly id: number;
}

interface AlterContext {
  readonly state: SchemaState;
  readonly reserved: ReservedOptions;
  /** Whether any node has a value or edge of the predicate. */
  hasData(predicate: Predicate): MaybePromise<boolean>;
}

/** Raises a Fault E_ALTER with the reference's sentence for what is refused. */
export async function planAlter(context: AlterContext, text: SchemaText): Promise<SchemaChange> {
  const reserved = reservedPredicates(context.reserved);
  for (const definition of text.predicates) checkPredicateName(definition, reserved);
  for (const type of text.types) checkTypeName(type, context.reserved);

  const next = new Map(context.state.predicates.map((p) => [p.definition.name, p]));
  const ids = makeIds(context.state.nextId);
  const builds: IndexBuild[] = [];
  const retired: Retired[] = [];
  let additive = true;
  for (const given of text.predicates) {
    if (reserved.some((p) => p.definition.name === given.name)) continue;
    const old = next.get(given.name);
    const definition = completeDefinition(given);
    checkDirectives(definition, old?.definition, given);
    if (old === undefined) {
      next.set(given.name, makePredicate(definition, ids));
      continue;
    }
    if (sameDefinition(old.definition, definition)) continue;
    await checkKindChange(context, old, definition);
    additive = false;
    next.set(given.name, changePredicate(old, definition, { ids, builds, retired }));
  }

  const types = new Map(context.state.types.map((t) => [t.name, t]));
  const known = (name: string): boolean =>
    next.has(name) || reserved.some((p) => p.definition.name === name);
  for (const type of text.types) {
    if (reservedTypes(context.reserved).some((t) => t.name === type.name)) continue;
    checkTypeFields(type, context.state.namespace, known);
    types.set(type.name, type);
  }
  return finish(context.state, {
    predicates: [...next.values()],
    types: [...types.values()],
    nextId: ids.next(),
    additive,
    builds,
    retired,
  });
}

/**
 * Puts a new index in the place of each that is of another version of its tokenizer. Not additive: a process that still
 * makes tokens of that version must not add them to what it takes for the new index.
 */
export function renewIndexes(state: SchemaState): SchemaChange {
  const ids = makeIds(state.nextId);
  const builds: IndexBuild[] = [];
  const retired: Retired[] = [];
  const renew = (predicate: Predicate, index: PredicateIndex): PredicateIndex => {
    if (index.state !== "stale") return index;
    const id = ids.take();
    retired.push({ kind: "index", id: index.id });
    builds.push({ predicate: predicate.id, index: id, kind: "token" });
    return makeIndex(index, id, "building");
  };
  const predicates = state.predicates.map((predicate) =>
    predicate.indexes.some((index) => index.state === "stale")
      ? { ...predicate, indexes: predicate.indexes.map((index) => renew(predicate, index)) }
      : predicate,
  );
  if (builds.length === 0) return { state, builds, retired };
  const { types } = state;
  return finish(state, {
    predicates,
    types,
    nextId: ids.next(),
    additive: false,
    builds,
    retired,
  });
}

/** What of a state is to be renewed, as `predicate: tokenizer`. */
export function listStale(state: SchemaState): readonly string[] {
  return state.predicates.flatMap(({ definition, indexes }) =>
    indexes
      .filter((index) => index.state === "stale")
      .map(({ tokenizer }) => `${definition.name}: ${tokenizer}`),
  );
}

/** Adds predicates that a mutation brought up (reference/dql 2.9); those that exist by now are left as they are. */
export function addInferred(
  state: SchemaState,
  definitions: readonly PredicateDefinition[],
): SchemaChange {
  const known = new Set(state.predicates.map((p) => p.definition.name));
  const ids = makeIds(state.nextId);
  const added: Predicate[] = [];
  for (const definition of definitions) {
    if (known.has(definition.name)) continue;
    known.add(definition.name);
    added.push(makePredicate(definition, ids));
  }
  return finish(state, {
    predicates: added.length === 0 ? state.predicates : [...state.predicates, ...added],
    types: state.types,
    nextId: ids.next(),
    additive: true,
    builds: [],
    retired: [],
  });
}

/** Removes a predicate and retires its ids. Unknown names change nothing. */
export function dropPredicate(
  state: SchemaState,
  name: string,
  options: ReservedOptions,
): SchemaChange {
  if (reservedPredicates(options).some((p) => p.definition.name === name)) {
    throw new Fault("E_ALTER", `predicate ${name} is pre-defined and is not allowed to be dropped`);
  }
  if (isReservedName(name)) {
    throw new Fault("E_ALTER", reservedNameSentence("store", "predicate", name));
  }
  const old = state.predicates.find((p) => p.definition.name === name);
  if (old === undefined) return { state, builds: [], retired: [] };
  const retired: Retired[] = [{ kind: "predicate", id: old.id }];
  for (const id of indexIds(old)) retired.push({ kind: "index", id });
  return finish(state, {
    predicates: state.predicates.filter((p) => p !== old),
    types: state.types,
    nextId: state.nextId,
    additive: false,
    builds: [],
    retired,
  });
}

/** Removes a type definition; nodes keep their `dgraph.type`. */
export function dropType(state: SchemaState, name: string, options: ReservedOptions): SchemaChange {
  if (reservedTypes(options).some((t) => t.name === name)) {
    throw new Fault("E_ALTER", `type ${name} is pre-defined and is not allowed to be dropped`);
  }
  if (isReservedName(name)) {
    throw new Fault("E_ALTER", reservedNameSentence("store", "type", name));
  }
  if (!state.types.some((t) => t.name === name)) return { state, builds: [], retired: [] };
  return finish(state, {
    predicates: state.predicates,
    types: state.types.filter((t) => t.name !== name),
    nextId: state.nextId,
    additive: true,
    builds: [],
    retired: [],
  });
}

/** Marks built indexes as ready. Commits kept them up meanwhile, so that nobody has to derive again. */
export function markReady(state: SchemaState, builds: readonly IndexBuild[]): SchemaState {
  const ids = new Set(builds.map((b) => b.index));
  const ready = <T extends { readonly id: number; readonly state: IndexState }>(
    index: T | undefined,
  ): T | undefined =>
    index !== undefined && ids.has(index.id) ? { ...index, state: "ready" } : index;
  return {
    ...state,
    version: state.version + 1,
    predicates: state.predicates.map((p) =>
      indexIds(p).some((id) => ids.has(id))
        ? {
            ...p,
            indexes: p.indexes.map((index) => ready(index) ?? index),
            reverseIndex: ready(p.reverseIndex),
            countIndex: ready(p.countIndex),
            reverseCountIndex: ready(p.reverseCountIndex),
          }
        : p,
    ),
  };
}

/** What is being built. A reverse index comes before its counts, which are read from it. */
export function findBuilds(state: SchemaState): readonly IndexBuild[] {
  return state.predicates.flatMap(findPredicateBuilds);
}

export function findPredicateBuilds(predicate: Predicate): readonly IndexBuild[] {
  const builds: IndexBuild[] = [];
  const note = (
    index: { readonly id: number; readonly state: IndexState } | undefined,
    kind: IndexBuild["kind"],
  ): void => {
    if (index?.state === "building") {
      builds.push({ predicate: predicate.id, index: index.id, kind });
    }
  };
  for (const index of predicate.indexes) note(index, "token");
  note(predicate.reverseIndex, "reverse");
  note(predicate.countIndex, "count");
  note(predicate.reverseCountIndex, "reverseCount");
  return builds;
}

export function isBuilding(state: SchemaState, build: IndexBuild): boolean {
  const predicate = state.predicates.find(({ id }) => id === build.predicate);
  if (predicate === undefined) return false;
  return findPredicateBuilds(predicate).some(({ index }) => index === build.index);
}

/** Every index, reverse and count id of a predicate. */
function indexIds(predicate: Predicate): number[] {
  const ids = predicate.indexes.map((index) => index.id);
  if (predicate.reverseIndex) ids.push(predicate.reverseIndex.id);
  if (predicate.countIndex) ids.push(predicate.countIndex.id);
  if (predicate.reverseCountIndex) ids.push(predicate.reverseCountIndex.id);
  return ids;
}

interface Outcome {
  readonly predicates: readonly Predicate[];
  readonly types: readonly TypeDefinition[];
  readonly nextId: number;
  readonly additive: boolean;
  readonly builds: readonly IndexBuild[];
  readonly retired: readonly Retired[];
}

function finish(state: SchemaState, outcome: Outcome): SchemaChange {
  const samePredicates =
    outcome.predicates.length === state.predicates.length &&
    outcome.predicates.every((p, i) => p === state.predicates[i]);
  const sameTypes =
    outcome.types.length === state.types.length &&
    outcome.types.every((type, i) => sameType(type, state.types[i]));
  if (samePredicates && sameTypes) return { state, builds: [], retired: [] };
  return {
    state: {
      namespace: state.namespace,
      version: state.version + 1,
      fence: outcome.additive ? state.fence : state.fence + 1,
      storageId: state.storageId,
      nextId: outcome.nextId,
      predicates: outcome.predicates,
      types: outcome.types,
    },
    builds: outcome.builds,
    retired: outcome.retired,
  };
}

function sameType(a: TypeDefinition, b: TypeDefinition | undefined): boolean {
  return b !== undefined && a.name === b.name && sameList(a.fields, b.fields);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

interface Ids {
  take(): number;
  next(): number;
}

function makeIds(start: number): Ids {
  let next = start;
  return { take: () => next++, next: () => next };
}

const nameBytesMax = 65_535;

function checkPredicateName(definition: PredicateDefinition, reserved: readonly Predicate[]): void {
  const name = definition.name;
  if (isInternalName(name)) throw new Fault("E_ALTER", internalNameSentence(name));
  if (name.length * 3 > nameBytesMax && new TextEncoder().encode(name).length > nameBytesMax) {
    throw new Fault(
      "E_ALTER",
      `Predicate name length cannot be bigger than 2^16. Predicate: ${name}`,
    );
  }
  const folded = name.toLowerCase();
  const existing = reserved.find((p) => p.definition.name.toLowerCase() === folded);
  if (existing !== undefined) {
    const isSame = sameDefinition(existing.definition, completeDefinition(definition));
    if (!isSame || existing.definition.name !== name) {
      throw new Fault(
        "E_ALTER",
        `predicate ${name} is pre-defined and is not allowed to be modified`,
      );
    }
    return;
  }
  if (isReservedName(name)) {
    throw new Fault("E_ALTER", reservedNameSentence("alter", "predicate", name));
  }
}

function checkTypeName(type: TypeDefinition, options: ReservedOptions): void {
  const existing = reservedTypes(options).find((t) => t.name === type.name);
  if (existing !== undefined) {
    if (!sameList(existing.fields, type.fields)) {
      throw new Fault(
        "E_ALTER",
        `type ${type.name} is pre-defined and is not allowed to be modified`,
      );
    }
    return;
  }
  if (isReservedName(type.name)) {
    throw new Fault("E_ALTER", reservedNameSentence("alter", "type", type.name));
  }
}

function checkTypeFields(
  type: TypeDefinition,
  namespace: number,
  known: (name: string) => boolean,
): void {
  for (const field of type.fields) {
    const name = field.startsWith("~") ? field.slice(1) : field;
    if (known(field) || known(name)) continue;
    throw new Fault(
      "E_ALTER",
      `Schema does not contain a matching predicate for field ${namespace}-${field} ` +
        `in type ${namespace}-${type.name}`,
    );
  }
}

/** @unique implies @upsert (reference/dql 2.3). */
function completeDefinition(definition: PredicateDefinition): PredicateDefinition {
  return definition.unique && !definition.upsert ? { ...definition, upsert: true } : definition;
}

function checkDirectives(
  definition: PredicateDefinition,
  old: PredicateDefinition | undefined,
  given: PredicateDefinition,
): void {
  const name = definition.name;
  if (definition.unique) checkUnique(given, old);
  if (definition.upsert && definition.indexes.length === 0) {
    throw new Fault(
      "E_ALTER",
      `Index tokenizer is mandatory for: [${name}] when specifying @upsert directive`,
    );
  }
}

function checkUnique(given: PredicateDefinition, old: PredicateDefinition | undefined): void {
  const { name, kind } = given;
  const has = (tokenizer: string): boolean => given.indexes.some((i) => i.tokenizer === tokenizer);
  if (old?.upsert && !given.upsert) {
    throw new Fault(
      "E_ALTER",
      `could not drop @upsert from [${name}] predicate when @unique directive specified`,
    );
  }
  if (old?.unique && !has("hash") && !has("exact") && !has("int")) {
    const names = old.indexes.map(({ tokenizer }) => tokenizer).join(" ");
    throw new Fault(
      "E_ALTER",
      `could not drop index [${names}] from [${name}] predicate when @unique directive specified`,
    );
  }
  if (kind === "string") {
    if (has("hash") || has("exact")) return;
    throw new Fault(
      "E_ALTER",
      `index for predicate [${name}] is missing, add either hash or exact index with @unique`,
    );
  }
  if (kind === "int") {
    if (has("int")) return;
    throw new Fault(
      "E_ALTER",
      `index for predicate [${name}] is missing, add int index with @unique`,
    );
  }
  throw new Fault(
    "E_ALTER",
    `@unique directive not supported on [${kindEnumName(kind)}] type predicate`,
  );
}

function sameKind(a: PredicateDefinition, b: PredicateDefinition): boolean {
  return a.kind === b.kind && a.list === b.list;
}

/** The reference's name of a kind in a few of its messages. */
function kindEnumName(kind: PredicateKind): string {
  return kind === "float32vector" ? "VFLOAT" : kind.toUpperCase();
}

async function checkKindChange(
  context: AlterContext,
  old: Predicate,
  definition: PredicateDefinition,
): Promise<void> {
  const from = old.definition;
  const name = definition.name;
  const wasEdge = from.kind === "uid";
  const isEdge = definition.kind === "uid";
  if (!wasEdge && (from.kind === "password") !== (definition.kind === "password")) {
    throw new Fault(
      "E_ALTER",
      `Schema change not allowed from ${kindEnumName(from.kind)} to ${kindEnumName(definition.kind)}`,
    );
  }
  const shrinks = from.list && !definition.list;
  if (wasEdge !== isEdge) {
    if (await context.hasData(old)) {
      throw new Fault(
        "E_ALTER",
        "Schema change not allowed from scalar to uid or vice versa while there is data for " +
          `pred: ${name}`,
      );
    }
  } else if (shrinks && (await context.hasData(old))) {
    throw new Fault(
      "E_ALTER",
      `Schema change not allowed from [${from.kind}] => ${definition.kind} without deleting ` +
        `pred: ${name}`,
    );
  }
  if (shrinks) {
    throw new Fault(
      "E_ALTER",
      `Type can't be changed from list to scalar for attr: [${name}] without dropping it first.`,
    );
  }
}

function sameDefinition(a: PredicateDefinition, b: PredicateDefinition): boolean {
  return (
    sameKind(a, b) &&
    a.reverse === b.reverse &&
    a.count === b.count &&
    a.upsert === b.upsert &&
    a.unique === b.unique &&
    a.lang === b.lang &&
    a.noconflict === b.noconflict &&
    a.indexes.length === b.indexes.length &&
    a.indexes.every((index, i) => sameIndex(index, b.indexes[i]))
  );
}

function sameIndex(a: IndexSpec, b: IndexSpec | undefined): boolean {
  if (b === undefined || a.tokenizer !== b.tokenizer) return false;
  const x = a.options ?? [];
  const y = b.options ?? [];
  return x.length === y.length && x.every((o, i) => o.key === y[i]?.key && o.value === y[i]?.value);
}

/** A new predicate has no data, so that its indexes are ready at once. */
function makePredicate(definition: PredicateDefinition, ids: Ids): Predicate {
  const index = (wanted: boolean): { id: number; state: IndexState } | undefined =>
    wanted ? { id: ids.take(), state: "ready" } : undefined;
  const edges = definition.kind === "uid";
  return {
    id: ids.take(),
    definition,
    indexes: definition.indexes.map((spec) => makeIndex(spec, ids.take(), "ready")),
    reverseIndex: index(edges && definition.reverse),
    countIndex: index(definition.count),
    reverseCountIndex: index(edges && definition.reverse && definition.count),
    formerScalar: false,
  };
}

function makeIndex(spec: IndexSpec, id: number, state: IndexState): PredicateIndex {
  const version = tokenVersionOf(spec.tokenizer);
  return { id, tokenizer: spec.tokenizer, options: spec.options ?? [], version, state };
}

interface ChangeNotes {
  readonly ids: Ids;
  readonly builds: IndexBuild[];
  readonly retired: Retired[];
}

/** Indexes that stay the same keep their ids; tokens depend on the kind, so that another kind rebuilds them. */
function changePredicate(
  old: Predicate,
  definition: PredicateDefinition,
  notes: ChangeNotes,
): Predicate {
  const keepTokens = old.definition.kind === definition.kind;
  const keptIds = new Set<number>();
  const indexes = definition.indexes.map((spec): PredicateIndex => {
    const same = keepTokens
      ? old.indexes.find((index) => !keptIds.has(index.id) && sameIndex(index, spec))
      : undefined;
    if (same !== undefined) {
      keptIds.add(same.id);
      return same;
    }
    const id = notes.ids.take();
    // Vectors are found by the process that is asked (`vectors.ts`): the store keeps nothing for them.
    if (isVectorIndex(spec)) return makeIndex(spec, id, "ready");
    notes.builds.push({ predicate: old.id, index: id, kind: "token" });
    return makeIndex(spec, id, "building");
  });
  const keepEdges = (old.definition.kind === "uid") === (definition.kind === "uid");
  const derived = (
    before: { readonly id: number; readonly state: IndexState } | undefined,
    wanted: boolean,
    kind: IndexBuild["kind"],
  ): { readonly id: number; readonly state: IndexState } | undefined => {
    if (!wanted) return undefined;
    if (before !== undefined && keepEdges) {
      keptIds.add(before.id);
      return before;
    }
    const id = notes.ids.take();
    notes.builds.push({ predicate: old.id, index: id, kind });
    return { id, state: "building" };
  };
  const edges = definition.kind === "uid";
  const next: Predicate = {
    id: old.id,
    definition,
    indexes,
    reverseIndex: derived(old.reverseIndex, edges && definition.reverse, "reverse"),
    countIndex: derived(old.countIndex, definition.count, "count"),
    reverseCountIndex: derived(
      old.reverseCountIndex,
      edges && definition.reverse && definition.count,
      "reverseCount",
    ),
    formerScalar:
      old.formerScalar || (!edges && keepEdges && !old.definition.list && definition.list),
  };
  for (const id of indexIds(old)) {
    if (!keptIds.has(id)) notes.retired.push({ kind: "index", id });
  }
  return next;
}
