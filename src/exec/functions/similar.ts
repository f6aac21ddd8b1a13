/**
 * similar_to(): the nearest vectors of a predicate, by its index or by comparing all (reference/dql 4.3.12). Price:
 * with an index some hundred distances, in memory; without one a read of every vector.
 */
import { must } from "../../base/assert.ts";
import { intersect } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import type { VectorAnswer, VectorQuestion } from "../../graph/reader.ts";
import { metricOf } from "../../graph/vector-metric.ts";
import { ConversionError, quoteGo } from "../../model/conversion-error.ts";
import { parseGoFloat } from "../../model/float.ts";
import { parseInt64 } from "../../model/int.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { isVectorText, parseVector } from "../../model/vector.ts";
import { addSlot, namespaced, refusal, variableIndex, type Builder } from "../../plan/builder.ts";
import { findIndex, literalSlots, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { parseUid } from "../bind.ts";
import { queryFault, slotText, valuesOf, type Run } from "../run.ts";
import { exact } from "../candidates.ts";
import { NearestVectors } from "../vector-distance.ts";
import { members, never, noList, uncounted, noCheck, type CallFunction } from "./function.ts";

interface SimilarCall {
  readonly kind: "similar";
  readonly use: PredicateUse;
  readonly index: PredicateIndex;
  readonly neighbors: SlotIndex;
  readonly target:
    | { readonly kind: "slot"; readonly slot: SlotIndex }
    | { readonly kind: "val"; readonly variable: number };
  readonly options: readonly { readonly key: string; readonly value: SlotIndex }[];
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    similar: SimilarCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const use = resolveSubject(builder, call);
  const positional = call.args.filter((argument) => argument.kind !== "option");
  const options = call.args.flatMap((argument) =>
    argument.kind === "option"
      ? [{ key: argument.key, value: addSlot(builder, "option", argument.value) }]
      : [],
  );
  const value = positional.find((argument) => argument.kind === "val");
  const slots = literalSlots(builder, "text", positional);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const [neighbors, target] = slots;
  if (neighbors === undefined || slots.length + (value === undefined ? 0 : 1) !== 2) {
    const needs = "2 arguments plus optional key:value pairs";
    const reason = `Function 'similar_to' requires ${needs}, but got ${slots.length} (%s)`;
    return refused(use, refusal(reason, slots));
  }
  const index = findIndex(use, "hnsw");
  if (index === undefined) {
    const name = namespaced(builder, use.name);
    const indexed = predicate.indexes.length > 0;
    const unindexed = `Predicate ${use.name} is not indexed`;
    return refused(use, refusal(indexed ? `Schema state not found for ${name}.` : unindexed));
  }
  return {
    kind: "similar",
    use,
    index,
    neighbors,
    target:
      value === undefined
        ? { kind: "slot", slot: target ?? neighbors }
        : { kind: "val", variable: variableIndex(builder, value.variable) },
    options,
  };
}

/** Vectors read at a time: 768 numbers each make 12 MB. */
const batchSize = 4096;

/** Those of some nodes (ascending) that may be among the nearest. */
type KeepSimilar = (uids: UidSet) => Promise<UidSet>;

/**
 * At most k nodes, ascending by uid and not by distance: the nearest of those that `keep` leaves, of all without it. Price
 * of `keep`: by an index twice as many are asked for until there are k of them, at most a quarter of all, then it is
 * asked of all; without one, of all.
 */
export async function findSimilar(
  run: Run,
  call: SimilarCall,
  keep?: KeepSimilar,
): Promise<UidSet> {
  const predicate = call.use.predicate;
  if (predicate === undefined) return emptyUidSet;
  const count = bindNeighbors(slotText(run, call.neighbors));
  const { threshold, ef } = bindOptions(run, call);
  const target = await bindTarget(run, call, predicate.id);
  if (target === undefined) return emptyUidSet;
  const metric = metricOf(call.index.options);
  const nearest = new NearestVectors(target, { metric, count, threshold });
  const search = { target, ef, predicate: predicate.id, index: call.index };
  const found = count > 0 ? await searchIndex(run, search, count, keep) : undefined;
  if (found !== undefined) {
    found.uids.forEach((uid, i) =>
      nearest.offer(uid, must(found.distances[i], "each node has its distance")),
    );
    await compareAll(run, predicate.id, found.changed, nearest);
    return nearest.uids();
  }
  const uids =
    (await run.reader.readLists([{ kind: "presence", predicate: predicate.id }]))[0] ?? emptyUidSet;
  await compareAll(run, predicate.id, keep === undefined ? uids : await keep(uids), nearest);
  return nearest.uids();
}

/**
 * The nearest that the index knows, and what the view itself changed, both as far as `keep` leaves them; undefined where
 * all must be compared. The index refuses to look for many, so the rounds are few.
 */
async function searchIndex(
  run: Run,
  search: Omit<VectorQuestion, "count" | "pause">,
  count: number,
  keep: KeepSimilar | undefined,
): Promise<VectorAnswer | undefined> {
  const pause = (): Promise<void> | undefined => run.yielder.check();
  for (let asked = count; ; asked *= 2) {
    const found = await run.reader.nearest?.({ ...search, count: asked, pause });
    if (found === undefined || keep === undefined) return found;
    const kept = await keep(Float64Array.from(found.uids).sort());
    if (kept.length >= count || found.uids.length < asked) {
      return keepFound(found, kept, await keep(found.changed));
    }
    const paused = run.yielder.check(asked);
    if (paused !== undefined) await paused;
  }
}

function keepFound(found: VectorAnswer, kept: UidSet, changed: UidSet): VectorAnswer {
  const isKept = new Set(kept);
  const places = [...found.uids.keys()].filter((i) =>
    isKept.has(must(found.uids[i], "each row has its node")),
  );
  return {
    uids: Float64Array.from(places, (i) => must(found.uids[i], "each row has its node")),
    distances: Float64Array.from(places, (i) =>
      must(found.distances[i], "each node has its distance"),
    ),
    changed,
  };
}

async function compareAll(
  run: Run,
  predicate: number,
  uids: UidSet,
  nearest: NearestVectors,
): Promise<void> {
  for (let from = 0; from < uids.length; from += batchSize) {
    const batch = uids.subarray(from, from + batchSize);
    const [column] = await run.reader.readLevel(batch, [{ kind: "cells", predicate }]);
    if (column?.kind !== "cells") continue;
    for (let i = 0; i < batch.length; i++) {
      if ((i & 255) === 255) {
        const pause = run.yielder.check();
        if (pause !== undefined) await pause;
      }
      const value = column.cells[i]?.[0]?.value;
      if (value?.kind === "float32vector")
        nearest.add(must(batch[i], "each value has its node"), value.vector);
    }
  }
}

function bindNeighbors(text: string): number {
  try {
    return Number(parseInt64(text, 0));
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw queryFault(`invalid value for number of neighbors: ${text}`);
  }
}

interface SimilarOptions {
  /** The distance beyond which nodes are left out. */
  readonly threshold: number | undefined;
  /** How many candidates a search by the index keeps. */
  readonly ef: number | undefined;
}

function bindOptions(run: Run, call: SimilarCall): SimilarOptions {
  let threshold: number | undefined;
  let ef: number | undefined;
  for (const option of call.options) {
    const text = slotText(run, option.value);
    if (option.key === "ef") {
      ef = bindOption("ef", text, () => Number(parseInt64(text, 0)));
      if (ef <= 0) throw queryFault(`Value for 'ef' must be positive, got: ${text}`);
    } else {
      threshold = bindOption(option.key, text, () => parseGoFloat(text));
      if (threshold < 0) {
        throw queryFault(`Value for '${option.key}' must be non-negative, got: ${text}`);
      }
    }
  }
  return { threshold, ef };
}

function bindOption(key: string, text: string, parse: () => number): number {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw queryFault(`Invalid value for '${key}' in similar_to: ${quoteGo(text)}`);
  }
}

/** The vector to be near to: written, of a node, or the value of a variable. undefined where there is none. */
async function bindTarget(
  run: Run,
  call: SimilarCall,
  predicate: number,
): Promise<Float32Array | undefined> {
  if (call.target.kind === "val") {
    const [value] = valuesOf(run, call.target.variable).values;
    return value?.kind === "float32vector" ? value.vector : undefined;
  }
  const text = slotText(run, call.target.slot);
  if (isVectorText(text)) return parseVector(text);
  const uid = parseUid(text);
  if (Number.isNaN(uid)) throw queryFault(`Value ${quoteGo(text)} is not a uid or vector`);
  const [column] = await run.reader.readLevel(Float64Array.of(uid), [{ kind: "cells", predicate }]);
  const value = column?.kind === "cells" ? column.cells[0]?.[0]?.value : undefined;
  return value?.kind === "float32vector" ? value.vector : undefined;
}

export const similar: CallFunction<SimilarCall> = {
  forms: [
    {
      subject: "predicate",
      names: {
        similar_to: {
          subject: "predicate",
          literals: "values",
          atRoot: true,
          brackets: "values",
          options: ["ef", "distance_threshold"],
        },
      },
      build,
    },
  ],
  price: 3,
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe: ({ use, neighbors }, words) => `similar_to ${words.use(use)} ${words.slot(neighbors)}`,
  count: uncounted,
  guess: () => "condition",
  reads: () => ({ rechecks: false, filter: "nothing" }),
  isCounted: never,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: async (run, call) => exact(await findSimilar(run, call)),
  list: noList,
  prepare: async (run, call, candidates) =>
    members(intersect(await findSimilar(run, call), candidates)),
};
