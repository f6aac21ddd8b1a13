// Goal: bad input and slow senders get a clear error, never a crash, a hang or a stack trace; and a full store reads on.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  type TestServer,
} from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder(), flags: ["--limit", "body-bytes=16MB"] });
  await post(`${server.url}/alter`, "name: string @index(exact, term) .");
});
afterAll(cleanUp);

async function expectStanding(): Promise<void> {
  expect((await get(`${server.url}/health`)).status).toBe(200);
  expect(server.output()).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(server.output()).not.toContain("a request failed inside");
}

describe("bad input", () => {
  const deep = (count: number): string =>
    `{ q(func: has(name)) ${"{ a ".repeat(count)}${"}".repeat(count)} }`;
  const bodies: [string, string, string, string][] = [
    ["broken DQL", "/query", "application/dql", '{ q(func: eq(name, "x") { name'],
    ["DQL that nests too deep", "/query", "application/dql", deep(5000)],
    ["brackets without end", "/query", "application/dql", "(".repeat(100_000)],
    ["broken RDF", "/mutate?commitNow=true", "application/rdf", '{ set { <0x1> <name> "x } }'],
    ["broken JSON", "/mutate?commitNow=true", "application/json", '{"set":[{"name":'],
    [
      "JSON that nests too deep",
      "/mutate?commitNow=true",
      "application/json",
      `{"set":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
    ],
    [
      "lists that nest too deep",
      "/mutate?commitNow=true",
      "application/json",
      `{"set":${"[".repeat(100_000)}`,
    ],
    ["a broken schema", "/alter", "text/plain", "name: string @index("],
    ["broken SDL", "/admin/schema", "text/plain", "type A {"],
    [
      "SDL that nests too deep",
      "/admin/schema",
      "text/plain",
      `type A { a: ${"[".repeat(20_000)}Int${"]".repeat(20_000)} }`,
    ],
    ["broken GraphQL", "/graphql", "application/graphql", "{ a {"],
    ["GraphQL that nests too deep", "/graphql", "application/graphql", "{ a ".repeat(20_000)],
    [
      "GraphQL values that nest too deep",
      "/graphql",
      "application/graphql",
      `{ a(b: ${"[".repeat(50_000)}) }`,
    ],
    ["GraphQL in JSON that is cut off", "/graphql", "application/json", '{"query": "{ a'],
    [
      "administration that nests too deep",
      "/admin",
      "application/graphql",
      "{ health ".repeat(20_000),
    ],
    [
      "a regular expression without end",
      "/query",
      "application/dql",
      "{ q(func: regexp(name, /((/)) { name } }",
    ],
    [
      "a uid beyond all",
      "/query",
      "application/dql",
      "{ q(func: uid(0xffffffffffffffffff)) { name } }",
    ],
    ["not UTF-8", "/query", "application/dql", '{ q(func: eq(name, "\ufffd\ufffd")) { \u0000 } }'],
  ];
  test.each(bodies)("%s", async (_name, path, type, body) => {
    const answer = await post(server.url + path, body, { "content-type": type });
    expect(answer.status).toBeLessThan(500);
    expect(answer.json["errors"]).toMatchObject([
      { message: expect.stringMatching(/./) as unknown },
    ]);
    expect(answer.text).not.toMatch(/\.(?:js|ts):\d+/);
    await expectStanding();
  });

  test("texts of ten million characters are stored and found, or refused, whole", async () => {
    const text = "word ".repeat(2_000_000);
    const big = await post(`${server.url}/mutate?commitNow=true`, { set: { "big.text": text } });
    expect(big.json["errors"]).toBeUndefined();
    const found = await post(`${server.url}/query`, "{ q(func: has(big.text)) { big.text } }");
    const { q } = found.json["data"] as unknown as { q: Record<string, string>[] };
    expect(q[0]?.["big.text"]?.length).toBe(text.length);
    const indexed = await post(`${server.url}/mutate?commitNow=true`, { set: { name: text } });
    expect(indexed.status).toBeLessThan(500);
    await expectStanding();
  });

  test("a body over the limit is refused, however it comes", async () => {
    const body = new Uint8Array(17 * 1024 * 1024).fill(0x20);
    const headers = { "content-type": "application/rdf" };
    const declared = await fetch(`${server.url}/mutate`, { method: "POST", headers, body });
    expect(declared.status).toBe(413);
    expect(await declared.text()).toContain("over the limit of 16777216 bytes");
    await expectStanding();
  });
});

describe("senders that are no browsers", () => {
  /** Sends raw bytes; resolves with what came back until the connection ended or the time was over. */
  function sendRaw(bytes: string, waitMs: number): Promise<string> {
    const { port } = new URL(server.url);
    return new Promise((resolve) => {
      let got = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
      socket.on("data", (chunk) => (got += chunk.toString()));
      socket.on("error", () => resolve(got));
      socket.on("close", () => resolve(got));
      setTimeout(() => socket.destroy(), waitMs);
    });
  }

  test("what is not HTTP is told so, and a broken-off body hurts nobody", async () => {
    expect(await sendRaw("hello\r\n\r\n", 2000)).toMatch(/^HTTP\/1.1 400/);
    expect(await sendRaw(`GET / HTTP/1.1\r\nx: ${"y".repeat(100_000)}`, 2000)).toMatch(
      /^HTTP\/1.1 431/,
    );
    await sendRaw("POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{ q", 200);
    await expectStanding();
  });

  test("two requests in one piece are answered in order", async () => {
    const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    const got = await sendRaw(one("/health") + one("/nosuch"), 1500);
    expect(got.indexOf("200 OK")).toBeLessThan(got.indexOf("404 Not Found"));
    expect(got.indexOf("200 OK")).toBeGreaterThanOrEqual(0);
  });
});

describe("a store that is full", () => {
  test("refuses writes clearly, reads on, and writes again when there is room", async () => {
    const full = await startServer({
      dataDir: makeFolder(),
      flags: ["--store", "map-bytes=6MB; log-bytes=1MB"],
    });
    await post(`${full.url}/alter`, "key: string @index(exact) .");
    let storedCount = 0;
    let message = "";
    for (let i = 0; i < 200 && message === ""; i++) {
      const facts = Array.from(
        { length: 100 },
        (_, k) => `_:n${k} <key> "${i}-${k}-${"x".repeat(400)}" .`,
      );
      const answer = await post(
        `${full.url}/mutate?commitNow=true`,
        `{ set {\n${facts.join("\n")}\n} }`,
        rdf,
      );
      const errors = answer.json["errors"] as unknown as { message: string }[] | undefined;
      if (errors === undefined) storedCount += 100;
      else message = errors[0]?.message ?? "";
    }
    expect(message).toMatch(/full|room|space/i);
    const count = async (): Promise<unknown> =>
      (await post(`${full.url}/query`, "{ q(func: has(key)) { count(uid) } }")).json["data"];
    expect(await count()).toEqual({ q: [{ count: storedCount }] });
    expect((await post(`${full.url}/alter`, { drop_attr: "key" })).json["errors"]).toBeUndefined();
    let isBack = false;
    for (let i = 0; i < 100 && !isBack; i++) {
      const answer = await post(
        `${full.url}/mutate?commitNow=true`,
        '{ set { _:a <key> "again" . } }',
        rdf,
      );
      isBack = answer.json["errors"] === undefined;
      if (!isBack) await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(isBack).toBe(true);
    await full.stop();
    expect((await runWeft(["check", "--data", full.dataDir])).code).toBe(0);
  });
});
