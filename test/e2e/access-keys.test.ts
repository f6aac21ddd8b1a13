// Goal: a key opens what its scopes name and nothing else, in its namespace and until its end; a browser's key sees what
// rules show, and no more.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, rdf, runWeft, startServer } from "./server.ts";
import type { Ended, Told } from "./server.ts";
import { connect } from "./subscriber.ts";

let url = "";
let admin = "";
let groot = "";
const keys = new Map<string, string>();

const sdl = `type Note @withSubscription @auth(query: { rule: "{$ROLE: {eq: \\"reader\\"}}" }) {
  id: ID! text: String! @search(by: [hash]) }
# Dgraph.Authorization {"VerificationKey":"a key for the tests of scopes, long enough","Header":"X-Notes","Namespace":"https://notes","Algo":"HS256"}
`;

beforeAll(async () => {
  const folder = makeFolder();
  const dataDir = join(folder, "data");
  const create = ["key", "create", "--data", dataDir, "--name"];
  admin = (await runWeft([...create, "me", "--kind", "admin"])).stdout.trim();
  const server = await startServer({
    dataDir,
    flags: ["--no-sample", "--workers", "2", "--anonymous", "off"],
  });
  url = server.url;
  expect((await ask("/admin/schema", sdl, admin)).text).toContain("Success");
  for (const scope of ["graphql", "query", "mutate", "alter", "admin", "changes"]) {
    keys.set(scope, await make(`scopes: [${scope.toUpperCase()}]`));
  }
}, 60_000);
afterAll(cleanUp);

async function run(...args: string[]): Promise<Ended> {
  return await runWeft(["key", ...args, "--to", url], { WEFT_KEY: admin });
}

async function make(input: string): Promise<string> {
  const query = `mutation { createKey(input: { name: "a", ${input} }) { secret } }`;
  const { json } = await ask("/admin", { query }, admin);
  return String(json["data"]?.["createKey"]?.["secret"]);
}

const shown = (key: string | undefined) => ({ "x-auth-token": key ?? "" });

const ask = (path: string, body: string | object, key: string | undefined, type = {}) =>
  post(url + path, body, { ...shown(key), ...type });

const requests: Readonly<Record<string, (key: string) => Promise<Told>>> = {
  "/graphql": (key) => ask("/graphql", { query: "{ queryNote { text } }" }, key),
  "/query": (key) => ask("/query", "{ q(func: has(Note.text)) { Note.text } }", key),
  "/mutate": (key) => ask("/mutate?commitNow=true", '{ set { _:a <x> "y" . } }', key, rdf),
  "/commit": (key) => ask("/commit?startTs=1&abort=true", "", key),
  "/alter": (key) => ask("/alter", "x: string .", key),
  "/admin": (key) => ask("/admin", { query: "{ health { status } }" }, key),
  "/admin/schema": (key) => ask("/admin/schema", sdl, key),
  "/state": (key) => ask("/state", "", key),
  "/changes": (key) => get(`${url}/changes?follow=false`, shown(key)),
  "/graphql?explain": (key) =>
    ask("/graphql?explain=json", { query: "{ queryNote { text } }" }, key),
};

const opens: readonly (readonly [scope: string, paths: readonly string[]])[] = [
  ["graphql", ["/graphql"]],
  ["query", ["/query", "/commit", "/state"]],
  ["mutate", ["/mutate", "/commit"]],
  ["alter", ["/alter"]],
  ["admin", ["/admin", "/admin/schema", "/state"]],
  ["changes", ["/changes"]],
];

describe.each(opens)("scope %s", (scope, paths) => {
  test.each(Object.keys(requests))("%s", async (path) => {
    const answer = await requests[path]!(keys.get(scope) ?? "");
    if (paths.includes(path)) {
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("ErrorUnauthorized");
    } else {
      expect(answer.text).toContain("This key does not open this route");
      const isGraphql = path.startsWith("/graphql") || path === "/admin";
      expect(answer.status).toBe(isGraphql ? 200 : 403);
    }
  });
});

test("rules hide from a browser's key what /query would show", async () => {
  const wrote = await ask(
    "/mutate?commitNow=true",
    '{ set { _:a <Note.text> "hidden" .\n_:a <dgraph.type> "Note" . } }',
    admin,
    rdf,
  );
  const query = requests["/query"]!;
  expect(wrote.text).toContain("Success");
  expect((await query(admin)).text).toContain("hidden");
  const page = keys.get("graphql") ?? "";
  expect((await query(page)).text).not.toContain("hidden");
  expect((await requests["/graphql"]!(page)).json["data"]).toEqual({ queryNote: [] });
});

test("a subscription needs the scope graphql", async () => {
  const listen = async (key: string | undefined): Promise<string> => {
    const socket = await connect(url, "graphql-transport-ws", { headers: shown(key) });
    socket.send({ type: "connection_init" });
    expect(await socket.next()).toMatchObject({ type: "connection_ack" });
    socket.send({
      id: "1",
      type: "subscribe",
      payload: { query: "subscription { queryNote { text } }" },
    });
    const answer = JSON.stringify(await socket.next());
    socket.socket.close();
    return answer;
  };
  expect(await listen(keys.get("graphql"))).toContain('"next"');
  expect(await listen(keys.get("query"))).toContain("does not open this route");
});

test("scopes add up, are listed, and end", async () => {
  const flags = ["--scope", "query,mutate", "--namespace", "0", "--expires", "4s"];
  const made = await run("create", "--name", "a", ...flags);
  expect(made.stderr).toMatch(/^weft: scoped key \w{10} "a" expires at/);
  const key = made.stdout.trim();
  const listed = await run("list");
  expect(listed.stdout).toMatch(/scoped +query,mutate in 0 /);
  expect(listed.stdout).not.toContain(key.slice(-43));
  const { json } = await ask("/admin", { query: "{ listKeys { kind scopes namespace } }" }, admin);
  expect(json["data"]?.["listKeys"]).toContainEqual({
    kind: "SCOPED",
    scopes: ["QUERY", "MUTATE"],
    namespace: 0,
  });
  for (;;) {
    const answer = await requests["/query"]!(key);
    if (answer.status === 401) {
      expect(answer.text).toContain("has expired");
      return;
    }
  }
});

test("one line for a key that cannot be made", async () => {
  const refuse = async (...flags: string[]) =>
    (await run("create", "--name", "x", ...flags)).stderr;
  expect(await refuse("--scope", "all")).toMatch(/^weft: --scope: one of graphql, .*not "all"\n$/);
  expect(await refuse("--scope", "query", "--kind", "admin")).toContain("one or the other");
  expect(await refuse("--namespace", "one")).toContain("not the number of a namespace");
  const both = { query: 'mutation { createKey(input: { name: "x" }) { secret } }' };
  expect((await ask("/admin", both, admin)).text).toContain("or scopes of its own");
});

describe("a key of a namespace, where users log in", () => {
  let own = "";
  let elsewhere = 0;
  let bound = "";
  let tenant = "";

  const send = (path: string, body: string | object, headers: Record<string, string>) =>
    post(own + path, body, headers);
  const login = async (namespace: number, key: string): Promise<Told> =>
    send("/login", { userid: "groot", password: "password", namespace }, shown(key));
  const tokenOf = ({ json }: Told): string => String(json["data"]?.["accessJWT"]);

  beforeAll(async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
    const flags = [
      "--no-sample",
      "--workers",
      "1",
      "--acl",
      `secret-file=${join(folder, "secret")}`,
    ];
    own = (await startServer({ dataDir: join(folder, "data"), flags })).url;
    groot = tokenOf(await login(0, ""));
    const byGroot = { "x-dgraph-accesstoken": groot };
    const made = await send(
      "/admin",
      { query: 'mutation { addNamespace(input: { password: "password" }) { namespaceId } }' },
      byGroot,
    );
    elsewhere = Number(made.json["data"]?.["addNamespace"]?.["namespaceId"]);
    const key = await send(
      "/admin",
      {
        query: `mutation { createKey(input: { name: "n", kind: CLIENT, namespace: ${elsewhere} }) { secret } }`,
      },
      byGroot,
    );
    bound = String(key.json["data"]?.["createKey"]?.["secret"]);
    tenant = tokenOf(await login(elsewhere, bound));
  }, 60_000);

  test("is for that one alone", async () => {
    const text = "{ q(func: has(x)) { x } }";
    const query = (token: string) =>
      send("/query", text, { ...shown(bound), "x-dgraph-accesstoken": token });
    expect((await query(tenant)).json["data"]).toEqual({ q: [] });
    for (const token of [groot, "", "garbage"]) {
      const answer = await query(token);
      expect([answer.status, answer.text]).toEqual([
        403,
        expect.stringContaining(`This key is for namespace ${elsewhere} alone`),
      ]);
    }
  });

  test("logs nobody in elsewhere", async () => {
    const refused = await login(0, bound);
    expect(refused.text).toContain(`This key is for namespace ${elsewhere} alone`);
    expect(refused.text).not.toContain('JWT"');
    const first = await send("/login", { userid: "groot", password: "password" }, {});
    const refresh_token = String(first.json["data"]?.["refreshJWT"]);
    const renewed = await send("/login", { refresh_token }, shown(bound));
    expect(renewed.text).toContain(`This key is for namespace ${elsewhere} alone`);
  });
});
