/** The body of a mutation request, in both its forms, as facts (reference/dql 1.4, 3.7). */
import { parseQuery, parseUpsertQuery } from "../exec/dql.ts";
import { parseUpsert, parseUpsertInSteps } from "../dql/mutation-parser.ts";
import type { Block, Filter, Literal, QueryDocument, UpsertDocument } from "../dql/ast.ts";
import { andThen, drive, type MaybePromise, runSteps, type Steps } from "../base/maybe.ts";
import { noDirectives, noPage } from "../dql/ast.ts";
import { isServerOnly } from "../graph/reserved.ts";
import type { Schema } from "../graph/schema.ts";
import { parseJsonFactsInSteps, parseJsonMutationInSteps } from "../intake/json-mutation.ts";
import { parseRdfMutationInSteps } from "../intake/nquad-parser.ts";
import { Fault } from "../model/fault.ts";
import type { Limits } from "../model/limits.ts";
import type { Mutation } from "../model/nquad.ts";
import type { Look } from "../model/request-budget.ts";
import { usedVariables } from "../write/upsert.ts";
import type { MutateRequest, MutationPart, MutationParts } from "./engine.ts";
import { refuseServerOnly } from "./reserved-nodes.ts";
import type { UpsertQueries, UpsertQuery } from "./upsert-queries.ts";

export interface ParsedBody {
  /** The request's query with a block for each condition; undefined where there is none. */
  readonly query: UpsertQuery | undefined;
  readonly mutations: readonly ConditionalMutation[];
  /**
   * Conditions that stand without a query: they say nothing unless the request sets a unique predicate
   * (`setsUnique`), for which the reference asks a query of its own. Then this is the body.
   */
  readonly judged?: () => ParsedBody;
}

export interface ConditionalMutation extends Mutation {
  /** The variable that holds a node when the condition is true; undefined: always. */
  readonly condition: string | undefined;
}

/** Longer bodies are read in steps. */
const unitsAtOnce = 16_384;

/**
 * `look`: asked on the way through a long body. Throws the faults of the parsers, and E_MUTATION for predicates that
 * only the server writes.
 */
export function parseBody(
  body: MutateRequest["body"],
  limits: Limits,
  queries: UpsertQueries,
  look: Look,
): MaybePromise<ParsedBody> {
  const isShort = lengthOf(body) <= unitsAtOnce;
  const read = readRaw(body, limits, isShort ? undefined : look);
  return isShort
    ? finishBody(runSteps(read), limits, queries)
    : andThen(drive(read), (given) => finishBody(given, limits, queries));
}

function lengthOf(body: MutateRequest["body"]): number {
  if (body.kind !== "parts") return body.text.length;
  let length = 0;
  for (const { setJson, deleteJson, set, delete: deletes } of body.mutations) {
    length += setJson.length + deleteJson.length + set.length + deletes.length;
  }
  return length;
}

function readRaw(body: MutateRequest["body"], limits: Limits, look?: Look): Steps<RawBody> {
  if (body.kind === "parts") return readParts(body, limits, look);
  return body.kind === "rdf"
    ? readRdf(body, look)
    : parseJsonMutationInSteps(body.text, limits.depthMax, look);
}

function finishBody(given: RawBody, limits: Limits, queries: UpsertQueries): ParsedBody {
  const { variables, mutations: all } = given;
  const raw = { query: given.query.trim(), mutations: all, variables };
  for (const mutation of raw.mutations) checkReserved(mutation);
  if (raw.mutations.length === 0) {
    if (raw.query === "") throw new Fault("E_MUTATION", "empty request");
    const text = { query: raw.query, conditions: [], uses: [], variables: raw.variables };
    const { query } = queries.read(text, () => ({
      document: parseQuery(raw.query, raw.variables ?? noVariables, limits),
      isConditional: [],
    }));
    return { query, mutations: [] };
  }
  if (raw.query !== "") return readConditions(raw, limits, queries);
  const mutations = raw.mutations.map((mutation) => withCondition(mutation, undefined));
  if (raw.mutations.every(({ condition }) => condition.trim() === "")) {
    return { query: undefined, mutations };
  }
  const query = `{ ${uniqueVariable} as var(func: uid(0)) }`;
  const judged = (): ParsedBody =>
    readConditions({ query, mutations: raw.mutations }, limits, queries, [uniqueVariable]);
  return { query: undefined, mutations, judged };
}

/** Whether a value is set of a predicate that may have it once only. */
export function setsUnique(mutations: readonly Mutation[], schema: Schema): boolean {
  return mutations.some(({ set }) =>
    set.some(
      ({ object, predicate }) =>
        (object.kind === "value" || object.kind === "val") &&
        schema.predicate(predicate)?.definition.unique === true,
    ),
  );
}

/** Mutations with their conditions, which are blocks of the query. */
function readConditions(
  raw: RawBody,
  limits: Limits,
  queries: UpsertQueries,
  uses: readonly string[] = [],
): ParsedBody {
  const text = {
    query: raw.query,
    conditions: raw.mutations.map((mutation) => mutation.condition),
    uses: [...uses, ...usedVariables(raw.mutations)],
    variables: raw.variables,
  };
  const { parsed, query } = queries.read(text, () => {
    const { query: document, conditions } = parseUpsertQuery(text, limits);
    return {
      document: withConditions(document, conditions),
      isConditional: conditions.map((condition) => condition !== undefined),
    };
  });
  return {
    query,
    mutations: raw.mutations.map((mutation, i) =>
      withCondition(mutation, parsed.isConditional[i] === true ? conditionVariable(i) : undefined),
    ),
  };
}

/** Made member by member: a spread with more behind it costs V8 a microsecond and more. */
function withCondition<C>(
  { set, delete: deletes, hints }: Mutation,
  condition: C,
): Mutation & { readonly condition: C } {
  return { set, delete: deletes, hints, condition };
}

const noVariables: ReadonlyMap<string, string> = new Map();

interface RawBody {
  readonly query: string;
  /** Of the query; undefined: it has none. */
  readonly variables?: ReadonlyMap<string, string> | undefined;
  readonly mutations: readonly (Mutation & { readonly condition: string })[];
}

function* readRdf(
  { text, variables }: MutateRequest["body"] & { readonly kind: "rdf" },
  look?: Look,
): Steps<RawBody> {
  if (isBlank(text)) throw new Fault("E_MUTATION", "empty request");
  let parsed: UpsertDocument;
  try {
    parsed = look === undefined ? parseUpsert(text) : yield* parseUpsertInSteps(text, look);
  } catch (error) {
    throw asFrame(error);
  }
  const mutations: RawBody["mutations"][number][] = [];
  for (const mutation of parsed.mutations) {
    const read = yield* parseRdfMutationInSteps(mutation, look);
    mutations.push(withCondition(read, mutation.condition));
  }
  return { query: parsed.query ?? "", mutations, variables: given(variables) };
}

function given(variables?: ReadonlyMap<string, string>): RawBody["variables"] {
  return variables === undefined || variables.size === 0 ? undefined : variables;
}

function* readParts(body: MutationParts, limits: Limits, look?: Look): Steps<RawBody> {
  const mutations: RawBody["mutations"][number][] = [];
  for (const part of body.mutations) mutations.push(yield* readPart(part, limits, look));
  const { query, variables } = body;
  return { query, mutations, variables: given(variables) };
}

function* readPart(
  part: MutationPart,
  { depthMax }: Limits,
  look?: Look,
): Steps<RawBody["mutations"][number]> {
  const { condition, setJson, deleteJson } = part;
  const facts = yield* parseRdfMutationInSteps(part, look);
  if (setJson === "" && deleteJson === "") return withCondition(facts, condition);
  const json = yield* parseJsonFactsInSteps({ set: setJson, delete: deleteJson }, depthMax, look);
  return {
    set: [...json.set, ...facts.set],
    delete: [...json.delete, ...facts.delete],
    hints: new Map([...facts.hints, ...json.hints]),
    condition,
  };
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** The frame of a body is refused in an answer without `data`, unlike the query and the facts inside it. */
function asFrame(error: unknown): unknown {
  return error instanceof Fault && error.code === "E_DQL_SYNTAX"
    ? new Fault("E_MUTATION_FRAME", error.message, { cause: error })
    : error;
}

function checkReserved({ set, delete: deletes }: Mutation): void {
  for (const facts of [set, deletes]) {
    for (const { predicate } of facts) {
      if (!predicate.startsWith("dgraph.") || !isServerOnly(predicate)) continue;
      throw refuseServerOnly(predicate);
    }
  }
}

/** What the reference calls the first value that it looks for. */
const uniqueVariable = "__dgraph_uniquecheck_0__";

function conditionVariable(i: number): string {
  return `__dgraph_upsertcheck_${i}__`;
}

const zero: Literal = { text: "0", quoted: false, token: -1 };

/** A condition is the filter of a block over one made-up node, as in the reference: the block is empty or not. */
function withConditions(
  query: QueryDocument,
  conditions: readonly (Filter | undefined)[],
): QueryDocument {
  const blocks: Block[] = [...query.blocks];
  conditions.forEach((filter, i) => {
    if (filter === undefined) return;
    blocks.push({
      kind: "var",
      name: "var",
      variable: conditionVariable(i),
      root: {
        name: "uid",
        subject: { kind: "none" },
        args: [{ kind: "literal", literal: zero }],
        at: undefined,
      },
      filter,
      page: noPage,
      order: [],
      directives: noDirectives,
      recurse: undefined,
      shortest: undefined,
      children: [],
      at: undefined,
    });
  });
  return { blocks, schema: query.schema };
}
