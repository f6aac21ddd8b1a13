// Goal: a request that is tried again, since another one was first, answers what its last try did: no node that an earlier
// one would have made.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "../stores/open.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore() });
  const text = "name: string @index(exact) @upsert .";
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
});

afterEach(() => engine.close());

/** The labels of the nodes that were made, and those that the query found. */
async function upsert(facts: string): Promise<{ made: readonly string[]; found: string }> {
  const answer = await engine.mutate({
    namespace: 0,
    body: {
      kind: "rdf",
      text: `upsert { query { q(func: eq(name, "K")) { v as uid } } mutation @if(eq(len(v), 0)) { set { ${facts} } } }`,
    },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
  const found = new TextDecoder().decode(answer.queries);
  return { made: [...(answer.uids ?? new Map<string, number>()).keys()], found };
}

test("an upsert that comes second tells of no node of its own", async () => {
  for (const predicates of ["", '_:b <fresh> "a predicate that is new" .']) {
    const facts = `_:a <name> "K" .\n${predicates}`;
    const [first, second] = await Promise.all([upsert(facts), upsert(facts)]);
    const [winner, loser] = first.made.length > 0 ? [first, second] : [second, first];
    expect(winner.made).toEqual(predicates === "" ? ["a"] : ["a", "b"]);
    expect(winner.found).toBe('{"q":[]}');
    expect(loser).toEqual({ made: [], found: expect.stringContaining('"uid"') as string });
    await engine.alter({ kind: "dropData" }, 0);
  }
});
