/** addT (graphql.md 5.2). */
import { assert } from "../base/assert.ts";
import { EdgeChanges } from "./mutation-edges.ts";
import { FactList } from "./mutation-facts.ts";
import { InputCollector } from "./mutation-input.ts";
import { LookupList } from "./mutation-lookup.ts";
import { applyFacts } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage, StageSteps } from "./mutation-stage.ts";
import { addInputOf, NodeWriter } from "./mutation-write.ts";

/** Throws MutationRefused, WriteFailed. */
export async function runAdd(stage: MutationStage, steps: StageSteps): Promise<MutationEffect> {
  const { type, values, txn, clock } = stage;
  const collector = new InputCollector();
  const tops = collector.collectTop(type, addInputOf(type), values["input"]);
  collector.finish();
  const list = new LookupList();
  list.addNodes(collector.nodes);
  const endLookup = steps.lookup();
  const lookups = await list.find(txn.reader, stage, stage.bounds).finally(endLookup);
  const facts = new FactList();
  const edges = new EdgeChanges();
  const writer = new NodeWriter(facts, edges, lookups, collector.definitions, clock.nowMs());
  const isUpsert = values["upsert"] === true;
  const keys = tops.map((top) => writer.addTop(top, isUpsert));
  writer.finish();
  const endWrite = steps.write();
  await edges.write(txn.reader, facts);
  const labels = facts.isEmpty
    ? new Map<string, number>()
    : await applyFacts(txn, facts).finally(endWrite);
  const uids = keys.map((key) => {
    const uid = typeof key === "string" ? labels.get(key) : key;
    assert(uid !== undefined, "a new node has a uid");
    return uid;
  });
  return { uids: sortUids(uids), numUids: writer.createdCount, msg: undefined };
}

/** Ascending, each once: the order of a payload. */
export function sortUids(uids: readonly number[]): number[] {
  return [...new Set(uids)].sort((a, b) => a - b);
}
