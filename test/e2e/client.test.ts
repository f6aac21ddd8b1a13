// Goal: the client against a real server: requests, DQL by templates, transactions, subscriptions, lost connections.
import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WebSocket } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect, documents, dql } from "../../src/client/client.ts";
import type { DatabaseClient, ClientOptions } from "../../src/client/api.ts";
import { cleanUp, makeFolder, post, root, startServer, type TestServer } from "./server.ts";

const schema = `
  type Task @withSubscription {
    id: ID!
    title: String! @id @search(by: [exact])
    size: Int
  }`;

let server: TestServer;
let client: DatabaseClient;

beforeAll(async () => {
  server = await startServer({ dataDir: join(makeFolder(), "data"), flags: ["--workers", "1"] });
  client = connect({ url: server.url });
  await post(`${server.url}/admin/schema`, schema);
});
const fakes: Server[] = [];
afterEach(() => {
  for (const one of fakes.splice(0)) one.close();
});
afterAll(async () => {
  client.close();
  await cleanUp();
});

const add = "mutation ($title: String!) { addTask(input: [{ title: $title }]) { numUids } }";

/** Answers of a server that is none; what it was asked is kept. */
async function fake(
  answer: (nth: number, request: IncomingMessage) => { status: number; headers?: Record<string, string> } | "cut", // prettier-ignore
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const one = createServer((request, response) => {
    asked.push(request.url ?? "");
    request.resume();
    const given = answer(asked.length, request);
    if (given === "cut") request.socket.destroy();
    else response.writeHead(given.status, given.headers).end('{"data":{"ok":true}}');
  });
  fakes.push(one);
  await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(one.address() as AddressInfo).port}`, asked };
}

describe("GraphQL", () => {
  test("data, errors with their codes, and documents with fragments", async () => {
    const { data } = await client.graphql(add, { title: "one" });
    expect(data).toEqual({ addTask: { numUids: 1 } });
    const graphql = documents();
    const title = graphql("fragment Title on Task { title }");
    const both = graphql("fragment Both on Task { size ...Title }", [title]);
    const all = graphql("{ queryTask { ...Both ...Title } }", [both, title]);
    expect(await client.request(all)).toEqual({ queryTask: [{ size: null, title: "one" }] });
    const failed = client.request("{ queryTask { titel } }");
    await expect(failed).rejects.toMatchObject({
      name: "DatabaseError",
      status: 200,
      message: 'Cannot query field "titel" on type "Task". Did you mean "title"?',
      errors: [{ locations: [{ line: 1, column: 15 }] }],
    });
  });

  test("a server that nobody reaches, one that is no Weft", async () => {
    const gone = connect({ url: "http://127.0.0.1:1", retries: 0 });
    await expect(gone.request("{ a }")).rejects.toMatchObject({ code: "Unreachable", status: 0 });
    const { url } = await fake(() => ({ status: 404 }));
    await expect(connect({ url }).request("{ a }")).resolves.toEqual({ ok: true });
  });
});

describe("retries", () => {
  test("a refusal that asks for it is asked again, mutations too", async () => {
    const { url, asked } = await fake((nth) =>
      nth < 3
        ? { status: nth === 1 ? 503 : 429, headers: { "retry-after": "0" } }
        : { status: 200 },
    );
    expect(await connect({ url }).request("mutation { a }")).toEqual({ ok: true });
    expect(asked).toHaveLength(3);
  });

  test("after a lost connection reads are asked again, changes are not", async () => {
    const { url, asked } = await fake((nth) => (nth === 1 ? "cut" : { status: 200 }));
    expect(await connect({ url }).request("{ a }")).toEqual({ ok: true });
    expect(asked).toHaveLength(2);
    const cut = await fake(() => "cut");
    const lost = connect({ url: cut.url });
    await expect(lost.request("mutation { a }")).rejects.toMatchObject({ code: "Unreachable" });
    await expect(lost.mutate({ set: {} })).rejects.toMatchObject({ code: "Unreachable" });
    expect(cut.asked).toHaveLength(2);
  });

  test("time is bounded, and a signal ends a request", async () => {
    const { url } = await fake(() => ({ status: 503, headers: { "retry-after": "9" } }));
    const bounded = connect({ url, timeoutMs: 50 });
    await expect(bounded.request("{ a }")).rejects.toMatchObject({ code: "Timeout" });
    const control = new AbortController();
    const asked = connect({ url }).request("{ a }", {}, { signal: control.signal });
    control.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  test("headers and keys go with each request", async () => {
    const seen: unknown[] = [];
    const { url } = await fake((nth, { headers }) => {
      seen.push([headers["x-auth-token"], headers["x-app"], headers["x-one"]]);
      return { status: nth === 1 ? 503 : 200 };
    });
    let nth = 0;
    const headers = (): Record<string, string> => ({ "X-App": `token ${++nth}` });
    const with_ = connect({ url, key: "secret", headers });
    await with_.request("{ a }", {}, { headers: { "X-One": "1" } });
    expect(seen).toEqual([
      ["secret", "token 1", "1"],
      ["secret", "token 2", "1"],
    ]);
  });
});

describe("DQL", () => {
  test("values of a template are variables: none can change the text", async () => {
    await client.mutate({ set: [{ name: 'Ann "A"' }, { name: "Bob", age: 7 }] });
    await client.mutate({ set: '_:c <name> "Cid" .' });
    await post(`${server.url}/alter`, "name: string @index(exact) .\nage: int @index(int) .");
    const names = async (name: string): Promise<unknown> =>
      (await client.dql`{ q(func: eq(name, ${name})) { name } }`)["q"];
    expect(await names('Ann "A"')).toEqual([{ name: 'Ann "A"' }]);
    expect(await names('x")) { uid } evil(func: has(name')).toEqual([]);
    expect(await names("$value1")).toEqual([]);
    const { q } = await client.dql`{ q(func: eq(name, ${["Bob", "Cid"]}), orderasc: name, first: ${1}) @filter(ge(age, ${7})) { uid name } }`; // prettier-ignore
    const [bob] = q as { uid: string }[];
    expect(q).toEqual([{ uid: bob?.uid, name: "Bob" }]);
    const seven = dql`eq(age, ${7})`;
    const nested = dql`query named($min: int = 1) { q(func: uid(${[bob?.uid ?? "", "0x99999"]})) @filter(${seven} AND ge(age, $min)) { name } }`;
    expect(await client.dql(nested)).toEqual({ q: [{ name: "Bob" }] });
    expect(await client.dql(nested, { min: 8 })).toEqual({ q: [] });
    await expect(client.dql("{ q(func: nothing()) }")).rejects.toMatchObject({ status: 200 });
  });

  test("an upsert takes its values as variables, too", async () => {
    const name = 'Eve") { } #';
    const upsert = () =>
      client.mutate({
        query: dql`{ v as var(func: eq(name, ${name})) q(func: uid(v)) { name } }`,
        condition: "@if(eq(len(v), 0))",
        set: { name },
      });
    const first = await upsert();
    expect(Object.keys(first.uids)).toHaveLength(1);
    const second = await upsert();
    expect(second).toEqual({ uids: {}, queries: { q: [{ name }] } });
  });

  test("a transaction sees what it wrote, loses nothing to another, and is left where it throws", async () => {
    const { uids } = await client.mutate({ set: { uid: "_:n", count: 0 } });
    const uid = uids["n"] ?? "";
    const increment = () =>
      client.transaction(async (t) => {
        const { q } = await t.dql<{ q: { count: number }[] }>`{ q(func: uid(${uid})) { count } }`;
        await t.mutate({ set: { uid, count: (q[0]?.count ?? 0) + 1 } });
        return await t.dql<{ q: { count: number }[] }>`{ q(func: uid(${uid})) { count } }`;
      });
    const counts = await Promise.all([increment(), increment(), increment(), increment()]);
    expect(counts.map(({ q: [row] }) => row?.count ?? 0).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4,
    ]);
    const left = client.transaction(async (t) => {
      await t.mutate({ set: { uid, count: 99 } });
      throw new Error("changed my mind");
    });
    await expect(left).rejects.toThrow("changed my mind");
    expect(await client.dql`{ q(func: uid(${uid})) { count } }`).toEqual({ q: [{ count: 4 }] });
  });
});

describe.each<[string, Partial<ClientOptions>]>([
  ["a WebSocket", { WebSocket }],
  ["an event stream", { subscriptions: "event-stream" }],
])("subscriptions over %s", (_name, way) => {
  test("answers follow the data, over a server that comes again", async () => {
    const dataDir = join(makeFolder(), "data");
    const flags = ["--workers", "1"];
    let one = await startServer({ dataDir, flags });
    await post(`${one.url}/admin/schema`, schema);
    const reconnects: number[] = [];
    const { url } = one;
    const own = connect({ url, ...way, onReconnect: ({ delayMs }) => reconnects.push(delayMs) });
    const counts = own.subscribe<{ aggregateTask: { count: number } }>(
      "subscription { aggregateTask { count } }",
    );
    const next = async (): Promise<number | undefined> =>
      (await counts.next()).value?.data?.aggregateTask.count;
    expect(await next()).toBe(0);
    await own.graphql(add, { title: "a" });
    expect(await next()).toBe(1);
    await one.stop();
    one = await startServer({ dataDir, flags, port: Number(new URL(url).port) });
    expect(await next()).toBe(1);
    await own.graphql(add, { title: "b" });
    expect(await next()).toBe(2);
    expect(reconnects.length).toBeGreaterThan(0);
    own.close();
    expect(await counts.next()).toEqual({ done: true, value: undefined });
  });

  test("what is refused is thrown, and a loop that ends leaves", async () => {
    const own = connect({ url: server.url, ...way });
    const wrong = own.subscribe("subscription { queryTask { titel } }");
    await expect(wrong.next()).rejects.toThrow(/Cannot query field "titel"/);
    for await (const { data } of own.subscribe("subscription { queryTask { title } }")) {
      expect(data).toHaveProperty("queryTask");
      break;
    }
    const control = new AbortController();
    const signal = control.signal;
    const aborted = own.subscribe("subscription { queryTask { title } }", {}, { signal });
    await aborted.next();
    control.abort();
    expect((await aborted.next()).done).toBe(true);
    own.close();
  });
});

test("runs where there is no Node, on what a platform for the web has, its WebSocket too", () => {
  const script = `
    const { readFileSync } = require("node:fs");
    const vm = require("node:vm");
    const web = { fetch, URL, TextDecoder, AbortController, setTimeout, clearTimeout, setInterval, clearInterval, WebSocket, console };
    const context = vm.createContext(web);
    (async () => {
      const client = new vm.SourceTextModule(readFileSync(${JSON.stringify(join(root, "dist", "client.js"))}, "utf8"), { context });
      const main = new vm.SourceTextModule(\`
        import { connect } from "client";
        const client = connect({ url: ${JSON.stringify(server.url)} });
        const { queryTask } = await client.request("{ queryTask { title } }");
        for await (const { data } of client.subscribe("subscription { queryTask { title } }")) {
          console.log(JSON.stringify(data) === JSON.stringify({ queryTask }) && typeof process);
          break;
        }
        client.close();\`, { context });
      await main.link(() => client);
      await main.evaluate();
    })();`;
  const flags = ["--experimental-websocket", "--experimental-vm-modules", "--no-warnings"];
  const told = execFileSync(process.execPath, [...flags, "-e", script], { encoding: "utf8" });
  expect(told.trim()).toBe("undefined");
});
