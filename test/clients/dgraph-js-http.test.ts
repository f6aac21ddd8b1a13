// Goal: every public method of dgraph-js-http, as it comes from npm, against a server without and one with logins.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as dgraph from "dgraph-js-http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, startServer } from "../e2e/server.ts";

let url = "";
let guarded = "";

beforeAll(async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  const acl = ["--acl", `secret-file=${join(folder, "secret")}`];
  const start = async (name: string, flags: readonly string[]): Promise<string> => {
    const dataDir = join(folder, name);
    return (await startServer({ dataDir, flags: ["--workers", "1", ...flags] })).url;
  };
  [url, guarded] = await Promise.all([start("open", []), start("guarded", acl)]);
});
afterAll(cleanUp);

const schema =
  "name: string @index(exact) .\nage: int .\nfriend: [uid] .\ntype Person {\n name\n age\n}";
const byName = "query q($n: string) { q(func: eq(name, $n)) { name age } }";

function connect(): { client: dgraph.DgraphClient; stub: dgraph.DgraphClientStub } {
  const stub = new dgraph.DgraphClientStub(url);
  return { client: new dgraph.DgraphClient(stub), stub };
}

async function add(client: dgraph.DgraphClient, name: string, age: number): Promise<string> {
  const made = await client.newTxn().mutate({ setJson: { name, age }, commitNow: true });
  return Object.values(made.data.uids)[0] ?? "";
}

describe("the client", () => {
  beforeAll(async () => {
    const done = await connect().client.alter({ schema });
    expect(done.data).toEqual({ code: "Success", message: "Done" });
  });

  test("queries and mutates: JSON, N-Quads, variables, deletion", async () => {
    const { client } = connect();
    const uid = await add(client, "Ann", 41);
    expect(uid).toMatch(/^0x[0-9a-f]+$/);
    const ask = (): Promise<dgraph.Response> =>
      client.newTxn().queryWithVars(byName, { $n: "Ann" });
    expect((await ask()).data).toEqual({ q: [{ name: "Ann", age: 41 }] });
    await client.newTxn().mutate({ setNquads: `<${uid}> <age> "42" .`, commitNow: true });
    expect((await ask()).data).toEqual({ q: [{ name: "Ann", age: 42 }] });
    await client.newTxn().mutate({ deleteNquads: `<${uid}> <age> * .`, commitNow: true });
    expect((await ask()).data).toEqual({ q: [{ name: "Ann" }] });
    await client.newTxn().mutate({ deleteJson: { uid }, commitNow: true });
    const { data, extensions } = await client
      .newTxn()
      .query('{ q(func: eq(name, "Ann")) { name } }');
    expect(data).toEqual({ q: [{ name: "Ann" }] });
    expect(extensions.server_latency).toBeDefined();
    expect(extensions.txn.start_ts).toBeGreaterThan(0);
    await client.newTxn().mutate({ deleteNquads: `<${uid}> <name> * .`, commitNow: true });
  });

  test("a mutation as a text, of its own or with a query before it", async () => {
    const { client } = connect();
    await client.newTxn().mutate({ mutation: '{ set { _:a <name> "Bea" . } }', commitNow: true });
    const upsert = 'upsert { query { v as var(func: eq(name, "Bea")) } mutation { set { uid(v) <age> "7" . } } }'; // prettier-ignore
    await client.newTxn().mutate({ mutation: upsert, commitNow: true });
    const { data } = await client.newTxn().queryWithVars(byName, { $n: "Bea" });
    expect(data).toEqual({ q: [{ name: "Bea", age: 7 }] });
  });

  test("transactions see their own writes, commit, are discarded, and conflict", async () => {
    const { client } = connect();
    const uid = await add(client, "Cid", 1);
    const first = client.newTxn();
    const second = client.newTxn();
    await first.mutate({ setJson: { uid, age: 2 } });
    expect((await first.queryWithVars(byName, { $n: "Cid" })).data).toEqual({ q: [{ name: "Cid", age: 2 }] }); // prettier-ignore
    await second.mutate({ setJson: { uid, age: 3 } });
    await first.commit();
    await expect(second.commit()).rejects.toBe(dgraph.ERR_ABORTED);
    const third = client.newTxn();
    await third.mutate({ setJson: { uid, age: 4 } });
    await third.discard();
    await expect(third.commit()).rejects.toBe(dgraph.ERR_FINISHED);
    const read = client.newTxn({ readOnly: true, bestEffort: true });
    expect((await read.queryWithVars(byName, { $n: "Cid" })).data).toEqual({ q: [{ name: "Cid", age: 2 }] }); // prettier-ignore
    await expect(read.mutate({ setJson: { name: "x" } })).rejects.toBe(dgraph.ERR_ABORTED);
  });

  test("alters: drops an attribute, all; tells errors", async () => {
    const { client } = connect();
    await add(client, "Dan", 5);
    await client.alter({ dropAttr: "age" });
    expect((await client.newTxn().queryWithVars(byName, { $n: "Dan" })).data).toEqual({ q: [{ name: "Dan" }] }); // prettier-ignore
    await expect(client.alter({ schema: "name: nonsense ." })).rejects.toMatchObject({
      errors: [{ message: "line 1 column 6: Undefined Type" }],
    });
    client.setDebugMode(false);
    await expect(client.newTxn().query("{ q(func:")).rejects.toBeInstanceOf(dgraph.APIError);
    await client.alter({ dropAll: true });
    expect((await client.newTxn().query("{ q(func: has(name)) { name } }")).data).toEqual({
      q: [],
    });
    await client.alter({ schema });
  });

  test("fetches the keywords of editors, health and state", async () => {
    const { client, stub } = connect();
    const { keywords } = await client.fetchUiKeywords();
    expect(keywords.map(({ name }) => name)).toContain("anyofterms");
    const health: unknown = await client.getHealth(true);
    expect(health).toMatchObject([{ instance: "zero" }, { instance: "alpha", status: "healthy" }]);
    expect(await stub.getHealth()).toMatchObject([{ status: "healthy" }]);
    const state: object = await client.getState();
    expect(Object.keys(state)).toContain("groups");
    expect(await stub.detectApiVersion()).toMatch(/^v?\d+\.\d+/);
    expect(client.anyClient()).toBe(stub);
  });

  test("a time for queries, and numbers as the caller's parser reads them", async () => {
    const exact = (text: string): unknown => JSON.parse(text.replaceAll(/:(\d{16,})/g, ':"$1"'));
    const stub = new dgraph.DgraphClientStub(url, { jsonParser: exact });
    const client = new dgraph.DgraphClient(stub).setQueryTimeout(5);
    expect(client.getQueryTimeout()).toBe(5);
    const setNquads = '_:a <name> "Eve" .\n_:a <age> "9007199254740993" .';
    await client.newTxn().mutate({ setNquads, commitNow: true });
    const { data } = await client.newTxn().queryWithVars(byName, { $n: "Eve" });
    expect(data).toEqual({ q: [{ name: "Eve", age: "9007199254740993" }] });
  });

  test("the stub by itself: query, mutation, commit, abort", async () => {
    const { stub } = connect();
    const write = async (name: string): Promise<dgraph.TxnContext> => {
      const told = await stub.mutate({ setJson: { name }, startTs: 0 });
      const { start_ts, keys = [], preds = [] } = told.extensions.txn;
      return { start_ts, keys, preds, aborted: false, readOnly: false, bestEffort: false };
    };
    await stub.commit(await write("Fay"));
    await stub.abort(await write("Gil"));
    const ask = async (name: string): Promise<unknown> =>
      (await stub.query({ query: byName, vars: { $n: name }, startTs: 0 })).data;
    expect([await ask("Fay"), await ask("Gil")]).toEqual([{ q: [{ name: "Fay" }] }, { q: [] }]);
  });
});

describe("logins", () => {
  const open = (): dgraph.DgraphClient =>
    new dgraph.DgraphClient(new dgraph.DgraphClientStub(guarded));

  test("in, with a refreshed token, and out", async () => {
    const client = open();
    await expect(client.login("groot", "wrong")).rejects.toMatchObject({ errors: [{}] });
    expect(await client.login("groot", "password")).toBe(true);
    await client.alter({ schema });
    await client.newTxn().mutate({ setJson: { name: "Hal" }, commitNow: true });
    const stub = client.anyClient();
    const { refreshToken } = stub.getAuthTokens();
    expect(refreshToken).toMatch(/^ey/);
    stub.setAutoRefresh(true);
    expect(await stub.login(undefined, undefined, refreshToken)).toBe(true);
    const ask = (): Promise<dgraph.Response> =>
      client.newTxn().queryWithVars(byName, { $n: "Hal" });
    expect((await ask()).data).toEqual({ q: [{ name: "Hal" }] });
    stub.setAutoRefresh(false);
    client.logout();
    expect(stub.getAuthTokens()).toEqual({});
    await expect(ask()).rejects.toMatchObject({
      errors: [{ message: expect.stringContaining("no accessJwt") as string }],
    });
  });
});
