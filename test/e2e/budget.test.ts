// Goal: a request has one budget of time, work and memory, whatever it asks; beside it small requests go on.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  sleep,
  startServer,
  type Json,
  type TestServer,
} from "./server.ts";
import { connectNewer } from "./subscriber.ts";

const nodeCount = 120;
const json = { "content-type": "application/json" };
const dql = { "content-type": "application/dql" };

let server: TestServer;

const dataDir = makeFolder();

function start(timeout: string): Promise<TestServer> {
  const limits = `query-timeout=${timeout}; result-bytes=1900000000; query-work=400000000`;
  return startServer({ dataDir, flags: ["--workers", "2", "--limit", limits] });
}

/** All nodes lead to all: what a few levels show is billions of objects. */
beforeAll(async () => {
  server = await start("30s");
  const sdl = "type Node @withSubscription { id: ID! name: String @search(by: [hash]) to: [Node] }";
  await post(`${server.url}/admin/schema`, sdl);
  const numbers = Array.from({ length: nodeCount }, (_, i) => i);
  const nodes = numbers.map((i) => `_:n${i} <dgraph.type> "Node" .\n_:n${i} <Node.name> "n${i}" .`);
  const uids = (await setFacts(nodes))["uids"];
  const uidOf = (i: number): string => `<${String(uids?.[`n${i}`])}>`;
  // A few at a time: each is a request like any other.
  for (let i = 0; i < nodeCount; i += 10) {
    const some = numbers.slice(i, i + 10);
    await setFacts(
      some.flatMap((from) => numbers.map((to) => `${uidOf(from)} <Node.to> ${uidOf(to)} .`)),
    );
  }
});
afterAll(cleanUp);

async function setFacts(facts: readonly string[]): Promise<Json> {
  const body = `{ set {\n${facts.join("\n")}\n} }`;
  const { json } = await post(`${server.url}/mutate?commitNow=true`, body, rdf);
  expect(json["errors"]).toBeUndefined();
  return json["data"] as Json;
}

function nested(levels: number, edge: string, leaf: string): string {
  return `${`${edge} { `.repeat(levels)}${leaf}${" }".repeat(levels)}`;
}

interface Timed {
  readonly text: string;
  readonly ms: number;
}

async function ask(path: string, body: string, headers: Record<string, string>): Promise<Timed> {
  const begin = performance.now();
  const { text } = await post(`${server.url}${path}`, body, headers);
  return { text: text.slice(0, 2000), ms: performance.now() - begin };
}

const graphql = (query: string): Promise<Timed> => ask("/graphql", JSON.stringify({ query }), json);

const upsert = (query: string): string =>
  `upsert { query ${query} mutation { set { _:a <x> "y" . } } }`;

/** Nothing is printed, and 207 million ways are gone. */
const silent = `{ q(func: has(Node.to)) { ${nested(3, "Node.to", "missing")} } }`;

test("what is asked for is counted before it is written", async () => {
  const small: number[] = [];
  let isOver = false;
  const beside = Array.from({ length: 4 }, async () => {
    while (!isOver) small.push((await ask("/query", "{ q(func: uid(1)) { uid } }", dql)).ms);
  });
  const six = `{ q(func: has(Node.to)) { ${nested(6, "Node.to", "uid")} } }`;
  const sixOfGraphql = `{ queryNode { ${nested(6, "to", "id")} } }`;
  const attacks = await Promise.all([
    ask("/query", six, dql),
    ask("/query?respFormat=json", six, dql),
    graphql(sixOfGraphql),
    graphql(sixOfGraphql),
    ask("/mutate?commitNow=true", upsert(six), rdf),
    graphql(
      `mutation { updateNode(input: { filter: {}, set: { name: "n" } }) { node { ${nested(5, "to", "id")} } } }`,
    ),
  ]);
  isOver = true;
  await Promise.all(beside);
  for (const { text, ms } of attacks) {
    expect(text).toMatch(/--limit query-work/);
    expect(ms).toBeLessThan(15_000);
  }
  expect(small.length).toBeGreaterThan(20);
  expect(Math.max(...small)).toBeLessThan(3000);
});

describe("with a second for each request", () => {
  beforeAll(async () => {
    await server.stop();
    server = await start("1s");
  });

  test.each([
    ["", "context deadline exceeded (--limit query-timeout)", 900],
    ["timeout=100h", "context deadline exceeded (--limit query-timeout)", 900],
    ["timeout=0", "context deadline exceeded (--limit query-timeout)", 900],
    ["timeout=200ms", 'context deadline exceeded"', 150],
  ])(
    "a client shortens the server's time, and does not lengthen it: %s",
    async (given, told, leastMs) => {
      const path = `/query?${given}`;
      const { text, ms } = await ask(path, silent, dql);
      expect(text).toContain(told);
      expect(ms).toBeGreaterThan(leastMs);
      expect(ms).toBeLessThan(leastMs + 4000);
    },
  );

  test("the server's time holds for GraphQL and for upserts", async () => {
    const large = `queryNode(first: 40) { ${nested(3, "to", "id")} }`;
    const answers = await Promise.all([
      graphql(`{ ${large} }`),
      graphql(`{ a: ${large} b: ${large} }`),
      ask("/mutate?commitNow=true", upsert(silent), rdf),
    ]);
    for (const { text, ms } of answers) {
      expect(text).toContain("context deadline exceeded (--limit query-timeout)");
      expect(ms).toBeLessThan(6000);
    }
  });

  test("each run of a subscription has a budget of its own", async () => {
    const one = await connectNewer(server.url);
    const query = 'subscription { queryNode(filter: { name: { eq: "fresh" } }) { name } }';
    const subscribe = { id: "1", type: "subscribe", payload: { query } };
    expect(await one.ask(subscribe)).toMatchObject({ payload: { data: { queryNode: [] } } });
    // Longer than one run may take.
    await sleep(1100);
    const fresh = '{ set { _:a <dgraph.type> "Node" .\n _:a <Node.name> "fresh" . } }';
    await post(`${server.url}/mutate?commitNow=true`, fresh, rdf);
    expect(await one.next()).toMatchObject({
      payload: { data: { queryNode: [{ name: "fresh" }] } },
    });
    one.socket.close();
  });
});
