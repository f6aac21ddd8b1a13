// Goal: with --otel, a collector gets the trace of each request with its parts, and the metrics; resolvers go on with it.
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  startServer,
  waitUntil,
  type TestServer,
} from "./server.ts";

interface SpanJson {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

let collector: Server;
let resolvers: Server;
let server: TestServer;
const spans: SpanJson[] = [];
const metricNames = new Set<string>();
const traceparents: (string | undefined)[] = [];

function listen(answer: (path: string, body: string, traceparent: string | undefined) => string) {
  const one = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      const { traceparent } = req.headers as { readonly traceparent?: string };
      res.setHeader("content-type", "application/json");
      res.end(answer(req.url ?? "", body, traceparent));
    });
  });
  return new Promise<Server>((resolve) => one.listen(0, "127.0.0.1", () => resolve(one)));
}

const urlOf = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;

function collect(path: string, body: string): string {
  if (path === "/v1/traces") {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: SpanJson[] }[] }[];
    };
    for (const { scopeSpans } of resourceSpans) {
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
  } else if (path === "/v1/metrics") {
    for (const [, name = ""] of body.matchAll(/"name":"(weft_\w+)"/g)) metricNames.add(name);
  }
  return "{}";
}

beforeAll(async () => {
  collector = await listen(collect);
  resolvers = await listen((_path, _body, traceparent) => {
    traceparents.push(traceparent);
    return '"hello"';
  });
  const config = join(makeFolder(), "weft.json");
  const otel = { url: urlOf(collector), every: "1s" };
  writeFileSync(
    config,
    JSON.stringify({ otel, "lambda-url": `${urlOf(resolvers)}/graphql-worker` }),
  );
  const flags = ["--workers", "1", "--config", config];
  server = await startServer({ dataDir: makeFolder(), flags });
  const sdl =
    "type Note { id: ID! text: String @search(by: [term]) }\ntype Query { greet: String @lambda }";
  await post(`${server.url}/admin/schema`, sdl, { "content-type": "text/plain" });
  const note = '{ set { _:a <Note.text> "y" . } }';
  await post(`${server.url}/mutate?commitNow=true`, note, rdf);
});
afterAll(async () => {
  await cleanUp();
  collector.close();
  resolvers.close();
});

const trace = (digit: string): string => digit.repeat(32);
const given = (digit: string) => ({ traceparent: `00-${trace(digit)}-00f067aa0ba902b7-01` });

/** The spans of a trace by their names, when its request has come. */
async function spansOf(digit: string, request: string): Promise<ReadonlyMap<string, SpanJson>> {
  const own = () => spans.filter(({ traceId }) => traceId === trace(digit));
  await waitUntil(() => own().some(({ name }) => name === request), 10_000);
  return new Map(own().map((span) => [span.name, span]));
}

test("a query goes on with its sender's trace: opening, plan, levels, rendering", async () => {
  await post(`${server.url}/query`, "{ q(func: has(Note.text)) { Note.text } }", given("a"));
  const found = await spansOf("a", "query");
  const request = found.get("query");
  expect(request?.parentSpanId).toBe("00f067aa0ba902b7");
  expect([...found.keys()]).toEqual(
    expect.arrayContaining(["open", "plan", "execute", "levels", "block", "store", "render"]),
  );
  const store = found.get("store");
  expect(["root", "level"].map((step) => found.get(step)?.spanId)).toContain(store?.parentSpanId);
  const counts = store?.attributes.map(({ key }) => key);
  expect(counts).toEqual(["weft.reads", "weft.records", "weft.lists", "weft.tokens"]);
  expect(found.get("execute")?.parentSpanId).toBe(request?.spanId);
  expect(found.get("block")?.parentSpanId).toBe(found.get("levels")?.spanId);
  expect(found.get("root")?.parentSpanId).toBe(found.get("block")?.spanId);
});

test("a query of GraphQL has the same parts", async () => {
  await post(`${server.url}/graphql`, { query: "{ queryNote { text } }" }, given("8"));
  const found = await spansOf("8", "graphql");
  const span = found.get("graphql")?.spanId;
  for (const part of ["open", "plan", "levels"]) expect(found.get(part)?.parentSpanId).toBe(span);
  expect([...found.keys()]).toEqual(expect.arrayContaining(["block", "store"]));
});

test("a write has its commit", async () => {
  const query = 'mutation { addNote(input: [{ text: "x" }]) { numUids } }';
  await post(`${server.url}/graphql`, { query }, given("b"));
  const found = await spansOf("b", "graphql");
  expect(found.get("commit")?.parentSpanId).toBe(found.get("graphql")?.spanId);
});

test("a resolver is told the trace that it belongs to", async () => {
  const answer = await post(`${server.url}/graphql`, { query: "{ greet }" }, given("c"));
  expect(answer.json["data"]).toEqual({ greet: "hello" });
  const found = await spansOf("c", "graphql");
  const span = found.get("graphql")?.spanId ?? "";
  expect(traceparents).toContain(`00-${trace("c")}-${span}-01`);
  expect(found.get("lambda")?.parentSpanId).toBe(span);
});

test("who says that it is not traced is not, and what is no trace begins a new one", async () => {
  const quiet = { traceparent: `00-${trace("d")}-00f067aa0ba902b7-00` };
  await post(`${server.url}/query?tag=quiet`, "{ q(func: uid(1)) { uid } }", quiet);
  await post(`${server.url}/query?tag=fresh`, "{ q(func: uid(1)) { uid } }", { traceparent: "x" });
  const isFresh = ({ attributes }: SpanJson): boolean =>
    attributes.some(
      ({ key, value }) => key === "weft.tag" && JSON.stringify(value).includes("fresh"),
    );
  await waitUntil(() => spans.some(isFresh), 10_000);
  expect(spans.some(({ traceId }) => traceId === trace("d"))).toBe(false);
});

test("metrics are sent by the names that /metrics has", async () => {
  await waitUntil(() => metricNames.has("weft_requests_total"), 10_000);
  expect([...metricNames]).toEqual(
    expect.arrayContaining(["weft_processes", "weft_request_seconds"]),
  );
});
