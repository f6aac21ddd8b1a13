// Goal: operators see what a server does: metrics of all its processes, requests while they run, and their end.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  cleanUp,
  get,
  makeFolder,
  roleOf,
  root,
  post,
  rdf,
  runWeft,
  startServer,
  waitUntil,
  type TestServer,
} from "./server.ts";

let server: TestServer;
/** A chain in which every node leads to every other: a walk through it takes as long as one likes. */
const slow =
  "{ path as shortest(from: 0x1, to: 0xffff, numpaths: 100000) { knows } p(func: uid(path)) { uid } }";

beforeAll(async () => {
  const flags = ["--workers", "3", "--log", "level=info; slow=1s; access=on"];
  flags.push("--limit", "query-path=1000000000; query-memory=0");
  const script = join(makeFolder(), "resolvers.js");
  const greet = '"Query.greet": () => { console.log("resolver was here"); return "hi"; }';
  writeFileSync(script, `self.addGraphQLResolvers({ ${greet} });`);
  flags.push("--lambda", script);
  server = await startServer({ dataDir: makeFolder(), flags });
  await post(`${server.url}/alter`, "name: string @index(term) .\nknows: [uid] .");
  const facts: string[] = [];
  for (let a = 1; a <= 40; a++) {
    for (let b = 1; b <= 40; b++) if (a !== b) facts.push(`<${a}> <knows> <${b}> .`);
  }
  facts.push('<1> <name> "Ada" .');
  await post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, rdf);
});
afterAll(cleanUp);

const byText = (a: string, b: string) => (a < b ? -1 : 1);

/** The value of a series; undefined where there is none. */
async function valueOf(series: string, path = "/metrics"): Promise<number | undefined> {
  const { text } = await get(server.url + path);
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test("metrics count the requests of all processes, whichever is asked", async () => {
  const series = 'weft_requests_total{operation="query",outcome="ok"}';
  const before = (await valueOf(series)) ?? 0;
  const ask = () => post(`${server.url}/query`, '{ q(func: anyofterms(name, "ada")) { name } }');
  await Promise.all(Array.from({ length: 12 }, ask));
  await post(`${server.url}/query`, "{ q(func: ");
  await waitUntil(async () => (await valueOf(series)) === before + 12, 5000);
  expect(await valueOf('weft_requests_total{operation="query",outcome="error"}')).toBe(1);
  expect(await valueOf('weft_request_seconds_count{operation="query",outcome="ok"}')).toBe(12);
  expect(await valueOf("weft_processes")).toBe(6);
  expect(await valueOf("weft_transaction_commits_total")).toBeGreaterThan(0);
  expect(await valueOf("weft_journal_bytes_total")).toBeGreaterThan(10_000);
  const { headers } = await get(`${server.url}/metrics`);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("?by=process has a series for each process", async () => {
  const { text } = await get(`${server.url}/metrics?by=process`);
  const names = [...text.matchAll(/^weft_processes\{process="(?<name>[^"]+)"\} 1$/gm)];
  expect(names.map(({ groups }) => groups?.["name"] ?? "").sort(byText)).toEqual([
    "lambda",
    "supervisor",
    "worker 1",
    "worker 2",
    "worker 3",
    "writer",
  ]);
});

test("the reference's names are there under the reference's path", async () => {
  const path = "/debug/prometheus_metrics";
  const series = 'dgraph_num_queries_total{method="Server.Query",status="ok"}';
  expect(await valueOf(series, path)).toBeGreaterThan(11);
  expect(await valueOf("dgraph_txn_commits_total", path)).toBeGreaterThan(0);
  expect(await valueOf("dgraph_alpha_health_status", path)).toBe(1);
});

test("a scrape has every metric that the dashboard draws", async () => {
  const sdl = "type Note { id: ID! text: String }\ntype Query { greet: String @lambda }";
  await post(`${server.url}/admin/schema`, sdl, { "content-type": "text/plain" });
  const answer = await post(`${server.url}/graphql`, { query: "{ greet queryNote { id } }" });
  expect(answer.json["data"]).toEqual({ greet: "hi", queryNote: [] });
  const { text } = await get(`${server.url}/metrics`);
  const board = readFileSync(join(root, "ops", "grafana", "weft.json"), "utf8");
  const drawn = new Set([...board.matchAll(/weft_\w+/g)].map(([name]) => name));
  expect(drawn.size).toBeGreaterThan(25);
  const typed = new Set([...text.matchAll(/^# TYPE (?<name>\w+)/gm)].map(([, name]) => name));
  const missing = [...drawn].filter(
    (name) => !typed.has(name.replace(/_(?:bucket|sum|count)$/, "")),
  );
  expect(missing).toEqual([]);
  expect(text).toMatch(/^weft_graphql_field_seconds_count\{field="Query.queryNote"\} 1$/m);
  expect(text).toMatch(/^weft_lambda_call_seconds_count\{resolver="Query.greet"\} 1$/m);
});

test("a request whose body is too large is counted by the limit that refused it", async () => {
  const dql = { "content-type": "application/dql" };
  const refused = await post(`${server.url}/query`, "#".padEnd(4_200_000, "x"), dql);
  expect(refused.status).toBe(413);
  expect(await valueOf('weft_requests_refused_total{limit="--limit text-bytes"}')).toBe(1);
});

test("what resolvers print is in the log at its default level", async () => {
  await waitUntil(() => server.output().includes("resolver was here"), 5000);
  expect(server.output()).toContain("resolver was here");
});

test("what a process has counted is not lost with it", async () => {
  const series = 'weft_requests_total{operation="query",outcome="ok"}';
  const before = await valueOf(series);
  const pid = server.childPids().find((one) => roleOf(one) === "worker") ?? 0;
  process.kill(pid, "SIGKILL");
  // Connections that the client keeps may lead to the process that is gone.
  const isBack = () =>
    valueOf("weft_processes").then(
      (count) => count === 6,
      () => false,
    );
  await waitUntil(async () => isBack(), 10_000);
  expect(await valueOf(series)).toBe(before);
  expect(await valueOf('weft_process_restarts_total{role="worker"}')).toBe(1);
});

test("an answer names its request, by the sender's id where that is sane", async () => {
  const made = await post(`${server.url}/query`, "{ q(func: uid(1)) { name } }");
  expect(made.headers.get("x-request-id")).toMatch(/^[\w-]{8,}$/);
  const given = await post(`${server.url}/query`, "{ q(func: uid(1)) { name } }", {
    "x-request-id": "shop-42",
  });
  expect(given.headers.get("x-request-id")).toBe("shop-42");
  const bad = await get(`${server.url}/health`, { "x-request-id": "two words" });
  expect(bad.headers.get("x-request-id")).not.toBe("two words");
});

test("the log has a line for each request, and slow ones with plan and times, without values", async () => {
  await post(`${server.url}/query?tag=report`, '{ q(func: anyofterms(name, "ada")) { name } }', {
    "x-request-id": "slow-1",
  });
  const linesOf = (message: string) =>
    server
      .output()
      .split("\n")
      .filter((line) => line.includes(`"msg":"${message}"`) && line.includes('"slow-1"'));
  await waitUntil(() => linesOf("access").length > 0, 5000);
  const access = JSON.parse(linesOf("access")[0] ?? "") as object;
  expect(access).toMatchObject({ method: "POST", path: "/query", status: 200, tag: "report" });
  expect(access).toMatchObject({ operation: "query", outcome: "ok", id: "slow-1" });
});

test("slow requests are told with plan and times of its levels, without the values in them", async () => {
  await post(
    `${server.url}/query?timeout=1500ms`,
    `query ${slow.replace("{ path", '{ s(func: anyofterms(name, "ada")) { name } path')}`,
    {
      "x-request-id": "slow-2",
    },
  );
  const find = () =>
    server
      .output()
      .split("\n")
      .find((one) => one.includes('"slow request"') && one.includes('"slow-2"'));
  await waitUntil(() => find() !== undefined, 5000);
  const line = JSON.parse(find() ?? "") as {
    plan: string;
    text: string;
    spans: string[];
    ms: number;
  };
  expect(line.ms).toBeGreaterThan(1000);
  expect(line.plan).toMatch(/\d+ in \d+\.\d ms/);
  expect(line.text).toContain('anyofterms(name, "…")');
  expect(JSON.stringify(line)).not.toContain("ada");
  expect(line.spans.join()).toMatch(/plan \d/);
});

test("what a limit refuses is told and counted with the limit's name", async () => {
  const text = `{ q(func: uid(1)) { ${"knows { ".repeat(250)} uid ${"}".repeat(250)} } }`;
  await post(`${server.url}/query`, text, { "x-request-id": "deep-1" });
  const told = () =>
    server
      .output()
      .split("\n")
      .find((one) => one.includes('"deep-1"') && one.includes("refused"));
  await waitUntil(() => told() !== undefined, 5000);
  expect(JSON.parse(told() ?? "")).toMatchObject({ limit: "--limit depth" });
  expect(await valueOf('weft_requests_refused_total{limit="--limit depth"}')).toBe(1);
});

test("a request that runs is seen, found by its tag, and ended", async () => {
  const pending = post(`${server.url}/query`, slow, { "x-weft-tag": "endless" });
  const top = async () => {
    const ended = await runWeft(["top", "--to", server.url, "--json", "--tag", "endless"]);
    return JSON.parse(ended.stdout) as { id: string; work: number; operation: string }[];
  };
  let [running] = await top();
  await waitUntil(async () => ((running = (await top())[0]), running !== undefined), 10_000);
  expect(running).toMatchObject({ operation: "query", tag: "endless", address: "127.0.0.1" });
  const table = await runWeft(["top", "--to", server.url]);
  expect(table.stdout).toContain(running?.id);
  expect(table.stdout).toMatch(/^ID +TIME +WORK +MEMORY +OPERATION +BY +TAG +PROCESS +TEXT\n/);
  const killed = await runWeft(["kill", "--to", server.url, running?.id ?? ""]);
  expect(killed.stdout).toBe("weft: 1 request is ended\n");
  const answer = await pending;
  expect(answer.text).toContain("the request was ended by an administrator");
  const again = await runWeft(["kill", "--to", server.url, "--tag", "endless"]);
  expect([again.code, again.stderr]).toEqual([
    1,
    "weft: resolving cancelRequests failed because no request with the tag endless is running\n",
  ]);
});
