/** One root query of a request: its values lowered, its plan found, run over a snapshot, ready to be written. */
import type { PlanReport } from "../../exec/explain.ts";
import { assert, must } from "../../base/assert.ts";
import { drive, type Steps } from "../../base/maybe.ts";
import type { ExecutionResult } from "../../exec/frame.ts";
import type { Yielder } from "../../exec/yielder.ts";
import type { Reader } from "../../graph/reader.ts";
import { takeWriter } from "../../render/json-writer.ts";
import type { JsonWriter } from "../../render/json-writer.ts";
import { checkAnswer, countShown, manyShown } from "../../render/answer-size.ts";
import { leastListBytes } from "../../render/graphql-size.ts";
import { isLarge, RenderYielder } from "../../render/render-yielder.ts";
import { GraphqlRenderer } from "../../render/graphql-json.ts";
import { hasLambda } from "../../render/graphql-lambda.ts";
import type { LambdaValues } from "../../render/graphql-shape.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import { Lru } from "../../base/lru.ts";
import type { CompiledSchema, FieldDefinition, RootField } from "../schema/compiled-schema.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import { resolveLambdaFields } from "./lambda-fields.ts";
import type { LambdaOutcome } from "./lambda-fields.ts";
import { makeLowerContext } from "./lower-context.ts";
import type { Guard } from "./lower-context.ts";
import { rowsOfEntities, type Entities } from "./entities-root.ts";
import { lowerEntityParts, lowerRoot, lowerRootParts, shapeOfRoot } from "./lower-root.ts";
import type { RootShape, SimilarParts } from "./lower-root.ts";
import { PlannedTree } from "./lower-run.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { RunSettings } from "./lower-run.ts";
import { collectSites } from "./lower-selection.ts";
import { lowerSite } from "./lower-site.ts";
import type { SiteParts } from "./lower-site.ts";
import { evaluateArguments } from "../operation/arguments.ts";
import type { ArgumentObject, RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { openAnswer } from "./answer.ts";
import type { RootOutcome } from "./answer.ts";
import { rankByDistance } from "./query-similar.ts";

/** Plans of one root field; requests of few shapes come to it. */
const plansMax = 64;
const shapeUnits = 256;

// What a plan takes, in bytes, by and large.
const bytesPerShapeUnit = 20;
const bytesPerPlannedField = 2_000;

interface PlannedRoot {
  /** What decided it: everything of the request but the literals. */
  readonly form: string;
  readonly tree: PlannedTree;
  readonly shape: RootShape;
  /** Some field of it is computed by the lambda server. */
  readonly hasLambda: boolean;
}

/** A root query with one request's values: everything but the reading. */
export interface ReadyQuery {
  readonly planned: PlannedRoot;
  readonly texts: readonly string[];
  readonly similar: SimilarParts | undefined;
  /** Of `_entities`: those that are asked for. */
  readonly entities: Entities | undefined;
}

const plansByField = new WeakMap<SelectedField, Lru<string, PlannedRoot>>();
const sitesByField = new WeakMap<SelectedField, readonly SelectedField[]>();

/** Throws FieldRefused. `entities`: of `_entities`, what its representations ask for. */
export function readyQuery(
  root: RootField,
  field: SelectedField,
  request: RequestValues,
  guard: Guard | undefined,
  entities?: Entities,
): ReadyQuery {
  const context = makeLowerContext(guard, request);
  const parts =
    entities === undefined
      ? lowerRootParts(context, root, field, argumentsOf(root, field, request), request)
      : lowerEntityParts(context, field, entities, request);
  const sites = new Map<SelectedField, SiteParts>();
  for (const site of sitesOf(field, guard)) sites.set(site, lowerSite(context, site, request));
  const shape = shapeOfRoot(parts, [...sites.values()]);
  let plans = plansByField.get(field);
  if (plans === undefined) plansByField.set(field, (plans = Lru.byLength(plansMax, shapeUnits)));
  let planned = plans.get(shape);
  if (planned === undefined) {
    const lowered = lowerRoot(root, field, parts, sites);
    const { document, shape: form } = lowered;
    const isLambda = form.kind !== "aggregate" && hasLambda(form.object);
    planned = { form: shape, tree: new PlannedTree(document), shape: form, hasLambda: isLambda };
    plans.set(shape, planned);
    request.grow(2 * shape.length * bytesPerShapeUnit + countFields(field) * bytesPerPlannedField);
  }
  return { planned, texts: context.texts, similar: parts.similar, entities };
}

/** The values of a root field's arguments. */
export function argumentsOf(
  root: RootField,
  field: SelectedField,
  request: RequestValues,
): ArgumentObject {
  return evaluateArguments(field.node.arguments ?? [], root.arguments, request);
}

function countFields({ selection }: SelectedField): number {
  let count = 1;
  for (const field of selection?.fields ?? []) count += countFields(field);
  return count;
}

function sitesOf(field: SelectedField, guard: Guard | undefined): readonly SelectedField[] {
  let sites = sitesByField.get(field);
  if (sites === undefined) {
    const found: SelectedField[] = [];
    collectSites(field.selection, found, guard);
    sitesByField.set(field, (sites = found));
  }
  return sites;
}

export function runQuery(
  ready: ReadyQuery,
  reader: Reader,
  settings: RunSettings,
  budget: RequestBudget,
): Promise<ExecutionResult> {
  return ready.planned.tree.run(reader, ready.texts, settings, budget);
}

/** What `runQuery` would do. */
export function explainQuery(
  ready: ReadyQuery,
  reader: Reader,
  settings: RunSettings,
  budget: RequestBudget,
): Promise<PlanReport> {
  return ready.planned.tree.explain(reader, ready.texts, settings, budget);
}

/** Runs as `runQuery` does, and tells what was done. */
export function profileQuery(
  ready: ReadyQuery,
  reader: Reader,
  settings: RunSettings,
  budget: RequestBudget,
): Promise<{ readonly result: ExecutionResult; readonly report: PlanReport }> {
  return ready.planned.tree.profile(reader, ready.texts, settings, budget);
}

/** The values of a query's lambda fields; undefined where it has none. */
export async function resolveQueryLambda(
  ready: ReadyQuery,
  field: SelectedField,
  result: ExecutionResult,
  calls: () => LambdaCalls,
): Promise<LambdaOutcome | undefined> {
  const { shape } = ready.planned;
  const [block] = result.blocks;
  if (!ready.planned.hasLambda || block === undefined || shape.kind === "aggregate") {
    return undefined;
  }
  const isHidden = shape.kind === "single" && shape.passwordField >= 0;
  const shown = isHidden ? { ...block, rows: passing(block, shape.passwordField) } : block;
  return resolveLambdaFields(shown, shape.object, field.key, calls());
}

/** What a run gave, with the values of its lambda fields. */
export interface QueryResult {
  readonly result: ExecutionResult;
  readonly lambda: LambdaValues | undefined;
}

/** Writes the value of a root query. */
export function writeQuery(
  out: JsonWriter,
  ready: ReadyQuery,
  field: SelectedField,
  { result, lambda }: QueryResult,
  errors: CompletionError[],
): void {
  const shape = ready.planned.shape;
  const [block, second] = result.blocks;
  if (block === undefined) {
    out.ascii("null");
    return;
  }
  const path = [field.key];
  switch (shape.kind) {
    case "list":
      new GraphqlRenderer(out, errors, path, { lambda }).list(block, shape.object);
      return;
    case "entities": {
      const rows = entityRows(ready, block, shape.keyField);
      new GraphqlRenderer(out, errors, path, { lambda }).list(block, shape.object, rows);
      return;
    }
    case "single": {
      const rows = shape.passwordField < 0 ? block.rows : passing(block, shape.passwordField);
      new GraphqlRenderer(out, errors, path, { lambda }).single(
        { ...block, rows },
        shape.object,
        field.ordinal,
      );
      return;
    }
    case "aggregate":
      new GraphqlRenderer(out, errors, path).rootAggregate(
        shape.typeName,
        shape.members,
        block.count ?? block.rows.length,
        second?.frame,
      );
      return;
    case "similar": {
      const ranked = rankByDistance(block, shape.vectorField, second, ready.similar);
      const computed = { distances: ranked.distances, lambda };
      const renderer = new GraphqlRenderer(out, errors, path, computed);
      renderer.list(block, shape.object, ranked.rows);
    }
  }
}

/** As many entities are written in one go; the same may come as often as it is asked for. */
const entitiesAtOnce = 64;

/** Whether a query's answer is worth writing in steps. */
export function isLargeAnswer({ planned, entities }: ReadyQuery, result: ExecutionResult): boolean {
  const { kind } = planned.shape;
  if (kind === "aggregate" || result.blocks[0] === undefined) return false;
  return (entities?.values.length ?? 0) > entitiesAtOnce || isLarge(result);
}

interface LargeAnswer {
  readonly yielder: Yielder;
  readonly bytesMax: number;
}

/**
 * The value of a root with many nodes, written in steps. Alone and without errors it stays in the writer that it was
 * written to: copying 17 MB keeps others waiting for 50 ms and more.
 */
export async function writeLargeAnswer(
  ready: ReadyQuery,
  field: SelectedField,
  queried: QueryResult,
  { yielder, bytesMax }: LargeAnswer,
): Promise<Pick<RootOutcome, "write" | "begun"> & { readonly bytes: number }> {
  const writer = openAnswer(field, bytesMax);
  const start = writer.length;
  const found: CompletionError[] = [];
  let isDone = false;
  try {
    await drive(measure(writer, ready, queried, { yielder, bytesMax }));
    const renderYielder = new RenderYielder(yielder, writer);
    await drive(writeInSteps({ writer, found, renderYielder }, ready, field, queried));
    isDone = true;
  } finally {
    if (!isDone) writer.release();
  }
  const write: RootOutcome["write"] = (out, errors) => {
    out.bytes(writer.view(start));
    writer.release();
    errors.push(...found);
  };
  const bytes = writer.length - start;
  return found.length === 0 ? { write, begun: writer, bytes } : { write, bytes };
}

/** The value of a root, written before the answer is: its columns are needed no longer. */
export function writeSmallAnswer(
  ready: ReadyQuery,
  field: SelectedField,
  queried: QueryResult,
  bytesMax: number,
): { readonly write: RootOutcome["write"]; readonly bytes: number } {
  const found: CompletionError[] = [];
  const writer = takeWriter(bytesMax);
  let value: Uint8Array;
  try {
    writeQuery(writer, ready, field, queried, found);
    value = writer.slice(0);
  } finally {
    writer.release();
  }
  const write: RootOutcome["write"] = (out, errors) => {
    out.bytes(value);
    errors.push(...found);
  };
  return { write, bytes: value.length };
}

/** Refuses an answer that no limit would let be written; makes room for one that is known to be large. */
function* measure(
  writer: JsonWriter,
  { planned: { shape } }: ReadyQuery,
  { result }: QueryResult,
  { yielder, bytesMax }: LargeAnswer,
): Steps<void> {
  const shown = yield* countShown(result, yielder);
  yielder.budget.expect(shown);
  const [block] = result.blocks;
  if (shown < manyShown || block === undefined || shape.kind === "aggregate") return;
  const least = yield* leastListBytes(block.frame, block.rows, shape.object, yielder);
  checkAnswer(least, { resultBytesMax: bytesMax });
  writer.reserve(least);
}

interface LargeOutput {
  readonly writer: JsonWriter;
  readonly found: CompletionError[];
  readonly renderYielder: RenderYielder;
}

/** `writeQuery`, in steps. */
function* writeInSteps(
  { writer, found, renderYielder }: LargeOutput,
  ready: ReadyQuery,
  field: SelectedField,
  { result, lambda }: QueryResult,
): Steps<void> {
  const { shape } = ready.planned;
  const [block, second] = result.blocks;
  assert(block !== undefined && shape.kind !== "aggregate", "a large answer has nodes");
  const path = [field.key];
  if (shape.kind === "similar") {
    const ranked = rankByDistance(block, shape.vectorField, second, ready.similar);
    const computed = { distances: ranked.distances, lambda };
    const renderer = new GraphqlRenderer(writer, found, path, computed);
    yield* renderer.listInSteps(block, shape.object, renderYielder, ranked.rows);
    return;
  }
  const renderer = new GraphqlRenderer(writer, found, path, { lambda });
  if (shape.kind === "list") {
    yield* renderer.listInSteps(block, shape.object, renderYielder);
    return;
  }
  if (shape.kind === "entities") {
    const rows = entityRows(ready, block, shape.keyField);
    yield* renderer.listInSteps(block, shape.object, renderYielder, rows);
    return;
  }
  const rows = shape.passwordField < 0 ? block.rows : passing(block, shape.passwordField);
  yield* renderer.singleInSteps({ ...block, rows }, shape.object, field.ordinal, renderYielder);
}

function entityRows(
  { entities }: ReadyQuery,
  block: ExecutionResult["blocks"][number],
  keyField: number,
): readonly number[] {
  return rowsOfEntities(block, keyField, must(entities, "the query is for entities"));
}

/** Rows whose password check came out true. */
function passing(block: ExecutionResult["blocks"][number], passwordField: number): Uint32Array {
  const column = block.frame.fields[passwordField];
  return block.rows.filter((row) => {
    const value = column?.kind === "computed" ? column.values[row] : undefined;
    return value?.kind === "bool" && value.bool;
  });
}

/** The generated root field behind a selected one; undefined for `__typename` and introspection. */
export function rootFieldOf(
  schema: CompiledSchema,
  operation: "query" | "mutation" | "subscription",
  definition: FieldDefinition,
): RootField | undefined {
  if (operation === "mutation") return schema.mutations.get(definition.name);
  const roots = operation === "query" ? schema.queries : schema.subscriptions;
  return roots.get(definition.name);
}
