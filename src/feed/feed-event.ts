/** What the change feed tells, as JSON (docs/changes.md). */
import type { PredicateDefinition, TypeDefinition } from "../model/definition.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import { printSchemaText } from "../graph/schema-text.ts";
import type { SchemaStep } from "./schema-history.ts";

type EventKind = "transaction" | "drop" | "schema" | "namespace" | "heartbeat" | "end" | "error";

/** One line of the feed. */
export interface FeedEvent {
  readonly kind: EventKind;
  /** With it, all of this position was told; undefined: more of the commit follows. */
  readonly completes: string | undefined;
  readonly json: string;
}

/** What an event says beside its position and time. Members in the order in which they are printed. */
export interface EventBody {
  readonly kind: "transaction" | "drop" | "schema" | "namespace";
  /** Printed members, without the comma in front. */
  readonly members: string;
  /** By which a filter of predicates judges it; undefined: it is told to everybody. */
  readonly predicates?: ReadonlySet<string>;
}

const text = JSON.stringify;

/** The events of a change of a schema: what was dropped, then what was defined. */
export function bodiesOf({ before, after }: SchemaStep): readonly EventBody[] {
  if (after === undefined) return [drop("namespace")];
  if (before === undefined) return [{ kind: "namespace", members: `"operation":"create"` }];
  if (before.storageId !== after.storageId) {
    const isAll = after.predicates.length === 0 && after.types.length === 0;
    return [drop(isAll ? "all" : "data")];
  }
  return [...dropsOf(before, after), ...definitionsOf(before, after)];
}

function drop(operation: string, members = ""): EventBody {
  return { kind: "drop", members: `"operation":"${operation}"${members}` };
}

function dropsOf(before: SchemaState, after: SchemaState): readonly EventBody[] {
  const left = new Set(after.predicates.map(({ definition }) => definition.name));
  const types = new Set(after.types.map(({ name }) => name));
  const predicates = before.predicates
    .map(({ definition }) => definition.name)
    .filter((name) => !left.has(name))
    .map((name) => ({
      ...drop("predicate", `,"predicate":${text(name)}`),
      predicates: new Set([name]),
    }));
  const gone = before.types.filter(({ name }) => !types.has(name));
  return [...predicates, ...gone.map(({ name }) => drop("type", `,"type":${text(name)}`))];
}

/** Nothing where only an index was built: the definition is the same. */
function definitionsOf(before: SchemaState, after: SchemaState): readonly EventBody[] {
  const old = new Map(before.predicates.map(({ definition }) => [definition.name, definition]));
  const oldTypes = new Map(before.types.map((type) => [type.name, type]));
  const isNew = (one: PredicateDefinition): boolean =>
    JSON.stringify(one) !== JSON.stringify(old.get(one.name));
  const isNewType = (one: TypeDefinition): boolean =>
    JSON.stringify(one) !== JSON.stringify(oldTypes.get(one.name));
  const predicates = after.predicates.map(({ definition }) => definition).filter(isNew);
  const types = after.types.filter(isNewType);
  if (predicates.length === 0 && types.length === 0) return [];
  const names = new Set(predicates.map(({ name }) => name));
  const printed = `"schema":${text(printSchemaText({ predicates, types }))}`;
  // A type may list any predicate.
  return [
    { kind: "schema", members: printed, ...(types.length === 0 ? { predicates: names } : {}) },
  ];
}
