/** What scripts can reach (reference/graphql 7.4 – 7.6): modules, hosts, the database. */
import { describe, expect, test } from "vitest";
import { call, listen, start, useLambdaServers, write } from "../../test/support/lambda-server.ts";

useLambdaServers();

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
