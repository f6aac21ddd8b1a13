// Goal: every endpoint from outside, with the reference's envelopes and statuses. One server serves the whole file.
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, rdf, startServer, type TestServer } from "./server.ts";

let server: TestServer;
const at = (path: string): string => server.url + path;

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder() });
  const schema =
    "name: string @index(term, exact) .\nage: int @index(int) .\nfriend: [uid] @reverse .";
  expect((await post(at("/alter"), schema)).json).toEqual({
    data: { code: "Success", message: "Done" },
  });
});
afterAll(cleanUp);

const invalidMethod = {
  errors: [{ message: "Invalid method", extensions: { code: "ErrorInvalidMethod" } }],
};

describe("queries and mutations", () => {
  test("a mutation tells its uids, a query finds them, with their extensions", async () => {
    const body =
      '{ set { _:a <name> "Ada" . _:a <age> "36" .\n _:b <name> "Bob" .\n _:a <friend> _:b . } }';
    const added = await post(at("/mutate?commitNow=true"), body.replaceAll(" . _", " .\n_"), rdf);
    expect(added.json["data"]).toMatchObject({ code: "Success", message: "Done", queries: null });
    const { uids } = added.json["data"] as unknown as { uids: Record<string, string> };
    expect(Object.keys(uids).sort()).toEqual(["a", "b"]);
    const found = await post(
      at("/query"),
      '{ q(func: eq(name, "Ada")) { name age friend { name } } }',
    );
    expect(found.json["data"]).toEqual({
      q: [{ name: "Ada", age: 36, friend: [{ name: "Bob" }] }],
    });
    expect(found.headers.get("content-type")).toBe("application/json");
    expect(Number(found.headers.get("dgraph-toucheduids"))).toBeGreaterThan(0);
    const { txn, server_latency: latency } = found.json["extensions"] as unknown as {
      txn: { start_ts: number };
      server_latency: { total_ns: number };
    };
    expect(txn.start_ts).toBeGreaterThan(0);
    expect(latency.total_ns).toBeGreaterThan(0);
  });

  test("a query as JSON takes variables, which are strings", async () => {
    const query = "query q($n: string) { q(func: eq(name, $n)) { name } }";
    const good = await post(at("/query"), { query, variables: { $n: "Bob" } });
    expect(good.json["data"]).toEqual({ q: [{ name: "Bob" }] });
    const bad = await post(at("/query"), { query, variables: { $n: 7 } });
    expect(bad.json["errors"]).toMatchObject([{ extensions: { code: "ErrorInvalidRequest" } }]);
    expect(bad.text).not.toContain('"data"');
    expect(bad.text).toContain(
      "Error parsing JSON at line 1, character 86: json: cannot unmarshal number into Go struct field .variables of type string",
    );
  });

  test("beside a start time neither ro nor be is looked at; a body of no JSON is told as such", async () => {
    const text = "{ q(func: uid(0x999)) { name } }";
    const { extensions } = (await post(at("/query"), text)).json as unknown as {
      extensions: { txn: { start_ts: number } };
    };
    const startTs = String(extensions.txn.start_ts);
    const old = await post(at(`/query?startTs=${startTs}&be=nonsense&ro=2`), text);
    expect(old.json["data"]).toEqual({ q: [] });
    expect((await post(at("/query?startTs=0&be=nonsense"), text)).text).toContain("parsing be");
    expect((await post(at("/query/below?debug=true"), text)).json["data"]).toEqual({ q: [] });
    const login = await post(at("/login"), "x");
    expect(login.text).toContain("invalid character 'x' looking for beginning of value");
    expect(login.json["errors"]).toMatchObject([{ extensions: { code: "Error" } }]);
    const empty = await post(at("/mutate"), "", { "content-type": "application/json" });
    expect(empty.json["errors"]).toEqual([
      {
        message: "Error parsing JSON at line 1, character 0: unexpected end of JSON input\n",
        extensions: { code: "ErrorInvalidRequest" },
      },
    ]);
  });

  test("errors of the engine begin with a colon and come with data: null, errors before it do not", async () => {
    const inside = await post(at("/query"), "{ q(func: ge(friend, 1)) { name } }");
    expect(inside.status).toBe(200);
    expect(inside.json["data"]).toBeNull();
    expect(inside.text).toMatch(/"message":": /);
    const before = await post(at("/query?debug=on"), "{ q(func: has(name)) { name } }");
    expect(before.text).not.toContain('"data"');
  });

  test("a missing Content-Type is answered twice", async () => {
    const response = await fetch(at("/query"), { method: "POST", body: new Uint8Array([0x7b]) });
    expect((await response.text()).match(/\{"errors"/g)).toHaveLength(2);
  });

  test("one that ends in a malformed parameter is refused, and answered by its type", async () => {
    const ask = async (path: string, body: string, type: string): Promise<string> => {
      const headers = { "content-type": `${type}; charset` };
      return (await fetch(at(path), { method: "POST", body, headers })).text();
    };
    const refusal =
      '{"errors":[{"message":"Invalid Content-Type","extensions":{"code":"ErrorInvalidRequest"}}]}';
    const answers = [
      [await ask("/query", '{ q(func: eq(name, "Ada")) { name } }', "application/dql"), '{"data":'],
      [await ask("/query", "{", "application/json"), '{"errors":[{"message":"Error parsing JSON'],
      [await ask("/mutate", "{}", "application/json"), '{"errors":[{"message":"empty request'],
      [await ask("/query", "{}", "text/plain"), '{"errors":[{"message":"Unsupported Content-Type'],
    ] as const;
    for (const [answer, second] of answers) {
      expect(answer.slice(0, refusal.length + second.length)).toBe(refusal + second);
    }
  });

  test.each(["/query", "/mutate", "/commit", "/alter", "/admin/schema"])(
    "%s takes POST and PUT, answers OPTIONS for browsers, and refuses the rest",
    async (path) => {
      const refused = await fetch(at(path), { method: "GET" });
      expect([refused.status, await refused.json()]).toEqual([400, invalidMethod]);
      const preflight = await fetch(at(path), { method: "OPTIONS" });
      expect([preflight.status, await preflight.text()]).toEqual([200, ""]);
      expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
      expect(preflight.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
    },
  );
});

describe("compression", () => {
  test("bodies may come packed, and answers go packed where that is accepted; errors never", async () => {
    const query = '{ q(func: eq(name, "Ada")) { name } }';
    const headers = { "content-type": "application/dql", "content-encoding": "gzip" };
    const body = gzipSync(query);
    const response = await fetch(at("/query"), { method: "POST", headers, body });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(((await response.json()) as { data: unknown }).data).toEqual({ q: [{ name: "Ada" }] });
    const failed = await post(at("/query"), "{ q(");
    expect(failed.headers.get("content-encoding")).toBeNull();
  });

  test("what is packed badly, or to more than the limit, is refused", async () => {
    const headers = { "content-type": "application/dql", "content-encoding": "gzip" };
    const torn = await fetch(at("/query"), { method: "POST", headers, body: "no gzip" });
    expect(await torn.text()).toContain("Unable to create decompressor");
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const burst = await fetch(at("/query"), { method: "POST", headers, body: bomb });
    expect(burst.status).toBe(413);
    expect(gunzipSync(bomb.subarray(0)).length).toBe(300 * 1024 * 1024);
  });
});

describe("transactions over several requests", () => {
  test("a transaction reads its own writes, others do not, and a commit shows them", async () => {
    const set = '{ set { <0x999> <name> "Cleo" . } }';
    const begun = await post(at("/mutate"), set, rdf);
    const { txn } = begun.json["extensions"] as unknown as {
      txn: { start_ts: number; keys: string[]; preds: string[] };
    };
    expect(txn.preds).toEqual(["1-0-name"]);
    const query = '{ q(func: eq(name, "Cleo")) { uid } }';
    const own = await post(at(`/query?startTs=${txn.start_ts}`), query);
    expect(own.json["data"]).toEqual({ q: [{ uid: "0x999" }] });
    expect((await post(at("/query"), query)).json["data"]).toEqual({ q: [] });
    const done = await post(at(`/commit?startTs=${txn.start_ts}`), {
      keys: txn.keys,
      preds: txn.preds,
    });
    expect(done.json["data"]).toEqual({ code: "Success", message: "Done" });
    expect((await post(at("/query"), query)).json["data"]).toEqual({ q: [{ uid: "0x999" }] });
  });

  test("an abort leaves nothing behind, and its commit is refused", async () => {
    const begun = await post(at("/mutate"), '{ set { _:x <name> "Dora" . } }', rdf);
    const { txn } = begun.json["extensions"] as unknown as {
      txn: { start_ts: number; keys: string[] };
    };
    const aborted = await post(at(`/commit?startTs=${txn.start_ts}&abort=true`), "");
    expect(aborted.json).toEqual({ code: "Success", message: "Done" });
    const late = await post(at(`/commit?startTs=${txn.start_ts}`), { keys: txn.keys });
    expect(late.text).toContain("Transaction has been aborted. Please retry");
    const query = '{ q(func: eq(name, "Dora")) { uid } }';
    expect((await post(at("/query"), query)).json["data"]).toEqual({ q: [] });
  });
});

describe("the rest", () => {
  test("health, state, probe, login, greeting, and what is not there", async () => {
    const health = await get(at("/health"));
    expect(health.json).toMatchObject([{ instance: "alpha", status: "healthy", group: "1" }]);
    expect((await get(at("/health?all"))).json).toMatchObject([
      { instance: "zero", status: "healthy", group: "0" },
      { instance: "alpha", status: "healthy", group: "1" },
    ]);
    expect((await get(at("/state"))).json).toMatchObject({
      groups: { "1": { tablets: {} } },
      zeros: { "1": { id: "1", leader: true } },
    });
    expect((await get(at("/probe/graphql"))).json).toMatchObject({ status: "up" });
    expect((await post(at("/login"), { userid: "groot", password: "password" })).json).toEqual({
      errors: [
        { message: "invalid username or password", extensions: { code: "ErrorInvalidRequest" } },
      ],
      data: null,
    });
    expect((await get(at("/"))).text).toContain("Weft is running");
    const missing = await get(at("/nosuch"));
    expect([missing.status, missing.text]).toEqual([404, "404 page not found\n"]);
    expect((await post(at("/alter/"), "x: int .")).status).toBe(404);
  });

  test("uids are leased in ranges that never overlap", async () => {
    const first = (await post(at("/assign?what=uids&num=100"), "")).json as unknown as Record<
      string,
      string
    >;
    const second = (await post(at("/assign?what=uids&num=5"), "")).json as unknown as Record<
      string,
      string
    >;
    expect(Number(first["endId"])).toBe(Number(first["startId"]) + 99);
    expect(Number(second["startId"])).toBeGreaterThan(Number(first["endId"]));
    const wrong = await post(at("/assign?what=apples&num=1"), "");
    expect(wrong.text).toContain(
      "Invalid what: [apples]. Must be one of: [uids, timestamps, nsids]",
    );
    expect((await post(at("/assign?what=uids"), "")).status).toBe(400);
  });

  test.each([
    ["timestamps", 16_128],
    ["nsids", 100_000],
  ])("%s are leased, too", async (what, most) => {
    const lease = async (count: number): Promise<Record<string, string>> =>
      (await post(at(`/assign?what=${what}&num=${count}`), "")).json as unknown as Record<
        string,
        string
      >;
    const first = await lease(most);
    const second = await lease(2);
    expect(Number(first["endId"])).toBe(Number(first["startId"]) + most - 1);
    expect(Number(second["startId"])).toBeGreaterThan(Number(first["endId"]));
    const over = await post(at(`/assign?what=${what}&num=${most + 1}`), "");
    expect(over.text).toContain(`up to ${most} at a time`);
  });

  test("a read, or a lease, is no earlier than what was given before it", async () => {
    const ask = async (parameters: string): Promise<number> => {
      const answer = await post(at(`/query${parameters}`), "{ q(func: uid(1)) { uid } }");
      return Number(answer.json["extensions"]?.["txn"]?.["start_ts"]);
    };
    const times = [await ask(""), await ask("?ro=true"), await ask("?ro=true&be=true")];
    const leased = await post(at("/assign?what=timestamps&num=1"), "");
    times.push(Number(leased.json["startId"]), await ask("?ro=true"));
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});
