// Goal: a request that is tried again, since another one was first, answers what its last try did: no node that an earlier
// one would have made. However many want the same value, each is served.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "../stores/open.ts";
import { StoreRefusal, type Store } from "../store/store.ts";
import type { MutateAnswer } from "./engine.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;
/** Changes that the store was asked to commit. */
let asked = 0;
/** Whether the store takes none. */
let refuses = false;

beforeEach(async () => {
  refuses = false;
  const store = openMemoryStore();
  const commit: Store["commit"] = (change) => {
    asked++;
    return refuses ? Promise.reject(new StoreRefusal("conflict")) : store.commit(change);
  };
  engine = await openEngine({ store: { ...store, commit } });
  const text = "name: string @index(exact) @upsert .";
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
});

afterEach(() => engine.close());

function mutate(text: string, timeoutMs = 0): Promise<MutateAnswer> {
  const body = { kind: "rdf", text } as const;
  return engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs });
}

/** The labels of the nodes that were made, and those that the query found. */
async function upsert(facts: string): Promise<{ made: readonly string[]; found: string }> {
  const answer = await mutate(
    `upsert { query { q(func: eq(name, "K")) { v as uid } } mutation @if(eq(len(v), 0)) { set { ${facts} } } }`,
  );
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

/** So many mutations that are sent at once; how many changes the store was asked to commit for them. */
async function mutateAll(count: number, makeText: (i: number) => string): Promise<number> {
  const before = asked;
  await Promise.all(Array.from({ length: count }, (_, i) => mutate(makeText(i))));
  return asked - before;
}

test("two hundred writers of one value are all served, with one try in vain each", async () => {
  await engine.alter({ kind: "schema", text: "n: int @index(int) .", runInBackground: false }, 0);
  await mutate('{ set { <0x1> <n> "0" . } }');
  const query = "q as var(func: uid(0x1)) { c as n d as math(c + 1) }";
  const upsert = `upsert { query { ${query} } mutation { set { uid(q) <n> val(d) . } } }`;
  const tries = await mutateAll(200, () => upsert);
  const look =
    'upsert { query { q(func: uid(0x1)) { n } } mutation { set { <0x2> <name> "x" . } } }';
  const { queries } = await mutate(look);
  expect(new TextDecoder().decode(queries)).toBe('{"q":[{"n":200}]}');
  expect(tries).toBeLessThanOrEqual(2 * 200);
});

test("two hundred mutations that each bring up a predicate add them together", async () => {
  const asked = await mutateAll(200, (i) => `{ set { _:a <fresh${i}> "x" . } }`);
  // One for each mutation, and some for the schema.
  expect(asked).toBeLessThan(220);
});

test("tries end with the request's time", async () => {
  refuses = true;
  await expect(mutate('{ set { <0x1> <name> "K" . } }', 40)).rejects.toThrow(
    "context deadline exceeded",
  );
});
