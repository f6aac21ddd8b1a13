/** The lambda server as a database calls it (reference/graphql 7.4 – 7.6). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { defaultLambdaLimits } from "./limits.ts";
import { openLambdaServer } from "./server.ts";
import type { LambdaServer, LambdaServerOptions } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-lambda-"));
const open: (LambdaServer | Server)[] = [];
const logged: unknown[] = [];
const log = (message: string, fields: unknown): unknown => logged.push([message, fields]);
const logger: Logger = { info: log, warn: log, error: log };

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  logged.length = 0;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let scriptCount = 0;

function write(text: string, extension = "js"): string {
  const file = join(folder, `script${++scriptCount}.${extension}`);
  writeFileSync(file, text);
  return file;
}

async function start(
  script: string,
  options: Partial<LambdaServerOptions> = {},
): Promise<LambdaServer> {
  const server = await openLambdaServer({
    script,
    options: { shows: "own", tracesConsole: false },
    listen: { host: "127.0.0.1", port: 0 },
    databaseUrl: "http://127.0.0.1:1",
    token: undefined,
    hosts: [],
    limits: defaultLambdaLimits,
    clock: systemClock,
    logger,
    ...options,
  });
  open.push(server);
  return server;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function call(server: LambdaServer, body: object, headers = {}): Promise<Reply> {
  const url = `http://127.0.0.1:${server.address?.port ?? 0}/graphql-worker`;
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

/** An upstream that notes what it is asked, and answers with what `reply` makes of it. */
interface Seen {
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

async function listen(reply: (seen: Seen) => [number, object, Record<string, string>?]): Promise<{
  readonly port: number;
  readonly seen: Seen[];
}> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const one = { url: req.url, headers: req.headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      const [status, body, headers = {}] = reply(one);
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  open.push(server);
  return { port: (server.address() as AddressInfo).port, seen };
}

describe("reference/graphql 7.5: resolvers", () => {
  test("rule 1, 3: both functions any number of times, sync and async", async () => {
    const server = await start(
      write(`
      self.addGraphQLResolvers({ "T.a": ({ parent }) => parent.x + 1 });
      self.addMultiParentGraphQLResolvers({ "T.b": async ({ parents }) => parents.map((p) => p.x * 2) });
      self.addGraphQLResolvers({ "T.c": async ({ parent }) => parent.x, "Query.q": ({ args }) => args.n });
      self.addMultiParentGraphQLResolvers({ "T.d": ({ parents }) => parents.map(() => parents.length) });`),
    );
    expect(server.resolvers).toEqual(["T.a", "T.b", "T.c", "Query.q", "T.d"]);
    const parents = [{ x: 1 }, { x: 5 }];
    const answers = await Promise.all(
      ["T.a", "T.b", "T.c", "T.d"].map((resolver) => call(server, { resolver, parents })),
    );
    expect(answers.map((one) => one.text)).toEqual(["[2,6]", "[2,10]", "[1,5]", "[2,2]"]);
    expect(await call(server, { resolver: "Query.q", args: { n: [1] } })).toEqual({
      status: 200,
      text: "[1]",
    });
  });

  test("reference/graphql 7.4.1: the event of a field, of several parents, and of a query", async () => {
    const server = await start(
      write(`
      const show = (e) => Object.fromEntries(Object.entries(e).map(([k, v]) => [k, typeof v === "function" ? "function" : v]));
      self.addGraphQLResolvers({ "T.a": show, "Query.q": show });
      self.addMultiParentGraphQLResolvers({ "T.b": (e) => [show(e)] });`),
    );
    const authHeader = { key: "X-Auth", value: "token" };
    const parents = [{ id: "0x1" }];
    const shared = { authHeader, "X-Dgraph-AccessToken": "acl" };
    const expected = { parents, args: null, authHeader, accessJWT: "acl", graphql: "function" };
    const field = await call(server, { resolver: "T.a", parents, ...shared });
    expect(JSON.parse(field.text)).toMatchObject([{ ...expected, parent: parents[0] }]);
    const several = await call(server, { resolver: "T.b", parents, ...shared });
    expect(JSON.parse(several.text)).toMatchObject([expected]);
    const query = await call(server, { resolver: "Query.q", args: { a: 1 }, ...shared });
    expect(JSON.parse(query.text)).toMatchObject({ parent: null, parents: null, args: { a: 1 } });
  });

  test("a throw is 400, a rejection 500, nothing is null, for a query nothing is 400", async () => {
    const server = await start(
      write(`self.addGraphQLResolvers({
        "T.throws": () => { throw new Error("sync") },
        "T.rejects": async () => { throw new Error("async") },
        "T.some": ({ parent }) => parent.x,
        "T.circle": () => { const a = {}; a.a = a; return a },
        "Query.nothing": () => undefined,
        "Query.null": () => null,
      })`),
    );
    const parents = [{ x: 1 }, {}];
    expect(await call(server, { resolver: "T.throws", parents })).toEqual({
      status: 400,
      text: '{"errors":[{"message":"sync","extensions":{"code":"RESOLVER_ERROR"}}]}',
    });
    expect((await call(server, { resolver: "T.rejects", parents })).status).toBe(500);
    expect((await call(server, { resolver: "T.some", parents })).text).toBe("[1,null]");
    expect((await call(server, { resolver: "T.circle", parents })).text).toContain("is no JSON");
    expect(await call(server, { resolver: "Query.nothing" })).toEqual({
      status: 400,
      text: expect.stringContaining(
        "Query.nothing returned nothing: null says that there is none.",
      ),
    });
    expect(await call(server, { resolver: "Query.null" })).toEqual({ status: 200, text: "null" });
    expect((await call(server, { resolver: "T.unknown", parents })).status).toBe(400);
    const told = JSON.stringify(logged);
    for (const part of ["sync", "async", "T.unknown"]) expect(told).toContain(part);
  });

  test("rule 5: one element for each parent, else a clear error", async () => {
    const server = await start(
      write(`self.addMultiParentGraphQLResolvers({ "T.few": () => ["x"], "T.none": () => "x" })`),
    );
    const parents = [{}, {}, {}];
    const few = await call(server, { resolver: "T.few", parents });
    expect(JSON.parse(few.text)).toEqual({
      errors: [{ message: "T.few returned 1 elements for 3 parents." }],
    });
    expect((await call(server, { resolver: "T.none", parents })).status).toBe(400);
  });
});

describe("scripts", () => {
  test("rule 7: TypeScript with imports is bundled", async () => {
    writeFileSync(join(folder, "lib.ts"), "export const twice = (n: number): number => n * 2;");
    const script = write(
      `import { twice } from "./lib.ts";
       self.addGraphQLResolvers({ "Query.q": ({ args }: { args: { n: number } }) => twice(args.n) });`,
      "ts",
    );
    expect((await call(await start(script), { resolver: "Query.q", args: { n: 4 } })).text).toBe(
      "8",
    );
  });

  test("a script in base64", async () => {
    const text = `self.addGraphQLResolvers({ "Query.q": () => 1 })`;
    const server = await start(write(Buffer.from(text).toString("base64")));
    expect(server.resolvers).toEqual(["Query.q"]);
  });

  test("reference/graphql 7.6: a compiled script over the limit is refused", async () => {
    const script = write(`globalThis.text = ${JSON.stringify("x".repeat(600 * 1024))}`);
    await expect(start(script)).rejects.toThrow(/the compiled script has \d+ bytes, the limit is/);
    const limits = { ...defaultLambdaLimits, scriptBytesMax: 1024 * 1024 };
    await start(script, { limits });
  });

  test.each([
    ["a syntax error is told with its line", "const a = ;", /script\d+\.js:1:11: Unexpected/],
    [
      "Node's modules are not there",
      'import fs from "node:fs"; fs.x',
      /Could not resolve "node:fs"/,
    ],
    ["a script that throws", 'throw new Error("at load")', /at load/],
    ["a missing file", undefined, /the script cannot be read/],
  ])("%s", async (_name, text, message) => {
    const script = text === undefined ? join(folder, "missing.js") : write(text);
    await expect(start(script)).rejects.toThrow(message);
  });
});

describe("what scripts can reach", () => {
  test("no environment, no files, no processes, no code from texts", async () => {
    const server = await start(
      write(`self.addGraphQLResolvers({ "Query.q": async () => {
        const ways = {
          process: () => process.env,
          require: () => self["require"]("fs"),
          net: () => net.connect(1),
          text: () => new Function("return 1")(),
          module: () => import(["node", "fs"].join(":")),
        };
        const told = {};
        for (const [name, way] of Object.entries(ways)) {
          try { await way(); told[name] = "open" } catch (error) { told[name] = error.name }
        }
        return told;
      } })`),
    );
    const told = JSON.parse((await call(server, { resolver: "Query.q" })).text) as object;
    expect(Object.values(told)).not.toContain("open");
    expect(Object.keys(told)).toHaveLength(5);
  });

  test("what is asked of the database has what is left of the caller's time", async () => {
    const upstream = await listen(() => [200, { data: {} }]);
    const server = await start(
      write(`self.addGraphQLResolvers({ "Query.q": async ({ graphql, dql }) => {
        await graphql("{ a }");
        await dql.mutate("{ set { } }");
        await new Promise((done) => setTimeout(done, 60));
        await dql.query("{ q }");
        await new Promise((done) => setTimeout(done, 2000));
        return dql.query("{ late }").catch((error) => error.message);
      } })`),
      { databaseUrl: `http://127.0.0.1:${upstream.port}` },
    );
    const left = { "x-weft-time-left": "2040" };
    const answer = await call(server, { resolver: "Query.q" }, left);
    expect(JSON.parse(answer.text)).toBe("context deadline exceeded");
    const times = upstream.seen.map(({ url }) =>
      Number(/[?&]timeout=(\d+)ms$/.exec(url ?? "")?.[1]),
    );
    expect(times).toHaveLength(3);
    expect(times[0]).toBeLessThanOrEqual(2040);
    expect(times[2]).toBeLessThanOrEqual((times[0] ?? 0) - 50);
  });

  test("request gives the data, or throws what the database told, which callers are told, too", async () => {
    const refusal = { message: "no such ship", extensions: { code: "NOT_FOUND" } };
    const upstream = await listen(({ body }) =>
      body.includes("bad") ? [200, { errors: [refusal], data: null }] : [200, { data: { n: 1 } }],
    );
    const server = await start(
      write(`self.addGraphQLResolvers({
        "Query.good": ({ request }) => request("{ good }"),
        "Query.bad": ({ request }) => request("{ bad }"),
        "Query.caught": ({ request }) => request("{ bad }").catch((error) => error.errors),
      })`),
      { databaseUrl: `http://127.0.0.1:${upstream.port}`, token: "key" },
    );
    expect(JSON.parse((await call(server, { resolver: "Query.good" })).text)).toEqual({ n: 1 });
    const bad = await call(server, { resolver: "Query.bad" });
    expect(bad).toMatchObject({ status: 500, text: JSON.stringify({ errors: [refusal] }) });
    const caught = await call(server, { resolver: "Query.caught" });
    expect(JSON.parse(caught.text)).toEqual([refusal]);
  });

  test("graphql and dql, with the caller's header or another one", async () => {
    const upstream = await listen(({ url }) =>
      url === "/query" ? [400, {}] : [200, { data: { n: 1 } }],
    );
    const server = await start(
      write(`self.addGraphQLResolvers({ "Query.q": async ({ graphql, dql }) => [
        await graphql("{ a }", { v: 1 }),
        await graphql("{ a }", {}, { key: "X-Auth", value: "other" }),
        await dql.mutate("{ set { } }"),
        await dql.mutate({ set: [] }),
        await dql.query("{ q }").catch((error) => error.message),
      ] })`),
      { databaseUrl: `http://127.0.0.1:${upstream.port}`, token: "key" },
    );
    const answer = await call(server, {
      resolver: "Query.q",
      authHeader: { key: "X-Auth", value: "mine" },
      "X-Dgraph-AccessToken": "acl",
    });
    expect(JSON.parse(answer.text)).toEqual([
      ...Array.from({ length: 4 }, () => ({ data: { n: 1 } })),
      "Failed to execute DQL Query",
    ]);
    const [first, second, rdf, json] = upstream.seen;
    expect(first?.body).toBe('{"query":"{ a }","variables":{"v":1}}');
    expect(first?.headers).toMatchObject({
      "x-auth": "mine",
      "x-auth-token": "key",
      "x-dgraph-accesstoken": "acl",
    });
    expect(second?.headers["x-auth"]).toBe("other");
    expect(rdf).toMatchObject({ url: "/mutate?commitNow=true", body: "{ set { } }" });
    expect(rdf?.headers["content-type"]).toBe("application/rdf");
    expect(json).toMatchObject({ body: '{"set":[]}' });
  });

  test("fetch asks the hosts on the list, redirections included", async () => {
    const closed = await listen(() => [200, {}]);
    const upstream = await listen(({ url }) =>
      url === "/away"
        ? [302, {}, { location: `http://127.0.0.1:${closed.port}/` }]
        : [201, { ok: true }, { "x-a": "b" }],
    );
    const server = await start(
      write(`self.addGraphQLResolvers({ "Query.q": async ({ args }) => {
        try {
          const answer = await fetch(args.url, { method: "POST", body: "b" });
          return [answer.status, answer.headers.get("x-a"), await answer.json()];
        } catch (error) { return error.message }
      } })`),
      { hosts: [`127.0.0.1:${upstream.port}`] },
    );
    const ask = async (url: string): Promise<unknown> =>
      JSON.parse((await call(server, { resolver: "Query.q", args: { url } })).text);
    const base = `http://127.0.0.1:${upstream.port}`;
    expect(await ask(`${base}/`)).toEqual([201, "b", { ok: true }]);
    expect(await ask(`${base}/away`)).toContain("is not on the list of hosts");
    expect(await ask("file:///etc/passwd")).toContain("is not on the list of hosts");
    expect(closed.seen).toEqual([]);
  });

  test("timers end with their call, those of the script go on", async () => {
    const server = await start(
      write(`let ticks = 0, late = 0;
      setInterval(() => ticks++, 5);
      self.addGraphQLResolvers({
        "Query.begin": () => { setTimeout(() => late++, 10); return 1 },
        "Query.end": async () => { await new Promise((r) => setTimeout(r, 60)); return [ticks > 3, late] },
      })`),
    );
    await call(server, { resolver: "Query.begin" });
    expect((await call(server, { resolver: "Query.end" })).text).toBe("[true,0]");
  });
});

describe("the endpoint", () => {
  test("web pages, other paths and other bodies are refused", async () => {
    const server = await start(write(`self.addGraphQLResolvers({ "Query.q": () => 1 })`));
    const body = { resolver: "Query.q" };
    expect((await call(server, body, { origin: "http://evil.example" })).status).toBe(403);
    expect((await call(server, body, { "content-type": "text/plain" })).status).toBe(415);
    expect((await call(server, { no: "resolver" })).status).toBe(400);
    const other = await fetch(`http://127.0.0.1:${server.address?.port ?? 0}/`);
    expect(other.status).toBe(404);
    const limits = { ...defaultLambdaLimits, bodyBytesMax: 100 };
    const small = await start(write("1"), { limits });
    expect((await call(small, { resolver: "x".repeat(200) })).status).toBe(413);
  });

  test("a port in use", async () => {
    const server = await start(write("1"));
    const port = server.address?.port ?? 0;
    await expect(start(write("1"), { listen: { host: "127.0.0.1", port } })).rejects.toThrow(
      /cannot listen on 127\.0\.0\.1:\d+: it is in use/,
    );
  });
});

/** Walks all that a resolver can reach, and tries to get out with it. */
const walker = String.raw`
self.addGraphQLResolvers({
  "Query.walk": async (event) => {
    const seen = new Set(), todo = [["globalThis", globalThis], ["event", event]], found = [];
    const note = (name, value) => { if ((typeof value === "object" && value) || typeof value === "function") todo.push([name, value]); };
    const tryIt = async (name, run) => { try { note(name, await run()); } catch (error) { note(name + ".error", error); } };
    await tryIt("setTimeout()", () => { const timer = setTimeout(() => {}, 1); return timer; });
    await tryIt("setImmediate()", () => setImmediate(() => {}));
    await tryIt("fetch()", () => fetch("http://127.0.0.1:1/"));
    await tryIt("graphql()", () => event.graphql("{ a }"));
    await tryIt("Request", () => new Request("http://a.example/", { method: "POST", body: "x" }));
    await tryIt("Request.body", () => new Request("http://a.example/", { method: "POST", body: "x" }).body.getReader());
    await tryIt("Response", () => new Response("x"));
    await tryIt("Headers", () => new Headers({ a: "b" }));
    await tryIt("Blob", () => new Blob(["x"]).stream());
    await tryIt("FormData", () => new FormData());
    await tryIt("AbortSignal", () => AbortSignal.timeout(10));
    await tryIt("EventTarget", () => new EventTarget());
    await tryIt("TextDecoderStream", () => new TextDecoderStream());
    await tryIt("TransformStream", () => new TransformStream());
    await tryIt("structuredClone", () => structuredClone({ a: [new Date()] }));
    await tryIt("TextDecoder", () => new TextDecoder("utf-8"));
    await tryIt("URL", () => new URL("http://a.example/?b=c").searchParams);
    await tryIt("Buffer", () => Buffer.from("x"));
    await tryIt("crypto", () => crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]));
    await tryIt("WebAssembly", () => new WebAssembly.Memory({ initial: 1 }));
    await tryIt("import", () => import(event.info?.name ?? ["node", "net"].join(":")));
    await tryIt("console", () => console.log({ get a() { throw new Error("x"); } }));
    const stacks = [];
    try { Error.prepareStackTrace = (error, frames) => (stacks.push(frames), ""); } catch {}
    try { null.x; } catch (error) { void error.stack; note("error", error); }
    for (const frames of stacks) for (const frame of frames) {
      note("frame", frame);
      for (const name of ["getThis", "getFunction"]) try { note(name, frame[name]()); } catch {}
    }
    (function () { try { note("caller", arguments.callee.caller); } catch {} })();
    while (todo.length > 0) {
      const [name, value] = todo.pop();
      if (seen.has(value)) continue;
      seen.add(value);
      let keys = [];
      try { keys = Reflect.ownKeys(value); } catch { continue; }
      const has = (key) => { try { return value[key] !== undefined; } catch { return false; } };
      if ((has("pid") && has("memoryUsage")) || has("getBuiltinModule") || has("_linkedBinding")) found.push("process: " + name);
      if (has("setNoDelay") || has("createConnection") || has("_handle") || has("dispatch") && has("close") && has("destroy")) found.push("socket: " + name);
      if ((has("resolve") && has("cache") && has("main")) || (has("_load") && has("_resolveFilename"))) found.push("require: " + name);
      if (has("readFileSync") || has("createReadStream") || has("spawn") || has("runInThisContext")) found.push("module: " + name);
      const path = name.length > 200 ? name.slice(0, 200) : name;
      for (const key of keys) {
        let descriptor;
        try { descriptor = Reflect.getOwnPropertyDescriptor(value, key); } catch { continue; }
        if (!descriptor) continue;
        note(path + "." + String(key), descriptor.value);
        note(path + ".get " + String(key), descriptor.get);
        note(path + ".set " + String(key), descriptor.set);
        if (descriptor.get) try { note(path + "." + String(key), Reflect.get(value, key)); } catch {}
      }
      try { note(path + ".[[Prototype]]", Reflect.getPrototypeOf(value)); } catch {}
    }
    return { size: seen.size, found };
  },
  "Query.tamper": () => {
    const done = [];
    const attempt = (name, run) => { try { run(); done.push(name); } catch {} };
    attempt("JSON.parse", () => { "use strict"; JSON.parse = () => "evil"; });
    attempt("JSON", () => { "use strict"; globalThis.JSON = { parse: () => "evil" }; });
    attempt("Promise.then", () => { "use strict"; Promise.prototype.then = () => "evil"; });
    attempt("Array.map", () => { "use strict"; Array.prototype.map = () => "evil"; });
    attempt("Object.prototype", () => { "use strict"; Object.prototype.resolver = "evil"; });
    attempt("Function.call", () => { "use strict"; Function.prototype.call = () => "evil"; });
    attempt("fetch", () => { "use strict"; globalThis.fetch = () => "evil"; });
    attempt("console.log", () => { "use strict"; console.log = () => "evil"; });
    attempt("Headers.get", () => { "use strict"; Headers.prototype.get = () => "evil"; });
    attempt("URL", () => { "use strict"; URL.prototype.toString = () => "evil"; });
    attempt("Map.get", () => { "use strict"; Map.prototype.get = () => "evil"; });
    attempt("setTimeout", () => { "use strict"; globalThis.setTimeout = () => "evil"; });
    globalThis.ownCount = (globalThis.ownCount ?? 0) + 1;
    class Mine extends Error { constructor(text) { super(text); this.name = "Mine"; this.message = "told"; } }
    const mine = new Mine("x"), plain = { toString: 1 };
    plain.hasOwnProperty = 2;
    return { done, count: ownCount, mine: String(mine), plain };
  },
  "Query.large": () => "x".repeat(3_000_000),
  "Query.print": () => {
    for (let i = 0; i < 100_000; i++) console.log("y".repeat(5_000));
    return "printed";
  },
});
`;

describe("the confinement", () => {
  test("nothing that a script can reach leads out of its process", async () => {
    const server = await start(write(walker));
    const { size, found } = JSON.parse(await textOf(server, "Query.walk")) as {
      size: number;
      found: string[];
    };
    expect(size).toBeGreaterThan(1000);
    expect(found).toEqual([]);
  });

  test("nothing that a call changes is met by the next one, but what the script keeps itself", async () => {
    const server = await start(write(walker), { limits: { ...defaultLambdaLimits, running: 1 } });
    for (const count of [1, 2]) {
      expect(JSON.parse(await textOf(server, "Query.tamper"))).toEqual({
        done: [],
        count,
        mine: "Mine: told",
        plain: { toString: 1, hasOwnProperty: 2 },
      });
    }
  });

  test("the last match of a call is met by no other", async () => {
    const script = `self.addGraphQLResolvers({
      "Query.match": ({ args }) => String(/(\\w+)$/.exec(args.token)[1].length),
      "Query.last": () => [RegExp.$1, RegExp.input, RegExp.lastMatch, RegExp.leftContext, RegExp.rightContext],
    })`;
    const server = await start(write(script), { limits: { ...defaultLambdaLimits, running: 1 } });
    const token = { token: "the token of a caller" };
    const matched = await call(server, { resolver: "Query.match", parents: null, args: token });
    expect(matched.text).toBe('"6"');
    expect(JSON.parse(await textOf(server, "Query.last"))).toEqual(["", "", "", "", ""]);
  });

  test("what throws when it is looked at is thrown like anything else", async () => {
    const script = `const trap = new Proxy(new Error("x"), { get() { throw new Error("in") }, getPrototypeOf() { throw new Error("too") } });
      self.addGraphQLResolvers({
        "Query.throw": () => { throw trap },
        "Query.reject": async () => { throw trap },
        "Query.json": () => ({ toJSON() { throw trap } }),
        "Query.fine": () => 1,
      })`;
    const server = await start(write(script), { limits: { ...defaultLambdaLimits, running: 1 } });
    const statusOf = async (resolver: string): Promise<number> =>
      (await call(server, { resolver, parents: null, args: {} })).status;
    expect(await statusOf("Query.throw")).toBe(400);
    expect(await statusOf("Query.reject")).toBe(500);
    expect(await statusOf("Query.json")).toBe(400);
    expect(await statusOf("Query.fine")).toBe(200);
  });

  test("an answer that is too large is refused, and a console that never ends is cut", async () => {
    const limits = { ...defaultLambdaLimits, bodyBytesMax: 1_000_000, running: 1 };
    const server = await start(write(walker), { limits });
    const refused = await call(server, { resolver: "Query.large", parents: null, args: {} });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("larger than 1000000 bytes (--lambda-limit body-bytes)");
    expect(await textOf(server, "Query.print")).toBe('"printed"');
    expect(JSON.stringify(logged).length).toBeLessThan(20_000_000);
  });
});

async function textOf(server: LambdaServer, resolver: string): Promise<string> {
  const { status, text } = await call(server, { resolver, parents: null, args: {} });
  expect(status).toBe(200);
  return text;
}

describe("what is told of an error", () => {
  const script = `interface Box { readonly n: number }
class Refused extends Error { readonly extensions = { code: "NOT_NOW", retry: 3 } }
self.addGraphQLResolvers({
  "T.odd": async ({ parent }: { parent: Box }) => {
    if (parent.n % 2 === 0) throw new Error(\`\${parent.n} is even\`);
    return parent.n;
  },
  "T.bug": ({ parent }: { parent: { deep?: Box } }) => parent.deep!.n,
  "Query.refused": () => { throw new Refused("not today") },
  "Query.coded": () => { throw Object.assign(new Error("taken"), { code: "TAKEN" }) },
  "Query.text": () => { throw "a text" },
  "Query.endless": () => { throw Object.assign(new Error("m".repeat(10_000)), { extensions: { blob: "x".repeat(10_000) } }) },
  "Query.bug": () => (undefined as any).x,
});
self.addMultiParentGraphQLResolvers({
  "T.list": ({ parents }: { parents: Box[] }) => parents.map(({ n }) => (n === 2 ? new Error("two") : n)),
});
declare const self: any;`;
  const partial = { "x-weft-partial": "1" };
  const errorOf = async (server: LambdaServer, resolver: string): Promise<unknown> => {
    const { text } = await call(server, { resolver, parents: null, args: {} });
    return text.startsWith("{") ? (JSON.parse(text) as { errors: unknown[] }).errors[0] : text;
  };

  test("its own message with a code, and nothing of the language's errors", async () => {
    const server = await start(write(script, "ts"));
    expect(await errorOf(server, "Query.refused")).toEqual({
      message: "not today",
      extensions: { code: "NOT_NOW", retry: 3 },
    });
    expect(await errorOf(server, "Query.coded")).toEqual({
      message: "taken",
      extensions: { code: "TAKEN" },
    });
    expect(await errorOf(server, "Query.text")).toMatchObject({ message: "a text" });
    expect(await errorOf(server, "Query.bug")).toBe("");
    expect(await errorOf(server, "Query.endless")).toEqual({
      message: "m".repeat(4000),
      extensions: { code: "RESOLVER_ERROR" },
    });
  });

  test("all of them, or none", async () => {
    const all = await start(write(script, "ts"), {
      options: { shows: "all", tracesConsole: false },
    });
    expect(await errorOf(all, "Query.bug")).toMatchObject({
      message: "Cannot read properties of undefined (reading 'x')",
    });
    const none = await start(write(script, "ts"), {
      options: { shows: "none", tracesConsole: false },
    });
    expect(await errorOf(none, "Query.refused")).toBe("");
  });

  test("one parent's failure is its own for callers that say so, and the whole call's for others", async () => {
    const server = await start(write(script, "ts"));
    const body = { resolver: "T.odd", parents: [{ n: 1 }, { n: 2 }, { n: 3 }] };
    expect(JSON.parse((await call(server, body, partial)).text)).toEqual({
      data: [1, null, 3],
      errors: [
        {
          index: 1,
          status: 500,
          message: "2 is even",
          extensions: { code: "RESOLVER_ERROR" },
        },
      ],
      more: 0,
    });
    expect(await call(server, body)).toMatchObject({ status: 500 });
    const listed = await call(server, { ...body, resolver: "T.list" }, partial);
    expect(JSON.parse(listed.text)).toMatchObject({ data: [1, null, 3], errors: [{ index: 1 }] });
    const bug = await call(server, { ...body, resolver: "T.bug" }, partial);
    expect(JSON.parse(bug.text)).toMatchObject({ errors: [{ index: 0, status: 400 }, {}, {}] });
    expect(bug.text).not.toContain("Cannot read");
  });

  test("of very many failures the first are told, and how many there are besides", async () => {
    const server = await start(write(script, "ts"));
    const parents = Array.from({ length: 1000 }, () => ({ n: 2 }));
    const { text } = await call(server, { resolver: "T.odd", parents }, partial);
    const { errors, more } = JSON.parse(text) as { errors: unknown[]; more: number };
    expect([errors.length, more]).toEqual([100, 900]);
    expect(logged).toHaveLength(1);
  });

  test("the log has places of the files that were written, not of what runs", async () => {
    writeFileSync(
      join(folder, "deep.ts"),
      `// One line more.\nexport function deep(box?: { n: number }): number {\n  return box!.n;\n}\n`,
    );
    const file = write(
      `import { deep } from "./deep.ts";\n\nself.addGraphQLResolvers({\n  "Query.bug": () => {\n    console.log("before");\n    return deep();\n  },\n});\ndeclare const self: any;`,
      "ts",
    );
    const server = await start(file, { options: { shows: "own", tracesConsole: true } });
    await call(server, { resolver: "Query.bug", parents: null, args: {} });
    const [printed, fault] = logged as [string, Record<string, unknown>][];
    expect(printed?.[1]["line"]).toBe("before");
    expect(printed?.[1]["at"]).toMatch(/script\d+\.ts:5$/);
    expect(fault?.[1]["fault"]).toMatch(/deep\.ts:3:15\)\n.*script\d+\.ts:6:12\)/);
    expect(fault?.[1]).toMatchObject({ line: 3, column: 15, source: "  return box!.n;" });
  });
});

describe("another script in place of one", () => {
  const answering = (text: string, ms = 0): string =>
    `self.addGraphQLResolvers({ "Query.q": () => { console.log("begun"); return new Promise((go) => setTimeout(go, ${ms}, "${text}")) } })`;
  const ask = (server: LambdaServer): Promise<Reply> =>
    call(server, { resolver: "Query.q", parents: null, args: {} });

  test("no call is lost: those under way end with the text that they began with", async () => {
    const file = write(answering("old", 500));
    const server = await start(file);
    const before = [ask(server), ask(server)];
    await expect.poll(() => logged.length).toBe(2);
    writeFileSync(file, answering("new"));
    expect(await server.reload(file)).toMatchObject({ resolvers: ["Query.q"], files: [file] });
    expect((await ask(server)).text).toBe('"new"');
    for (const one of await Promise.all(before)) expect(one.text).toBe('"old"');
  });

  test("one that cannot be used leaves the old one running", async () => {
    const file = write(answering("old"));
    const server = await start(file);
    writeFileSync(file, "const a = 1;\nconst b: string = ;");
    await expect(server.reload(file)).rejects.toMatchObject({
      problems: [{ place: { line: 2 }, lineText: "const b: string = ;" }],
    });
    writeFileSync(file, '\nthrow new Error("at once");');
    await expect(server.reload(file)).rejects.toMatchObject({
      problems: [{ place: { line: 2, column: 7 }, lineText: 'throw new Error("at once");' }],
    });
    expect((await ask(server)).text).toBe('"old"');
    expect((await server.reload(undefined)).resolvers).toEqual([]);
    expect((await ask(server)).text).toContain('there is no resolver \\"Query.q\\"');
  });
});
