/** A row of the commit log → events of the change feed, piece by piece: a commit may have millions of facts. */
import { must } from "../base/assert.ts";
import { packCommitTime } from "../engine/start-time.ts";
import { isServerOnly, reservedPredicates } from "../graph/reserved.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import { fingerprintValue } from "../tokens/fingerprint.ts";
import type { CellPatch, EdgePatch } from "../store/store.ts";
import { bodiesOf, type EventBody, type FeedEvent } from "./feed-event.ts";
import { seesPredicate, type FeedFilter } from "./feed-filter.ts";
import type { FeedRow } from "./feed-rows.ts";
import { printPosition } from "./position.ts";
import { printFact } from "./print-fact.ts";
import { readChanges } from "./record-changes.ts";
import { readSchemaStep, type SchemaStep } from "./schema-history.ts";

export interface PrintedCommit extends FeedRow {
  readonly namespace: number;
  readonly committedMs: number;
}

interface CommitView {
  readonly storeId: string;
  readonly filter: FeedFilter;
  /** Before the commit; undefined: there was no such namespace. */
  readonly schema: SchemaState | undefined;
  /** Nodes that a filter of types lets through; undefined: all. */
  readonly members: ReadonlySet<number> | undefined;
  /** Told of a change of the schema. */
  readonly onSchema: (step: SchemaStep) => void;
}

/** Facts of one event, and characters of their text. */
const factsMax = 1000;
const charactersMax = 64 * 1024;
/** So many patches are looked at before others may run. */
const patchesAtOnce = 2000;

/** Yields undefined where it has worked for a while and tells nothing yet. */
export function* printCommit(
  commit: PrintedCommit,
  view: CommitView,
): Generator<FeedEvent | undefined, void> {
  let waiting: EventBody | undefined;
  let count = 0;
  let part = 0;
  for (const body of readBodies(commit, view)) {
    if (body === undefined) {
      if (++count % patchesAtOnce === 0) yield undefined;
      continue;
    }
    if (waiting !== undefined)
      yield printEvent(commit, view, waiting, { part: part++, more: true });
    waiting = body;
  }
  if (waiting !== undefined) yield printEvent(commit, view, waiting, { part, more: false });
}

function printEvent(
  { commitTs, committedMs, namespace }: PrintedCommit,
  { storeId }: CommitView,
  { kind, members }: EventBody,
  { part, more }: { readonly part: number; readonly more: boolean },
): FeedEvent {
  const position = printPosition(storeId, commitTs);
  const time = new Date(committedMs).toISOString();
  const place = more || part > 0 ? `,"part":${part}${more ? ',"more":true' : ""}` : "";
  const front = `{"kind":"${kind}","position":"${position}","commit":${commitTs},"commitTs":${packCommitTime(commitTs)}`;
  const json = `${front},"time":"${time}","namespace":${namespace},${members}${place}}`;
  return { kind, completes: more ? undefined : position, json };
}

function* readBodies(
  commit: PrintedCommit,
  view: CommitView,
): Generator<EventBody | undefined, void> {
  const { filter } = view;
  const facts = new FactList();
  let schema = namesOf(view.schema);
  let hasGraphql = false;
  // Its drop says what becomes of the GraphQL schema: data alone leaves it as it was.
  let hasMoved = false;
  for (const found of readChanges(commit.bytes)) {
    if (found === undefined) {
      yield undefined;
    } else if (found.kind === "meta") {
      const step = readSchemaStep(found.applied);
      if (step?.namespace !== commit.namespace) continue;
      view.onSchema(step);
      hasMoved = step.before?.storageId !== step.after?.storageId;
      schema = namesOf(step.after ?? step.before);
      for (const body of bodiesOf(step)) if (seesBody(filter, body)) yield body;
    } else {
      const { change } = found;
      const definition = must(
        schema.get(change.patch.predicate),
        "a commit's predicates are known",
      );
      if (definition.name === graphqlPredicate) hasGraphql = true;
      if (isTold(change.patch, definition, view)) facts.add(printFact(change, definition));
      yield facts.isFull ? facts.drain() : undefined;
    }
  }
  if (hasGraphql && !hasMoved && seesBody(filter, graphqlBody)) yield graphqlBody;
  if (!facts.isEmpty) yield facts.drain();
}

const graphqlPredicate = "dgraph.graphql.schema";
/** Its text may hold a secret: who may, asks /admin for it. */
const graphqlBody: EventBody = {
  kind: "schema",
  members: '"graphql":true',
  predicates: new Set([graphqlPredicate]),
};

function seesBody(filter: FeedFilter, { predicates }: EventBody): boolean {
  if (predicates === undefined) return true;
  return [...predicates].some((name) => seesPredicate(filter, name));
}

/** What the server keeps for itself is no fact, as in exports. */
function isTold(
  patch: CellPatch | EdgePatch,
  { name }: PredicateDefinition,
  { filter, members }: CommitView,
): boolean {
  if (!seesPredicate(filter, name) || isServerOnly(name)) return false;
  if (members !== undefined && !members.has(patch.uid)) return false;
  return name !== "dgraph.type" || patch.kind !== "cell" || !ownTypes.has(patch.slot);
}

const ownTypes: ReadonlySet<string> = new Set(
  ["dgraph.graphql", "dgraph.graphql.persisted_query", "dgraph.namespace"].map((text) =>
    fingerprintValue({ kind: "string", text }),
  ),
);

class FactList {
  #texts: string[] = [];
  #characters = 0;

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  get isFull(): boolean {
    return this.#texts.length >= factsMax || this.#characters >= charactersMax;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#characters += text.length;
  }

  drain(): EventBody {
    const members = `"facts":[${this.#texts.join(",")}]`;
    this.#texts = [];
    this.#characters = 0;
    return { kind: "transaction", members };
  }
}

type Names = ReadonlyMap<number, PredicateDefinition>;

const reserved: Names = new Map(
  reservedPredicates({ acl: true }).map(({ id, definition }) => [id, definition]),
);
const known = new WeakMap<SchemaState, Names>();

/** Predicates by their numbers. */
function namesOf(state: SchemaState | undefined): Names {
  if (state === undefined) return reserved;
  let names = known.get(state);
  if (names === undefined) {
    const own = state.predicates.map(({ id, definition }) => [id, definition] as const);
    names = new Map([...reserved, ...own]);
    known.set(state, names);
  }
  return names;
}
