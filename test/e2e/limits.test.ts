// Goal: each bound on what a client can make large has a setting, and the error that it raises names it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, type TestServer } from "./server.ts";

const limits = {
  "body-bytes": "20000",
  depth: "12",
  "query-edge": "40",
  "query-path": "5",
  "regexp-characters": "200",
  "normalize-node": "30",
  "mutations-nquad": "1000",
  "result-bytes": "4000",
  "query-work": "100000",
  "query-cost": "20000",
  "query-memory": "200000",
};

let server: TestServer;

beforeAll(async () => {
  const setting = Object.entries(limits).map(([key, value]) => `${key}=${value}`);
  const flags = ["--workers", "1", "--limit", setting.join("; ")];
  server = await startServer({ dataDir: makeFolder(), flags });
  await post(`${server.url}/alter`, "name: string @index(exact, trigram) .\nto: [uid] .");
  const facts: string[] = [];
  for (let i = 1; i <= 60; i++) {
    facts.push(`<${i}> <name> "node number ${i}" .`);
    if (i <= 8) for (let k = 1; k <= 8; k++) if (k !== i) facts.push(`<${i}> <to> <${k}> .`);
  }
  const told = await post(
    `${server.url}/mutate?commitNow=true`,
    `{ set {\n${facts.join("\n")}\n} }`,
    rdf,
  );
  expect(told.json["errors"]).toBeUndefined();
});
afterAll(cleanUp);

const cases: readonly [keyof typeof limits, string, string, Record<string, string>][] = [
  ["body-bytes", "/query", `{ q(func: uid(1)) { name } } #${"x".repeat(20_001)}`, {}],
  ["depth", "/query", `{ q(func: uid(1)) ${"{ to ".repeat(14)}${"}".repeat(14)} }`, {}],
  [
    "depth",
    "/graphql",
    `${"{ a ".repeat(14)}${"}".repeat(14)}`,
    { "content-type": "application/graphql" },
  ],
  [
    "depth",
    "/mutate?commitNow=true",
    `{"set":${'{"to":'.repeat(14)}{}${"}".repeat(14)}}`,
    { "content-type": "application/json" },
  ],
  ["query-edge", "/query", "{ q(func: uid(1)) @recurse(depth: 4) { name to } }", {}],
  [
    "query-edge",
    "/query",
    "{ p as shortest(from: 1, to: 60) { to } q(func: uid(p)) { name } }",
    {},
  ],
  [
    "query-path",
    "/query",
    "{ p as shortest(from: 1, to: 4, numpaths: 3, depth: 1) { to } q(func: uid(p)) { name } }",
    {},
  ],
  [
    "regexp-characters",
    "/query",
    "{ q(func: has(name)) @filter(regexp(name, /number/)) { name } }",
    {},
  ],
  [
    "normalize-node",
    "/query",
    "{ q(func: uid(1, 2, 3, 4)) @normalize { to { a: name to { b: name } } } }",
    {},
  ],
  [
    "query-work",
    "/query",
    `{ q(func: has(to)) { ${"to { ".repeat(6)} missing ${"} ".repeat(6)} } }`,
    {},
  ],
  [
    "query-memory",
    "/query",
    `{ ${Array.from({ length: 300 }, (_, i) => `q${i}(func: has(to)) { to { count(to) } }`).join(" ")} }`,
    {},
  ],
  [
    "query-cost",
    "/query",
    `{ ${Array.from({ length: 400 }, (_, i) => `q${i}(func: has(name)) { name }`).join(" ")} }`,
    {},
  ],
  ["result-bytes", "/query", "{ q(func: has(name)) { uid a: name b: name c: name } }", {}],
  [
    "result-bytes",
    "/query?respFormat=rdf",
    "{ q(func: has(name)) { name a: name b: name c: name } }",
    {},
  ],
  [
    "mutations-nquad",
    "/mutate?commitNow=true",
    `upsert { query { v as var(func: has(name)) } mutation { delete { ${"uid(v) <b> * .\n".repeat(20)} } } }`,
    rdf,
  ],
  [
    "query-edge",
    "/mutate?commitNow=true",
    'upsert { query { v as var(func: has(name)) } mutation { set { uid(v) <a> "1" . } } }',
    rdf,
  ],
];

test.each(cases)("%s, met at %s", async (key, path, body, headers) => {
  const told = await post(server.url + path, body, headers);
  expect(told.text).toContain(`(--limit ${key})`);
  expect(told.json["errors"]?.[0]?.["message"]).toEqual(expect.stringContaining("limit"));
});

test("what stays below the bounds is answered", async () => {
  const told = await post(
    `${server.url}/query`,
    "{ q(func: uid(1)) @recurse(depth: 1) { name to } }",
  );
  expect(told.json["errors"]).toBeUndefined();
});

test("the help tells of all of them", async () => {
  const { stdout } = await runWeft(["serve", "--help"]);
  for (const key of Object.keys(limits)) expect(stdout).toContain(`  ${key} `);
});
