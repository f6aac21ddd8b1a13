/** The lambda server as a database calls it (reference/graphql 7.4 – 7.6). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  call,
  folder,
  logged,
  start,
  useLambdaServers,
  write,
  type Reply,
} from "../../test/support/lambda-server.ts";
import { defaultLambdaLimits } from "./limits.ts";
import type { LambdaServer } from "./server.ts";

useLambdaServers();

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
