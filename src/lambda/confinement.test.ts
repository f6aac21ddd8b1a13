/** Scripts that try to get out: by all that they can reach, by what they leave behind, by what they throw. */
import { describe, expect, test } from "vitest";
import { call, logged, start, useLambdaServers, write } from "../../test/support/lambda-server.ts";
import { defaultLambdaLimits } from "./limits.ts";
import type { LambdaServer } from "./server.ts";

useLambdaServers();

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
