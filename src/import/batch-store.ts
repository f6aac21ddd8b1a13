/** Stores a batch of rows: a look for their keys and what they link to, and one commit that nothing came between. */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type Client, findClientRefusal, type LoadRefusal } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { type MadeNodes, nameOf } from "./made-nodes.ts";
import { type KeyedNode, type Lookup, lookUp, printTransaction } from "./node-lookup.ts";
import type { RowKey, ReadRow, RowFault } from "./read-row.ts";
import { makeRowFacts, noteOwnNodes, type RowFacts, type RowRefusal } from "./row-facts.ts";
import type { RowPlan } from "./row-plan.ts";

export interface BatchOptions {
  readonly plan: RowPlan;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly made: MadeNodes;
  readonly uidOfRow: (index: number) => number;
  /** Told what a batch has done, once it is stored. */
  readonly onStored: (counts: StoredCounts) => void;
}

export interface StoredCounts {
  readonly made: number;
  readonly updated: number;
  readonly kept: number;
  /** Nodes of links. */
  readonly linked: number;
}

/** An aborted or refused batch is sent again this often before the import gives up. */
const attemptsMax = 60;

/** Gives the rows that are refused; all others are stored. Fault E_STARTUP where the server cannot be asked. */
export async function storeBatch(
  options: BatchOptions,
  given: readonly ReadRow[],
): Promise<readonly RowFault[]> {
  const faults: RowFault[] = [];
  let rows = given;
  for (let attempt = 1; rows.length > 0; attempt++) {
    const outcome = await tryBatch(options, rows);
    if (outcome === undefined) break;
    if ("faults" in outcome) {
      // Each round has fewer rows.
      faults.push(...outcome.faults);
      const refused = new Set(outcome.faults.map(({ index }) => index));
      rows = rows.filter(({ index }) => !refused.has(index));
      continue;
    }
    if (outcome.isPassing && attempt < attemptsMax) {
      await pause(options.random, attempt);
      continue;
    }
    if (outcome.isPassing || outcome.isOfServer) throw new Fault("E_STARTUP", outcome.message);
    faults.push(...(await splitBatch(options, rows, outcome.message)));
    break;
  }
  return faults;
}

/** What the server refuses is found by halves; all else is stored. */
async function splitBatch(
  options: BatchOptions,
  rows: readonly ReadRow[],
  message: string,
): Promise<readonly RowFault[]> {
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) {
    const { row, index } = first;
    return [{ row, index, place: row.place, reason: message.trim().replaceAll(/\s*\n\s*/g, " ") }];
  }
  const middle = Math.ceil(rows.length / 2);
  const before = await storeBatch(options, rows.slice(0, middle));
  const faults = [...before, ...(await storeBatch(options, rows.slice(middle)))];
  refuseAll(rows, faults);
  return faults;
}

/** So many rows that are refused in the same words are not at fault: the sender is, or the server. */
const refusedAlike = 8;

function refuseAll(rows: readonly ReadRow[], faults: readonly RowFault[]): void {
  if (rows.length < refusedAlike || faults.length < rows.length) return;
  const reasons = new Set(faults.map(({ reason }) => reason));
  const [reason] = reasons;
  if (reasons.size === 1 && reason !== undefined) throw new Fault("E_STARTUP", reason);
}

interface ServerRefusal extends LoadRefusal {
  /** It is no row that is refused. */
  readonly isOfServer: boolean;
}

async function tryBatch(
  options: BatchOptions,
  rows: readonly ReadRow[],
): Promise<ServerRefusal | { readonly faults: readonly RowFault[] } | undefined> {
  const { client, made } = options;
  const wanted = keysOf(rows, made);
  // Only rows without keys and links are written without a look.
  const looked = wanted.length === 0 ? undefined : await lookUp(client, wanted);
  if (looked !== undefined && "message" in looked) return { ...looked, isOfServer: true };
  await made.prepare(rows.reduce((sum, row) => sum + countLinks(row), 0));
  const { facts, faults } = makeFacts(options, rows, looked);
  if (faults.length > 0) return { faults };
  const set = facts.flatMap((one) => one.set);
  if (set.length > 0) {
    const open = looked === undefined ? "" : `&${printTransaction(looked.transaction)}`;
    const path = `/mutate?commitNow=true${open}`;
    const refusal = findClientRefusal(
      await client.post(path, "application/rdf", composeBody(facts, set)),
      true,
    );
    if (refusal !== undefined) return { ...refusal, isOfServer: false };
  }
  settle(options, rows, facts, looked);
  return undefined;
}

/** Keys of rows, and of links whose nodes are not known yet. */
function keysOf(rows: readonly ReadRow[], made: MadeNodes): RowKey[] {
  return rows.flatMap(({ keys, links }) => [
    ...keys,
    ...links.flatMap(({ column: { target: spec }, values }) =>
      values.map((value) => ({ spec, value })).filter((key) => made.find(key) === undefined),
    ),
  ]);
}

function countLinks({ links }: ReadRow): number {
  return links.reduce((sum, { values }) => sum + values.length, 0);
}

function makeFacts(
  { plan, made, uidOfRow, clock }: BatchOptions,
  rows: readonly ReadRow[],
  looked: Lookup | undefined,
): { readonly facts: RowFacts[]; readonly faults: RowFault[] } {
  const own = new Map<string, KeyedNode>();
  const source = {
    plan,
    find: (key: RowKey) => looked?.find(key),
    findLinked: (key: RowKey) => looked?.find(key) ?? own.get(nameOf(key)) ?? made.find(key),
    uidOfRow,
    uidOfKey: (key: RowKey) => made.uidOf(key),
    now: new Date(clock.nowMs()).toISOString(),
  };
  noteOwnNodes(source, rows, own);
  const facts: RowFacts[] = [];
  const faults: RowFault[] = [];
  for (const read of rows) {
    const one = makeRowFacts(source, read);
    if ("reason" in one) faults.push(toRowFault(read, one));
    else facts.push(one);
  }
  return { facts, faults };
}

export function toRowFault({ row, index }: ReadRow, { column, reason }: RowRefusal): RowFault {
  return { row, index, place: column === undefined ? row.place : row.placeOf(column), reason };
}

function composeBody(facts: readonly RowFacts[], set: readonly string[]): string {
  const removed = facts.flatMap((one) => one.delete);
  const remove = removed.length === 0 ? "" : ` delete {\n${removed.join("\n")}\n}`;
  return `{${remove} set {\n${set.join("\n")}\n} }`;
}

function settle(
  { made, onStored }: BatchOptions,
  rows: readonly ReadRow[],
  facts: readonly RowFacts[],
  looked: Lookup | undefined,
): void {
  const keys = facts.flatMap((one) => one.made);
  const linked = new Set(keys.map(nameOf)).size;
  made.settle(keys);
  for (const { links } of rows) {
    for (const { column, values } of links) {
      for (const value of values) {
        const key = { spec: column.target, value };
        const found = looked?.find(key);
        if (found !== undefined) made.note(key, found.uid);
      }
    }
  }
  const count = (outcome: RowFacts["outcome"]): number =>
    facts.filter((one) => one.outcome === outcome).length;
  onStored({ made: count("made"), updated: count("updated"), kept: count("kept"), linked });
}

/** Longer with each attempt, up to two seconds, and never the same for two batches that got in each other's way. */
async function pause(random: Random, attempt: number): Promise<void> {
  const spreadMs = Math.min(2_000, 10 * 2 ** Math.min(attempt, 8));
  const waitMs = spreadMs * (0.5 + random.next() / 2);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
}
