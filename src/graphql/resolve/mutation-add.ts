/** addT (reference/graphql 5.2). */
import { assert } from "../../base/assert.ts";
import { InputCollector } from "./mutation-input.ts";
import {
  checkAddable,
  checkAdded,
  checkCounterparts,
  createdBy,
  findUpdatable,
  judgeProblems,
} from "./mutation-judge.ts";
import { LookupList } from "./mutation-lookup.ts";
import { lookAround, openSight } from "./mutation-sight.ts";
import { applyFacts, ending } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage, StageSteps } from "./mutation-stage.ts";
import { addInputOf, NodeWriter } from "./mutation-write.ts";

/** Throws MutationRefused, WriteFailed. */
export async function runAdd(stage: MutationStage, steps: StageSteps): Promise<MutationEffect> {
  const { type, values, txn } = stage;
  const collector = new InputCollector();
  const tops = collector.collectTop(type, addInputOf(type), values["input"]);
  collector.finish();
  const list = new LookupList();
  list.addNodes(collector.nodes);
  const endLookup = steps.lookup();
  const lookups = await ending(list.find(txn.reader, stage, stage.budget), endLookup);
  const isUpsert = values["upsert"] === true;
  const updatable = isUpsert ? await findUpdatable(stage, tops, lookups) : undefined;
  const sight =
    stage.guard === undefined ? openSight : await lookAround(stage, collector.nodes, lookups);
  const writer = new NodeWriter(stage, lookups, sight, collector.definitions, updatable);
  const { facts, edges } = writer;
  const keys = tops.map((top) => writer.addTop(top, isUpsert));
  if (stage.guard !== undefined) await judgeProblems(stage, writer);
  writer.finish();
  if (stage.guard !== undefined) checkAddable(stage, createdBy(stage, writer, collector.nodes));
  const endWrite = steps.write();
  await edges.write(txn.reader, facts);
  if (stage.guard !== undefined) await checkCounterparts(stage, edges.counterparts);
  const labels = facts.isEmpty ? noLabels : await applyFacts(txn, facts, endWrite);
  if (stage.guard !== undefined) {
    await checkAdded(stage, createdBy(stage, writer, collector.nodes), labels);
  }
  const uids: number[] = [];
  for (const key of keys) {
    if (key === undefined) continue;
    const uid = typeof key === "string" ? labels.get(key) : key;
    assert(uid !== undefined, "a new node has a uid");
    uids.push(uid);
  }
  return { uids: sortUids(uids), numUids: writer.createdCount, msg: undefined };
}

const noLabels: ReadonlyMap<string, number> = new Map();

/** Ascending, each once: the order of a payload. */
function sortUids(uids: readonly number[]): readonly number[] {
  if (uids.length < 2) return uids;
  return [...new Set(uids)].sort((a, b) => a - b);
}
