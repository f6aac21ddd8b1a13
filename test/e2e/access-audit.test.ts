// Goal: it can be read afterwards who did what, from where and with what outcome; and no secret stands there.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, rdf, startServer, waitUntil } from "./server.ts";
import { connect } from "./subscriber.ts";

type Line = Readonly<Record<string, unknown>>;

let url = "";
let file = "";
let groot = "";

beforeAll(async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  file = join(folder, "audit.log");
  const acl = `secret-file=${join(folder, "secret")}`;
  const flags = ["--no-sample", "--workers", "2", "--acl", acl, "--audit", file];
  url = (await startServer({ dataDir: join(folder, "data"), flags })).url;
  const login = await post(`${url}/login`, { userid: "groot", password: "password" });
  groot = String(login.json["data"]?.["accessJWT"]);
}, 60_000);
afterAll(cleanUp);

const lines = (): Line[] =>
  (existsSync(file) ? readFileSync(file, "utf8") : "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** The record of an answer, by the name that the answer gives its request. */
async function recordOf({ headers }: { readonly headers: Headers }): Promise<Line> {
  const id = headers.get("x-request-id");
  let found: Line | undefined;
  await waitUntil(() => (found = lines().find((line) => line["id"] === id)) !== undefined, 5000);
  return found!;
}

const by = (token: string) => ({ "x-dgraph-accesstoken": token });

test("records have ids of their own, whatever id the sender gives", async () => {
  const headers = { "x-request-id": "the same twice", "x-dgraph-accesstoken": "none" };
  const ids = { ...headers, "x-request-id": "same" };
  for (let i = 0; i < 2; i++) await post(`${url}/login`, { userid: "nobody", password: "x" }, ids);
  const named = (): Record<string, unknown>[] =>
    lines().filter((line) => line["request"] === "same");
  await waitUntil(() => named().length === 2, 5000);
  expect(new Set(named().map((line) => line["id"])).size).toBe(2);
});

test("administration, alters, logins and writes are recorded with who did them", async () => {
  const ask = (path: string, body: string | object, headers = {}) =>
    post(url + path, body, { ...by(groot), ...headers });
  const who = { user: "groot", namespace: 0, address: "127.0.0.1" };
  const sdl = "type Note { id: ID! text: String! }";
  expect(await recordOf(await ask("/admin/schema", sdl))).toMatchObject({
    ...who,
    kind: "admin",
    route: "/admin/schema",
    method: "POST",
    outcome: "ok",
    status: 200,
  });
  expect(await recordOf(await ask("/alter", "name: string ."))).toMatchObject({
    ...who,
    kind: "alter",
    alter: { kind: "schema" },
  });
  expect(await recordOf(await ask("/alter", { drop_attr: "other" }))).toMatchObject({
    alter: { kind: "dropPredicate", name: "other" },
  });
  const facts = '{ set { _:a <name> "a value that stays here" . } }';
  expect(await recordOf(await ask("/mutate?commitNow=true", facts, rdf))).toMatchObject({
    ...who,
    kind: "mutation",
    route: "/mutate",
    outcome: "ok",
  });
  expect(await recordOf(await ask("/mutate?commitNow=true", "{ set {", rdf))).toMatchObject({
    kind: "mutation",
    outcome: "error",
  });
  const query =
    'mutation Say { mine: addNote(input: { text: "a value that stays here" }) { numUids } }';
  expect(await recordOf(await ask("/graphql", { query }))).toMatchObject({
    ...who,
    kind: "mutation",
    operation: { operation: "mutation", name: "Say", fields: ["addNote"] },
    outcome: "ok",
  });
  const key = 'mutation { createKey(input: { name: "shop", kind: CLIENT }) { key { id } secret } }';
  const made = await ask("/admin", { query: key });
  const { id, secret } =
    /"id":"(?<id>\w+)".*"secret":"(?<secret>[^"]+)"/.exec(made.text)?.groups ?? {};
  expect(await recordOf(made)).toMatchObject({
    kind: "admin",
    operation: { fields: ["createKey"] },
  });
  const keyed = await ask("/mutate?commitNow=true", facts, {
    ...rdf,
    "x-auth-token": secret ?? "",
  });
  expect(await recordOf(keyed)).toMatchObject({ key: { id, name: "shop" }, user: "groot" });
  const refused = await ask("/alter", "x: string .", { "x-auth-token": secret ?? "" });
  expect(await recordOf(refused)).toMatchObject({
    key: { id },
    outcome: "refused",
    refusal: "clientKey",
    status: 403,
  });
  const wrong = await ask("/query", "{ q(func: has(name)) { name } }", { "x-auth-token": "wrong" });
  expect(await recordOf(wrong)).toMatchObject({ kind: "query", refusal: "wrongKey", status: 401 });
  const failed = await post(`${url}/login`, { userid: "ann", password: "a password of ann's" });
  expect(await recordOf(failed)).toMatchObject({
    kind: "login",
    login: { user: "ann", namespace: 0 },
    outcome: "error",
  });
  const text = readFileSync(file, "utf8");
  for (const word of [secret, groot, "a value that stays here", "password", sdl]) {
    expect(text).not.toContain(word);
  }
});

test("queries are not, unless they are asked for; WebSockets' mutations are", async () => {
  const answer = await post(`${url}/query`, "{ q(func: has(name)) { name } }", by(groot));
  const id = answer.headers.get("x-request-id");
  expect(id).toMatch(/^\w+-\w+-\w+$/);
  const socket = await connect(url, "graphql-transport-ws", { headers: by(groot) });
  await socket.ask({ type: "connection_init" });
  const query = 'mutation Later { addNote(input: { text: "x" }) { numUids } }';
  await socket.ask({ id: "1", type: "subscribe", payload: { query } });
  socket.socket.close();
  const isThere = (line: Line): boolean =>
    line["method"] === "WebSocket" && JSON.stringify(line).includes('"Later"');
  await waitUntil(() => lines().some(isThere), 5000);
  expect(lines().find((line) => line["id"] === id)).toBeUndefined();
});

test("where records are required, what cannot be recorded is refused, and /health says so", async () => {
  const folder = makeFolder();
  const place = join(folder, "log");
  mkdirSync(place);
  const audit = `file=${join(place, "audit.log")}; queries=on; on-failure=refuse`;
  const server = await startServer({
    dataDir: join(folder, "data"),
    flags: ["--no-sample", "--workers", "1", "--audit", audit],
  });
  const read = () => post(`${server.url}/query`, "{ q(func: has(name)) { name } }");
  const write = () => post(`${server.url}/mutate?commitNow=true`, '{ set { _:a <x> "y" . } }', rdf);
  expect((await read()).status).toBe(200);
  rmSync(place, { recursive: true });
  await write();
  await waitUntil(async () => (await get(`${server.url}/health`)).status === 503, 5000);
  for (const answer of [await read(), await write()]) {
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("Audit records")]);
  }
  mkdirSync(place);
  await waitUntil(async () => (await write()).status === 200, 5000);
  expect((await get(`${server.url}/health`)).status).toBe(200);
  const kept = readFileSync(join(place, "audit.log"), "utf8");
  expect(kept).toContain('"kind":"lost"');
  expect(kept).toContain('"refusal":"unrecorded"');
});
