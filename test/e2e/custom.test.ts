// Goal: @custom(http:) against a service that is slow, wrong, huge, hostile: what it is sent, and what clients are told.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  sleep,
  startServer,
  type TestServer,
  type Told,
} from "./server.ts";

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let calls: Call[] = [];
let running = 0;
let runningMost = 0;

const secret = "s3cr3t-of-the-service";

function answer({ url, body }: Call, res: ServerResponse): void {
  const path = url.split("?")[0] ?? "";
  const given: unknown = body === "" ? undefined : JSON.parse(body);
  const send = (value: unknown): void => void res.end(JSON.stringify(value));
  if (path === "/half") {
    res.writeHead(200, { "content-length": "1000" });
    res.write("[1, 2");
    setTimeout(() => res.destroy(), 20);
  } else if (path === "/large") res.end(`"${"x".repeat(2_000_000)}"`);
  else if (path === "/deep") res.end("[".repeat(100_000) + "]".repeat(100_000));
  else if (path === "/slow") setTimeout(() => send("late"), 5000);
  else if (path === "/moved") res.writeHead(302, { location: "/name" }).end();
  else if (path === "/status/503") res.writeHead(503).end("<p>no</p>");
  else if (path.startsWith("/one/")) setTimeout(() => send(decodeURIComponent(path.slice(5))), 30);
  else if (path === "/many")
    send((given as { n: string }[]).map(({ n }) => (n === "c" ? null : `${n}!`)));
  else if (path === "/short") send((given as unknown[]).slice(1));
  else if (path === "/graphql") send(answerGraphql(given as never));
  else send("ok");
}

const type = (kind: string, name: string | null, ofType: object | null = null): object => ({
  kind,
  name,
  ofType,
});
const text = type("SCALAR", "String");

function answerGraphql({ query }: { readonly query: string }): unknown {
  if (!query.includes("__schema")) {
    return { data: { tree: { name: "elm", leaves: [{ name: "a" }], leaves_2: [{ name: "b" }] } } };
  }
  const field = (name: string, of: object, args: object[] = []): object => ({
    name,
    type: of,
    args,
  });
  const n = { name: "n", type: type("SCALAR", "Int") };
  const leaves = field("leaves", type("LIST", null, type("OBJECT", "Tree")), [n]);
  const types = [
    { kind: "OBJECT", name: "Query", fields: [field("tree", type("OBJECT", "Tree"))] },
    { kind: "OBJECT", name: "Tree", fields: [field("name", text), leaves] },
  ];
  return { data: { __schema: { queryType: { name: "Query" }, mutationType: null, types } } };
}

let other: Server;
let base: string;
let server: TestServer;

beforeAll(async () => {
  other = createServer((req, res) => {
    const parts: Buffer[] = [];
    runningMost = Math.max(runningMost, ++running);
    res.once("close", () => running--);
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const { method = "", url = "", headers } = req;
      const call = { method, url, headers, body: Buffer.concat(parts).toString() };
      calls.push(call);
      answer(call, res);
    });
  });
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const flags = [
    "--no-sample",
    "--log",
    "debug",
    "--outgoing",
    "private=127.0.0.0/8; time=500ms; answer-bytes=1MB; level=5; running=2; requests=20",
  ];
  server = await startServer({ dataDir: join(makeFolder(), "data"), flags });
  const set = await post(`${server.url}/admin/schema`, schema());
  expect(set.json["errors"]).toBeUndefined();
  await ask(`mutation { addNode(input: [{name: "a"}, {name: "b"}, {name: "c"}]) { numUids }
    addHidden(input: [{name: "h"}]) { numUids } }`);
}, 60_000);

afterAll(async () => {
  other.closeAllConnections();
  other.close();
  await cleanUp();
});

const get = (path: string, rest = ""): string =>
  `@custom(http: {url: "${base}${path}", method: GET${rest}})`;

const schema = (): string => `
  type Node { id: ID! name: String! @id
    one: String ${get("/one/$name")}
    many: String @custom(http: {url: "${base}/many", method: POST, mode: BATCH, body: "{n: $name}"})
    must: String! @custom(http: {url: "${base}/many", method: POST, mode: BATCH, body: "{n: $name}"})
    short: String @custom(http: {url: "${base}/short", method: POST, mode: BATCH, body: "{n: $name}"})
    fails: String @custom(http: {url: "${base}/status/503", method: POST, mode: BATCH, body: "{n: $name}"}) }
  type Hidden @auth(query: {rule: "{$ROLE: {eq: \\"nobody\\"}}"}) { id: ID! name: String! @id one: String ${get("/one/$name")} }
  type Tree @remote { name: String leaves(n: Int): [Tree] }
  input In { name: String tags: [String!] inner: In }
  type Query {
    plain(id: String!, q: String): String ${get("/in/$id/x?q=$q&fixed=1")}
    sent(a: In, n: Int64): String @custom(http: {url: "${base}/sent", method: POST, body: "{a: $a, n: $n, c: 1}",
      forwardHeaders: ["X-Out:X-In", "X-Same"], secretHeaders: ["Authorization:KEY"]})
    closed: String @custom(http: {url: "http://127.0.0.1:1/path?key=in-the-url", method: GET, secretHeaders: ["X-Key:KEY"]})
    private: String @custom(http: {url: "http://10.1.2.3/", method: GET})
    slow: String ${get("/slow")}
    large: String ${get("/large")}
    half: String ${get("/half")}
    deep: [String] ${get("/deep")}
    moved: String ${get("/moved")}
    tree: Tree @custom(http: {url: "${base}/graphql", method: POST, graphql: "query { tree }"})
  }
  # Dgraph.Secret KEY "${secret}"
  # Dgraph.Authorization {"VerificationKey":"0123456789012345678901234567890123456789","Header":"X-Auth","Namespace":"n","Algo":"HS256"}`;

async function ask(query: string, headers = {}, variables = {}): Promise<Told> {
  calls = [];
  runningMost = 0;
  return post(`${server.url}/graphql`, { query, variables }, headers);
}

const messages = ({ json }: Told): unknown[] =>
  (json["errors"] ?? []).map(({ message }) => message);
const failed = (why: string, field: string): string =>
  `Evaluation of custom field failed because external request returned an error: ${why} for field: ${field} within type: Query.`;

test("values stay in their places of the URL, whatever they are", async () => {
  for (const [value, written] of [
    ["a b", "a%20b"],
    ["@evil.example", "@evil.example"],
    ["//evil.example/x", "%2F%2Fevil.example%2Fx"],
    ["../../up", "..%2F..%2Fup"],
    ["x?y#z", "x%3Fy%23z"],
    ["a\r\nX-Evil: 1", "a%0D%0AX-Evil:%201"],
    ["%2e%2e", "%252e%252e"],
    ["ünï。", "%C3%BCn%C3%AF%E3%80%82"],
    ["\ud800", "%EF%BF%BD"],
  ] as const) {
    const query = "query q($id: String!, $q: String) { plain(id: $id, q: $q) }";
    const told = await ask(query, {}, { id: value, q: "1&admin=2" });
    expect([told.json["data"], messages(told)]).toEqual([{ plain: "ok" }, []]);
    expect(calls.map(({ url }) => url)).toEqual([`/in/${written}/x?fixed=1&q=1%26admin%3D2`]);
  }
  for (const value of [".", ".."]) {
    const told = await ask("query q($id: String!) { plain(id: $id) }", {}, { id: value });
    expect(messages(told)).toEqual([
      `Evaluation of custom field failed because the url cannot have "${value}" for $id for field: plain within type: Query.`,
    ]);
    expect(calls).toEqual([]);
  }
});

test("body, forwarded headers and secrets; a header that the client does not send is empty", async () => {
  const query = `query q($t: [String!]) { sent(n: 9007199254740993, a: {name: "<é>", inner: {tags: $t}}) }`;
  await ask(query, { "X-In": "é", Authorization: "the client's" }, { t: [] });
  const [call] = calls;
  expect(call?.body).toBe(
    '{"a":{"inner":{"tags":[]},"name":"\\u003cé\\u003e"},"c":1,"n":"9007199254740993"}',
  );
  expect(call?.headers).toMatchObject({
    "content-type": "application/json",
    "x-out": "é",
    "x-same": "",
    authorization: secret,
  });
});

test("neither errors nor the log have secrets, or what stands behind a question mark", async () => {
  const told = await ask("{ closed }");
  expect(messages(told)).toEqual([
    failed(
      'Get "http://127.0.0.1:1/path": dial tcp 127.0.0.1:1: connect: connection refused',
      "closed",
    ),
  ]);
  expect(server.output()).not.toContain(secret);
  expect(server.output()).not.toContain("in-the-url");
});

test("bounds are named by their settings", async () => {
  const told = await ask("{ slow large half moved private }");
  const open = 'Get "';
  expect(messages(told)).toEqual([
    failed(`${open}${base}/slow": context deadline exceeded (--outgoing time)`, "slow"),
    failed(
      `${open}${base}/large": the answer has more than 1048576 bytes (--outgoing answer-bytes)`,
      "large",
    ),
    failed(`${open}${base}/half": EOF`, "half"),
    failed(`${open}${base}/moved": status 302: redirections are not followed`, "moved"),
    failed(
      'Get "http://10.1.2.3/": 10.1.2.3 is no public address, and not named in --outgoing private',
      "private",
    ),
  ]);
  expect(told.json["data"]).toEqual({
    slow: null,
    large: null,
    half: null,
    moved: null,
    private: null,
  });
});

test("an answer of a hundred thousand brackets", async () => {
  const told = await ask("{ deep }");
  expect(told.json["data"]).toEqual({ deep: [null] });
  expect(messages(told)).toEqual([expect.stringContaining("A list was returned")]);
});

test("one request a node, so many at a time, and so many a level", async () => {
  const told = await ask("{ queryNode(order: {asc: name}) { one again: one } }");
  const one = (name: string): object => ({ one: name, again: name });
  expect(told.json).toMatchObject({ data: { queryNode: [one("a"), one("b"), one("c")] } });
  expect(calls.map(({ url }) => url).sort()).toEqual(
    ["a", "a", "b", "b", "c", "c"].map((n) => `/one/${n}`),
  );
  expect(runningMost).toBe(2);
  const input = ["1", "2", "3"].map((name) => `{name: "${name}"}`).join();
  const added = await ask(`mutation { addNode(input: [${input}]) { node { name } } }`);
  expect(messages(added)).toEqual([]);
  const many = await ask("{ queryNode { one } }");
  expect(messages(many)).toEqual([
    "Evaluation of custom field failed because a level makes 5 requests at most, and has 6 nodes (--outgoing level) for field: one within type: Node.",
  ]);
  expect(calls).toEqual([]);
  await ask('mutation { deleteNode(filter: {name: {in: ["1", "2", "3"]}}) { numUids } }');
});

test("so many requests in all, however often a field is selected", async () => {
  const aliases = ["a", "b", "c", "d", "e", "f", "g"].map((key) => `${key}: one`).join(" ");
  const told = await ask(`{ queryNode { ${aliases} } }`);
  expect(calls).toHaveLength(18);
  expect(messages(told)).toEqual([
    "Evaluation of custom field failed because a request makes 20 requests of others at most (--outgoing requests) for field: one within type: Node.",
  ]);
});

test("one request for all: nulls, required ones, wrong sizes, failures", async () => {
  const told = await ask("{ queryNode(order: {asc: name}) { many short fails } }");
  expect(told.json["data"]).toEqual({
    queryNode: ["a!", "b!", null].map((many) => ({ many, short: null, fails: null })),
  });
  const reason = "Evaluation of custom field failed because";
  expect(messages(told)).toEqual([
    `${reason} expected result of external request to be of size 3, got: 2 for field: short within type: Node.`,
    `${reason} external request returned an error: unexpected error with: 503 for field: fails within type: Node.`,
  ]);
  expect(calls.find(({ url }) => url === "/many")?.body).toBe('[{"n":"a"},{"n":"b"},{"n":"c"}]');
  const must = await ask("{ queryNode(order: {asc: name}) { must } }");
  expect(must.json["data"]).toEqual({ queryNode: [{ must: "a!" }, { must: "b!" }, null] });
  expect(messages(must)).toHaveLength(2);
});

test("nobody outside is told of nodes that the caller may not see", async () => {
  const told = await ask("{ queryHidden { one } }");
  expect([told.json["data"], calls]).toEqual([{ queryHidden: [] }, []]);
});

test("another GraphQL service: variables of the client's go as values, and each field has its own key", async () => {
  const query =
    "query q($n: Int) { tree { name leaves(n: $n) { name } rest: leaves(n: 2) { name } } }";
  const told = await ask(query, {}, { n: 1 });
  expect(told.json["data"]).toEqual({
    tree: { name: "elm", leaves: [{ name: "a" }], rest: [{ name: "b" }] },
  });
  expect(JSON.parse(calls[0]?.body ?? "")).toEqual({
    query: "query { tree {\nname\nleaves(n: 1){\nname\n}\nleaves_2: leaves(n: 2){\nname\n}\n}}",
    variables: {},
  });
});

test("a schema that another service does not fit is refused; who may only use data makes nobody be asked", async () => {
  const sdl = `type A { id: ID! b: String }
    type Query { oak: String @custom(http: {url: "${base}/graphql", method: POST, graphql: "query { oak }"}) }`;
  const problem =
    "input:2: Type Query; Field oak: inside graphql in @custom directive, query `oak` is not present in remote schema.";
  const set = await post(`${server.url}/admin/schema`, sdl);
  expect(set.json["errors"]![0]!["message"]).toContain(problem);
  const checked = await post(`${server.url}/admin/schema/validate`, sdl);
  expect(messages(checked)).toEqual([problem]);
  calls = [];
  const foreign = await post(`${server.url}/admin/schema/validate`, sdl, {
    Origin: "https://a.example",
  });
  expect(messages(foreign)).toEqual(["Schema is valid"]);
  expect(JSON.stringify(foreign.json["extensions"])).toContain("were not asked");
  expect(calls).toEqual([]);
});

test("a request that has little time left gives others no more", async () => {
  const before = Date.now();
  const told = await post(`${server.url}/graphql?timeout=100ms`, { query: "{ slow }" });
  expect(Date.now() - before).toBeLessThan(450);
  expect(messages(told)).toEqual([failed(`Get "${base}/slow": context deadline exceeded`, "slow")]);
  await sleep(0);
});
