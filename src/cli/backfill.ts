/**
 * Values for nodes that lack them, in batches: an upsert block that is sent again until what it asks for is empty. What
 * was stored before an end is not asked for again, so a backfill that was ended goes on where it was.
 */
import { findClientRefusal, type Client } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { showProgress } from "./progress-bar.ts";

/** Nodes of one transaction. */
const batchNodes = 1000;
/** Of one batch that meets others. */
const attemptsMax = 20;

interface Wish {
  readonly typeName: string;
  readonly predicate: string;
  readonly value: string;
  /** How many nodes lack it. */
  readonly nodes: number;
}

/** Gives each node of the type that has no value of the predicate this one. Without the condition the last batch, of none, made a node. */
export async function fillConstant(client: Client, title: string, wish: Wish): Promise<void> {
  const { typeName, predicate, value } = wish;
  const block = `upsert {
  query { node as var(func: type(<${typeName}>), first: ${batchNodes}) @filter(not has(<${predicate}>))
    left(func: uid(node)) { count(uid) } }
  mutation @if(gt(len(node), 0)) { set { uid(node) <${predicate}> ${quoteRdf(value)} . } }
}`;
  await runUntilEmpty(client, title, block, wish.nodes);
}

/**
 * Sends a DQL document. An upsert block with a named query (no `var`) is sent again until that answers nothing, or
 * counts of 0; anything else is sent once. `isStopped` is asked before each time: Fault E_STARTUP where it says so.
 */
export async function runUntilEmpty(
  client: Client,
  title: string,
  block: string,
  total: number,
  isStopped: () => boolean = () => false,
): Promise<void> {
  await showProgress({ title, unit: "nodes" }, async (bar) => {
    let done = 0;
    for (;;) {
      if (isStopped()) throw new Fault("E_STARTUP", `${title} was stopped after ${done} nodes`);
      const left = countLeft(await send(client, block));
      if (left === undefined || left === 0) break;
      done += left;
      bar.update(done, Math.max(total, done), done);
    }
    bar.update(1, 1, done);
  });
}

async function send(client: Client, block: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const answer = await client.post("/mutate?commitNow=true", "application/rdf", block);
    const refusal = findClientRefusal(answer, true);
    if (refusal === undefined) return answer.json;
    if (!refusal.isPassing || attempt >= attemptsMax) {
      throw new Fault("E_STARTUP", refusal.message);
    }
    await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
  }
}

/** Of the named queries of an upsert block; undefined where it has none. */
function countLeft(json: unknown): number | undefined {
  const queries = (json as { data?: { queries?: Record<string, unknown> | null } }).data?.queries;
  const rows = Object.values(queries ?? {});
  if (rows.length === 0) return undefined;
  let left = 0;
  for (const row of rows) {
    if (!Array.isArray(row)) continue;
    const [first] = row as readonly { count?: unknown }[];
    left += row.length === 1 && typeof first?.count === "number" ? first.count : row.length;
  }
  return left;
}

function quoteRdf(text: string): string {
  return JSON.stringify(text);
}
