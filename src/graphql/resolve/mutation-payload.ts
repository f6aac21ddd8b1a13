/** What a mutation gives back: its nodes as its transaction sees them, counts, a message (reference/graphql 5.8). */
import { drive, type Steps } from "../../base/maybe.ts";
import type { BlockResult, ExecutionResult } from "../../exec/frame.ts";
import { withYielder, type Yielder } from "../../exec/yielder.ts";
import type { RunContext } from "../../exec/run.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import { GraphqlRenderer } from "../../render/graphql-json.ts";
import { checkAnswer, countShown, manyShown } from "../../render/answer-size.ts";
import { leastListBytes } from "../../render/graphql-size.ts";
import { takeWriter, type JsonWriter } from "../../render/json-writer.ts";
import { isLarge, RenderYielder } from "../../render/render-yielder.ts";
import { hasLambda } from "../../render/graphql-lambda.ts";
import type {
  LambdaShape,
  LambdaValue,
  LambdaValues,
  ObjectShape,
} from "../../render/graphql-shape.ts";
import { Lru } from "../../base/lru.ts";
import { assert } from "../../base/assert.ts";
import { Fault } from "../../model/fault.ts";
import type { Limits } from "../../model/limits.ts";
import { payloadFailed } from "../operation/errors.ts";
import type { ResponseError } from "../operation/errors.ts";
import { denied, literal, makeLowerContext, queryBlock, uidCall } from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import { resolveLambdaFields } from "./lambda-fields.ts";
import { PlannedTree, touchedUids } from "./lower-run.ts";
import { cascadeDirectives, collectSites, lowerSelection } from "./lower-selection.ts";
import { shapeOfParts } from "./lower-shape.ts";
import { lowerSite } from "./lower-site.ts";
import type { SiteParts } from "./lower-site.ts";
import type { MutationEffect, MutationStage } from "./mutation-stage.ts";
import type { OperationRun } from "../operation/cache.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

export interface Payload {
  readonly effect: MutationEffect;
  /** By field of the payload; undefined where there are no nodes to show. */
  readonly lists: ReadonlyMap<SelectedField, PayloadList | undefined>;
  /** The nodes could not be read; the mutation stands. */
  readonly errors: readonly ResponseError[];
  readonly lambda: LambdaValues | undefined;
}

interface PayloadList {
  readonly result: ExecutionResult;
  readonly object: ObjectShape;
  readonly hasLambda: boolean;
  /** Where it was large. */
  readonly written?: {
    readonly bytes: Uint8Array;
    readonly errors: readonly CompletionError[];
  };
}

/** Never throws for what the engine refuses: the mutation stands. */
export async function readPayload(
  stage: MutationStage,
  field: SelectedField,
  run: OperationRun,
  effect: MutationEffect,
): Promise<Payload> {
  const lists = new Map<SelectedField, PayloadList | undefined>();
  const errors: ResponseError[] = [];
  for (const part of field.selection?.fields ?? []) {
    const source = part.definition.source;
    if (source.kind !== "payload" || source.part !== "nodes") continue;
    try {
      lists.set(part, await readList(stage, field, part, run, effect.uids));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      lists.set(part, undefined);
      const name = field.definition.name;
      errors.push({ message: payloadFailed(name, error), path: [field.key] });
    }
  }
  return { effect, lists, errors, lambda: undefined };
}

/** With the values of its lambda fields. Called when the mutation stands: resolvers see what it wrote. */
export async function resolvePayloadLambda(
  payload: Payload,
  field: SelectedField,
  calls: () => LambdaCalls,
): Promise<Payload> {
  const pending = [...payload.lists.values()].flatMap((list) => {
    const block = list?.result.blocks[0];
    if (list?.hasLambda !== true || block === undefined) return [];
    return [resolveLambdaFields(block, list.object, field.key, calls())];
  });
  if (pending.length === 0) return payload;
  const lambda = new Map<LambdaShape, readonly LambdaValue[]>();
  const errors = [...payload.errors];
  for (const outcome of await Promise.all(pending)) {
    for (const [shape, values] of outcome.values) lambda.set(shape, values);
    errors.push(...outcome.errors);
  }
  return { ...payload, errors, lambda };
}

/**
 * With its large lists written, in steps. Called when all values are there; a list that goes over the limits is an error,
 * and the mutation stands.
 */
export async function writeLargeLists(
  payload: Payload,
  field: SelectedField,
  context: RunContext,
): Promise<Payload> {
  if (![...payload.lists.values()].some(isLargeList)) return payload;
  const lists = new Map(payload.lists);
  const errors = [...payload.errors];
  for (const [part, list] of payload.lists) {
    const block = list?.result.blocks[0];
    if (list === undefined || block === undefined || !isLargeList(list)) continue;
    const out = takeWriter(context.limits.resultBytesMax);
    const found: CompletionError[] = [];
    const renderer = new GraphqlRenderer(out, found, [field.key, part.key], {
      lambda: payload.lambda,
    });
    try {
      await withYielder(context, (yielder) =>
        drive(writeListInSteps(out, { block, list, renderer }, yielder, context.limits)),
      );
      lists.set(part, { ...list, written: { bytes: out.whole(), errors: found } });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      lists.set(part, undefined);
      errors.push({ message: payloadFailed(field.definition.name, error), path: [field.key] });
    } finally {
      out.release();
    }
  }
  return { ...payload, lists, errors };
}

function isLargeList(list: PayloadList | undefined): boolean {
  return list?.result.blocks[0] !== undefined && isLarge(list.result);
}

interface ListToWrite {
  readonly block: BlockResult;
  readonly list: PayloadList;
  readonly renderer: GraphqlRenderer;
}

function* writeListInSteps(
  out: JsonWriter,
  { block, list, renderer }: ListToWrite,
  yielder: Yielder,
  limits: Limits,
): Steps<void> {
  const shown = yield* countShown(list.result, yielder);
  yielder.budget.expect(shown);
  if (shown >= manyShown) {
    const least = yield* leastListBytes(block.frame, block.rows, list.object, yielder);
    checkAnswer(least, limits);
    out.reserve(least);
  }
  yield* renderer.listInSteps(block, list.object, new RenderYielder(yielder, out));
}

interface PlannedList {
  readonly tree: PlannedTree;
  readonly object: ObjectShape;
  readonly hasLambda: boolean;
}

const plansMax = 32;
const shapeUnits = 256;
/** Lists of more nodes are planned each time: their number is part of the plan. */
const plannedUidsMax = 16;
const plansByField = new WeakMap<SelectedField, Lru<string, PlannedList>>();

async function readList(
  stage: MutationStage,
  root: SelectedField,
  part: SelectedField,
  run: OperationRun,
  uids: readonly number[],
): Promise<PayloadList | undefined> {
  if (uids.length === 0) return undefined;
  const context = makeLowerContext(stage.guard);
  const own = withRootCascade(lowerSite(context, part, run.values), root);
  if (own.filter === denied) return undefined;
  const selected: SelectedField[] = [];
  collectSites(part.selection, selected, stage.guard);
  const sites = new Map(selected.map((site) => [site, lowerSite(context, site, run.values)]));
  let shape = `${uids.length} ${shapeOfParts(own)}`;
  for (const site of sites.values()) shape += `|${shapeOfParts(site)}`;
  let plans = plansByField.get(part);
  if (plans === undefined) plansByField.set(part, (plans = Lru.byLength(plansMax, shapeUnits)));
  const call = uidCall(uids.map((uid) => uidLiteral(context, uid)));
  let planned = plans.get(shape);
  if (planned === undefined) {
    assert(part.selection !== undefined, "a list of nodes has a selection");
    const inner = lowerSelection(part.selection, sites, own.cascade);
    const block = {
      ...queryBlock("q", call, inner.children),
      filter: own.filter,
      order: own.order,
      page: own.page,
      directives: cascadeDirectives(part.selection, own.cascade),
    };
    const tree = new PlannedTree({ blocks: [block], schema: undefined });
    planned = { tree, object: inner.shape, hasLambda: hasLambda(inner.shape) };
    if (uids.length <= plannedUidsMax) plans.set(shape, planned);
  }
  const result = await planned.tree.run(stage.txn.reader, context.texts, stage, stage.budget);
  stage.touch(touchedUids(result));
  return { result, object: planned.object, hasLambda: planned.hasLambda };
}

function uidLiteral(context: LowerContext, uid: number): ReturnType<typeof literal> {
  return literal(context, `0x${uid.toString(16)}`, false);
}

/** @cascade on the mutation itself reaches its nodes; with fields it names the payload's, which are always there. */
function withRootCascade(parts: SiteParts, root: SelectedField): SiteParts {
  if (parts.cascade !== undefined || root.cascade === undefined) return parts;
  const named = root.cascade.arguments?.some((argument) => argument.name.value === "fields");
  return named === true ? parts : { ...parts, cascade: [] };
}

export function writePayload(
  out: JsonWriter,
  payload: Payload,
  field: SelectedField,
  errors: CompletionError[],
): void {
  out.byte(123);
  const fields = field.selection?.fields ?? [];
  fields.forEach((part, i) => {
    if (i > 0) out.byte(44);
    out.bytes(part.keyBytes);
    const source = part.definition.source;
    if (source.kind !== "payload") {
      out.ascii(JSON.stringify(namedTypeOf(field.definition.type).name));
    } else if (source.part === "numUids") out.ascii(String(payload.effect.numUids));
    else if (source.part === "msg") out.ascii(JSON.stringify(payload.effect.msg ?? null));
    else {
      const list = payload.lists.get(part);
      if (list?.written !== undefined) {
        out.bytes(list.written.bytes);
        errors.push(...list.written.errors);
        return;
      }
      const path = [field.key, part.key];
      const renderer = new GraphqlRenderer(out, errors, path, { lambda: payload.lambda });
      writeList(out, list, renderer);
    }
  });
  out.byte(125);
}

function writeList(
  out: JsonWriter,
  list: PayloadList | undefined,
  renderer: GraphqlRenderer,
): void {
  const block = list?.result.blocks[0];
  if (list === undefined || block === undefined) out.ascii("[]");
  else renderer.list(block, list.object);
}
