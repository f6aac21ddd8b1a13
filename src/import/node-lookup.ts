/** Nodes by the values of their keys, with the edges that a row may take away, as of one transaction. */
import { type Client, findClientRefusal, type LoadRefusal } from "../load/client.ts";
import type { RowKey } from "./read-row.ts";
import type { KeySpec } from "./row-plan.ts";

export interface KeyedNode {
  readonly uid: number;
  /** Predicate → where it leads. */
  readonly edges: ReadonlyMap<string, readonly number[]>;
}

/** A transaction of the server, as its answers name it. */
interface OpenTransaction {
  readonly startTs: number;
  readonly hash: string;
}

export interface Lookup {
  readonly transaction: OpenTransaction;
  find(key: RowKey): KeyedNode | undefined;
}

/** Blocks in one query: each of them has a bound on its fields. */
const blocksMax = 500;
const valuesMax = 1_000;

/** Looks all keys up, in one transaction. */
export async function lookUp(
  client: Client,
  wanted: readonly RowKey[],
): Promise<Lookup | LoadRefusal> {
  const found = new Map<KeySpec, Map<string, KeyedNode>>();
  const blocks = [...groupBySpec(wanted)].flatMap(([spec, values]) => cutBlocks(spec, values));
  let transaction: OpenTransaction | undefined;
  for (let at = 0; at < Math.max(blocks.length, 1); at += blocksMax) {
    const some = blocks.slice(at, at + blocksMax);
    const text = some.length === 0 ? "{ q(func: uid(0x1)) { uid } }" : printQuery(some);
    const path = transaction === undefined ? "/query" : `/query?${printTransaction(transaction)}`;
    const answer = await client.post(path, "application/dql", text);
    const refusal = findClientRefusal(answer, true);
    if (refusal !== undefined) return refusal;
    const { data, extensions } = answer.json as QueryAnswer;
    transaction ??= { startTs: extensions.txn.start_ts, hash: extensions.txn.hash ?? "" };
    for (const [i, block] of some.entries()) noteFound(found, block, data[`q${i}`] ?? []);
  }
  return {
    transaction: transaction ?? { startTs: 0, hash: "" },
    find: ({ spec, value }) => found.get(spec)?.get(value),
  };
}

export function printTransaction({ startTs, hash }: OpenTransaction): string {
  return `startTs=${startTs}${hash === "" ? "" : `&hash=${encodeURIComponent(hash)}`}`;
}

interface QueryAnswer {
  readonly data: Readonly<Record<string, readonly NodeAnswer[] | undefined>>;
  readonly extensions: { readonly txn: { readonly start_ts: number; readonly hash?: string } };
}

type NodeAnswer = Readonly<Record<string, unknown>> & { readonly uid: string };

interface Block {
  readonly spec: KeySpec;
  readonly values: readonly string[];
}

function groupBySpec(wanted: readonly RowKey[]): Map<KeySpec, Set<string>> {
  const groups = new Map<KeySpec, Set<string>>();
  for (const { spec, value } of wanted) {
    const group = groups.get(spec);
    if (group === undefined) groups.set(spec, new Set([value]));
    else group.add(value);
  }
  return groups;
}

/** Answers in JSON would round large numbers: of these each has a block of its own. */
function cutBlocks(spec: KeySpec, values: ReadonlySet<string>): Block[] {
  const list = [...values];
  const size = spec.isInt ? 1 : valuesMax;
  const blocks: Block[] = [];
  for (let at = 0; at < list.length; at += size) {
    blocks.push({ spec, values: list.slice(at, at + size) });
  }
  return blocks;
}

function printQuery(blocks: readonly Block[]): string {
  return `{ ${blocks.map((block, i) => printBlock(block, i)).join("\n")} }`;
}

function printBlock({ spec, values }: Block, i: number): string {
  const { predicate, type, isOfType, edges } = spec;
  const list = values.map((value) => JSON.stringify(value)).join(", ");
  const filter = isOfType ? ` @filter(type(<${type.node.typeName}>))` : "";
  const fields = [...edges].map((edge, n) => `e${n}: <${edge}> { uid }`).join(" ");
  return `q${i}(func: eq(<${predicate}>, [${list}]))${filter} { uid v: <${predicate}> ${fields} }`;
}

function noteFound(
  found: Map<KeySpec, Map<string, KeyedNode>>,
  { spec, values }: Block,
  nodes: readonly NodeAnswer[],
): void {
  const known = found.get(spec) ?? new Map<string, KeyedNode>();
  found.set(spec, known);
  for (const node of nodes) {
    const value = spec.isInt ? (values[0] ?? "") : String(node["v"]);
    const edges = new Map(
      [...spec.edges].map((predicate, n) => [predicate, uidsOf(node[`e${n}`])] as const),
    );
    known.set(value, { uid: Number(node.uid), edges });
  }
}

function uidsOf(value: unknown): number[] {
  if (value === undefined || value === null) return [];
  const list = (Array.isArray(value) ? value : [value]) as { readonly uid: string }[];
  return list.map(({ uid }) => Number(uid));
}
