// Goal: no web page that somebody looks at can change a server on their machine, nor read it, unless it was named.
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { cleanUp, get, type Json, makeFolder, post, runWeft, startServer } from "./server.ts";
import type { TestServer } from "./server.ts";

const named = "https://app.example";
const byFlag = "https://ops.example";
const sdl = `type Note @withSubscription { id: ID! text: String! @search(by: [hash]) }
# Dgraph.Allow-Origin "${named}"
`;
const evil = { origin: "https://evil.example" };
const json = { "content-type": "application/json" };

let open: TestServer;
let listed: TestServer;
let keyed: TestServer;
let admin = "";

beforeAll(async () => {
  const one = ["--no-sample", "--workers", "1"];
  const folder = makeFolder();
  const made = await runWeft([
    "key",
    "create",
    "--name",
    "me",
    "--kind",
    "admin",
    "--data",
    folder,
  ]);
  admin = made.stdout.trim();
  [open, listed, keyed] = await Promise.all([
    startServer({ dataDir: makeFolder(), flags: one }),
    startServer({
      dataDir: makeFolder(),
      flags: [...one, "--security", `origins=${byFlag}; hosts=db.example`],
    }),
    startServer({ dataDir: folder, flags: [...one, "--anonymous", "off"] }),
  ]);
  const [plain = ""] = sdl.split("#");
  expect((await post(`${open.url}/admin/schema`, plain)).text).toContain("Success");
  expect((await post(`${listed.url}/admin/schema`, sdl)).text).toContain("Success");
  const key = { "x-auth-token": admin };
  expect((await post(`${keyed.url}/admin/schema`, plain, key)).text).toContain("Success");
}, 60_000);
afterAll(cleanUp);

interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** fetch keeps Host, Origin and Sec-Fetch-Site for itself. */
function ask(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    asked.on("error", reject);
    asked.end(method === "OPTIONS" ? undefined : body);
  });
}

const add = JSON.stringify({ query: 'mutation { addNote(input: { text: "x" }) { numUids } }' });
const read = JSON.stringify({ query: "{ aggregateNote { count } }" });
const facts = '{ set { _:a <name> "x" . } }';

async function countNotes(): Promise<unknown> {
  const { json: answer } = await post(`${open.url}/graphql`, JSON.parse(read) as object);
  return answer["data"]?.["aggregateNote"]?.["count"] ?? 0;
}

describe("GET changes nothing", () => {
  const inUrl = (path: string, query: string) => `${path}?query=${encodeURIComponent(query)}`;
  const changing: readonly (readonly [path: string, status: number])[] = [
    [inUrl("/graphql", 'mutation { addNote(input: { text: "x" }) { numUids } }'), 405],
    [inUrl("/admin", "mutation { draining(enable: true) { response { code } } }"), 405],
    [inUrl("/admin", "mutation { shutdown { response { code } } }"), 405],
    [inUrl("/admin", 'mutation { createKey(input: { name: "x", kind: ADMIN }) { secret } }'), 405],
    [
      inUrl(
        "/admin",
        'mutation { updateGQLSchema(input: { set: { schema: "" } }) { gqlSchema { id } } }',
      ),
      405,
    ],
    [
      `${inUrl("/admin", "query q { health { status } } mutation m { shutdown { response { code } } }")}&operationName=m`,
      405,
    ],
    ["/admin/shutdown", 405],
    ["/assign?what=uids&num=1099511627776", 405],
    // As the reference answers them.
    ["/admin/draining?enable=true", 200],
    ["/admin/schema", 400],
    ["/alter", 400],
    ["/mutate?commitNow=true", 400],
    ["/commit?startTs=1", 400],
    ["/login?userid=groot&password=password", 400],
  ];
  test.each(changing)("%s", async (path, status) => {
    const before = await countNotes();
    const answer = await ask(open.url + path, "GET");
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining("errors")]);
    expect(answer.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
    for (const method of ["HEAD", "OPTIONS"]) await ask(open.url + path, method);
    for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
      expect((await ask(open.url + path, "GET", { [name]: "POST" })).status).toBe(status);
    }
    expect((await get(`${open.url}/health`)).status).toBe(200);
    expect(await countNotes()).toBe(before);
    expect((await post(`${open.url}/admin`, { query: "{ listKeys { id } }" })).text).toContain(
      '"listKeys":[]',
    );
    const first = await post(`${open.url}/assign?what=uids&num=1`, "");
    expect(Number(first.json["startId"])).toBeLessThan(1_000_000);
  });

  test("queries are answered, at /admin too", async () => {
    const query = await get(`${open.url}/graphql?query={queryNote{text}}`);
    expect(query.json["data"]).toEqual({ queryNote: [] });
    const health = await get(`${open.url}/admin?query={health{status}}`);
    expect(health.text).toContain("healthy");
  });
});

describe("without credentials", () => {
  const writes: readonly (readonly [path: string, type: string, body: string])[] = [
    ["/mutate?commitNow=true", "application/rdf", facts],
    ["/mutate?commitNow=true", "text/plain", facts],
    ["/mutate?commitNow=true", "application/x-www-form-urlencoded", facts],
    [
      "/mutate?commitNow=true",
      "application/rdf",
      `upsert { query { q(func: has(x)) { v as uid } } mutation { set { uid(v) <x> "y" . } } }`,
    ],
    ["/commit?startTs=1", "text/plain", "[]"],
    ["/graphql", "application/json", add],
    ["/alter", "text/plain", "name: string ."],
    ["/admin", "application/json", '{"query":"{ health { status } }"}'],
    ["/admin/schema", "text/plain", "type A { id: ID! }"],
  ];
  test.each(writes)("a foreign page writes nothing at %s as %s", async (path, type, body) => {
    const from: Record<string, string>[] = [
      evil,
      { origin: "null" },
      { origin: "http://localhost:8080.evil.example" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const page of from) {
      const answer = await ask(open.url + path, "POST", { "content-type": type, ...page }, body);
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("foreign page")]);
    }
    expect(await countNotes()).toBe(0);
    const here = await ask(open.url + path, "POST", { "content-type": type }, body);
    expect(here.text).not.toContain("foreign page");
    if (path === "/graphql") await post(`${open.url}/alter`, { drop_op: "DATA" });
  });

  test("pages of this machine write data, but administer from this server alone", async () => {
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:5173", open.url]) {
      const headers = { origin, "sec-fetch-site": "same-site", "content-type": "application/rdf" };
      const answer = await ask(`${open.url}/mutate?commitNow=true`, "POST", headers, facts);
      expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, origin]);
      expect(answer.headers["vary"]).toBe("Origin");
      const altered = await ask(`${open.url}/alter`, "POST", headers, "name: string .");
      expect(altered.status).toBe(origin === open.url ? 200 : 403);
    }
  });

  test("foreign pages are answered queries that they cannot read; named ones can", async () => {
    const origins = async (server: TestServer, origin: string, method = "POST") => {
      const answers = [
        await ask(`${server.url}/graphql`, method, { ...json, origin }, read),
        await ask(
          `${server.url}/query`,
          method,
          { "content-type": "application/dql", origin },
          "{ q(func: has(name)) { uid } }",
        ),
        await ask(
          `${server.url}/query`,
          method,
          { "content-type": "application/dql", origin },
          "{ q(",
        ),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      return answers.map(({ headers }) => headers["access-control-allow-origin"]);
    };
    for (const method of ["POST", "OPTIONS"]) {
      expect(await origins(open, evil.origin, method)).toEqual([undefined, undefined, undefined]);
      expect(await origins(listed, evil.origin, method)).toEqual([undefined, undefined, undefined]);
      for (const origin of [named, byFlag, "http://localhost:3000"]) {
        expect(await origins(listed, origin, method)).toEqual([origin, origin, origin]);
      }
    }
    const state = await ask(`${open.url}/state`, "GET", evil);
    expect(state.headers["access-control-allow-origin"]).toBeUndefined();
    for (const origin of [named, byFlag]) {
      const wrote = await ask(`${listed.url}/graphql`, "POST", { ...json, origin }, add);
      expect((JSON.parse(wrote.text) as Json)["data"]).toEqual({ addNote: { numUids: 1 } });
    }
    // What a cache keeps for one page is not for another.
    const cached = `${listed.url}/graphql?query={queryNote{text}}`;
    const kept = await ask(cached, "GET", { origin: named });
    expect(kept.headers["vary"]).toBe("Origin");
  });

  test("a name that was made to point here reaches nothing", async () => {
    const rebound = { host: "evil.example", origin: "http://evil.example" };
    for (const [path, type, body] of [
      ["/query", "application/dql", "{ q(func: has(name)) { uid } }"],
      ["/graphql", "application/json", read],
      ...writes,
    ] as const) {
      const answer = await ask(open.url + path, "POST", { "content-type": type, ...rebound }, body);
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("Host evil")]);
    }
    expect((await ask(`${open.url}/state`, "GET", rebound)).status).toBe(403);
    // A client's machine takes it for itself, and nobody can point it elsewhere.
    const unspecified = { host: "0.0.0.0:8080" };
    expect((await ask(`${open.url}/state`, "GET", unspecified)).status).toBe(200);
    const page = { ...unspecified, origin: "http://evil.example" };
    expect((await ask(`${open.url}/alter`, "POST", page, "name: string .")).status).toBe(403);
    const known = { ...json, host: "db.example:8080" };
    expect((await ask(`${listed.url}/graphql`, "POST", known, read)).status).toBe(200);
  });

  test.each(["graphql-transport-ws", "graphql-ws"])("WebSockets too: %s", async (protocol) => {
    const opens = (server: TestServer, headers: Record<string, string>): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${server.url.replace("http", "ws")}/graphql`, protocol, {
          headers,
        });
        socket.once("open", () => {
          socket.close();
          resolve(true);
        });
        socket.once("error", () => resolve(false));
      });
    expect(await opens(open, {})).toBe(true);
    expect(await opens(open, { origin: "http://localhost:3000" })).toBe(true);
    expect(await opens(open, evil)).toBe(false);
    expect(await opens(open, { origin: "http://evil.example", host: "evil.example" })).toBe(false);
    expect(await opens(listed, { origin: named })).toBe(true);
    expect(await opens(listed, evil)).toBe(false);
    // Its first message shows the key.
    expect(await opens(keyed, evil)).toBe(true);
  });
});

describe("where every request shows credentials", () => {
  const key = () => ({ ...evil, "x-auth-token": admin });

  test("all pages are served", async () => {
    const wrote = await ask(`${keyed.url}/graphql`, "POST", { ...json, ...key() }, add);
    expect([wrote.status, wrote.headers["access-control-allow-origin"]]).toEqual([200, "*"]);
    expect((JSON.parse(wrote.text) as Json)["data"]).toEqual({ addNote: { numUids: 1 } });
    const rdf = { "content-type": "application/rdf", ...key() };
    const mutated = await ask(`${keyed.url}/mutate?commitNow=true`, "POST", rdf, facts);
    expect([mutated.status, mutated.text]).toEqual([200, expect.stringContaining("Success")]);
    expect((await ask(`${keyed.url}/alter`, "POST", key(), "age: int .")).status).toBe(200);
    const preflight = await ask(`${keyed.url}/mutate`, "OPTIONS", evil);
    expect(preflight.headers["access-control-allow-origin"]).toBe("*");
  });

  test("but GET changes nothing", async () => {
    const headers = { "x-auth-token": admin };
    expect((await ask(`${keyed.url}/admin/shutdown`, "GET", headers)).status).toBe(405);
    const query = encodeURIComponent("mutation { shutdown { response { code } } }");
    expect((await ask(`${keyed.url}/admin?query=${query}`, "GET", headers)).status).toBe(405);
  });
});

test("answers are what their type says, and those of administration are kept nowhere", async () => {
  const login = await ask(`${open.url}/login`, "POST", {}, "{}");
  const health = await ask(`${open.url}/admin?query={health{status}}`, "GET");
  const cache = await ask(`${open.url}/admin/config/cache_mb`, "GET");
  const altered = await ask(`${open.url}/alter`, "POST", {}, "name: string .");
  for (const { headers } of [login, health, cache, altered]) {
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
  for (const path of ["/health", "/state", "/nowhere", "/"]) {
    const { headers } = await ask(open.url + path, "GET");
    expect([path, headers["x-content-type-options"]]).toEqual([path, "nosniff"]);
  }
  const query = await post(`${open.url}/graphql`, JSON.parse(read) as object);
  expect(query.headers.get("x-content-type-options")).toBe("nosniff");
  expect(query.headers.get("cache-control")).toBeNull();
});

describe("subscriptions of foreign pages", () => {
  const query = encodeURIComponent("subscription { queryNote { text } }");
  const events = { accept: "text/event-stream" };
  test.each<[string, Record<string, string>]>([
    ["by its origin", evil],
    ["by what the browser says of it", { "sec-fetch-site": "cross-site" }],
  ])("%s: no event stream, no socket", async (_, page) => {
    for (const method of ["GET", "POST"]) {
      const url = `${open.url}/graphql${method === "GET" ? `?query=${query}` : ""}`;
      const body = method === "POST" ? JSON.stringify({ query: decodeURIComponent(query) }) : "";
      const told = await ask(url, method, { ...json, ...events, ...page }, body);
      expect([told.status, told.text]).toEqual([403, expect.stringContaining("foreign page")]);
    }
    const socket = new WebSocket(open.url.replace("http", "ws") + "/graphql", "graphql-ws", {
      headers: page,
    });
    const failure = await new Promise<Error>((resolve, reject) => {
      socket.on("error", resolve);
      socket.on("open", () => reject(new Error("it was let in")));
    });
    expect(failure.message).toContain("403");
  });
});
