// Goal: namespaces are made, bounded, counted, emptied and deleted by the guardian of the galaxy, and there is no way from
// one into another, whatever a guardian of one tries.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as dgraph from "dgraph-js";
import { credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  get,
  type Json,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  type TestServer,
  type Told,
  waitUntil,
} from "./server.ts";
import { connect, newer } from "./subscriber.ts";

let server: TestServer;
let stub: dgraph.DgraphClientStub;
let galaxy: string;

const script = `self.addGraphQLResolvers({
  "Query.spy": async ({ args, dql }) => JSON.stringify((await dql.query(args.text)).data),
  "Query.plant": async ({ args, dql }) => JSON.stringify(await dql.mutate(args.text)),
});`;
const sdl = `type Secret @withSubscription { id: ID! name: String! @id text: String }
type Query { spy(text: String!): String @lambda plant(text: String!): String @lambda }`;

interface Tenant {
  readonly id: number;
  readonly token: string;
  readonly password: string;
}
let victim: Tenant;
let thief: Tenant;
/** Of the victim's node. */
let uid: string;

const as = (token: string): Record<string, string> => ({ "X-Dgraph-AccessToken": token });

async function login(namespace: number, password: string): Promise<Json> {
  const { json } = await post(`${server.url}/login`, { userid: "groot", password, namespace });
  return json["data"] ?? json;
}

const graphql = (query: string, token: string, headers = {}): Promise<Told> =>
  post(`${server.url}/graphql`, { query }, { ...as(token), ...headers });
const dql = (query: string, token: string, parameters = ""): Promise<Told> =>
  post(`${server.url}/query${parameters}`, query, as(token));
const mutate = (facts: string, token: string, parameters = "?commitNow=true"): Promise<Told> =>
  post(`${server.url}/mutate${parameters}`, facts, { ...rdf, ...as(token) });

/** The first message where it fails. */
async function admin(query: string, token = galaxy): Promise<Json> {
  const { json } = await post(`${server.url}/admin`, { query }, as(token));
  return json["errors"]?.[0] ?? json["data"] ?? json;
}

async function addTenant(password: string): Promise<Tenant> {
  const made = await admin(
    `mutation { addNamespace(input: { password: "${password}" }) { namespaceId } }`,
  );
  const id = Number(made["addNamespace"]?.["namespaceId"]);
  const token = String((await login(id, password))["accessJWT"]);
  const headers = { "content-type": "text/plain", ...as(token) };
  expect((await post(`${server.url}/admin/schema`, sdl, headers)).text).toContain("Success");
  return { id, token, password };
}

async function readVictim(): Promise<unknown> {
  return (await graphql("{ querySecret { name text } }", victim.token)).json["data"];
}
const untouched = { querySecret: [{ name: "plan", text: "dig" }] };

beforeAll(async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  writeFileSync(join(folder, "spy.js"), script);
  const target = `127.0.0.1:${await findFreePort()}`;
  const acl = `secret-file=${join(folder, "secret")}`;
  const lambda = join(folder, "spy.js");
  server = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "2", "--grpc", target, "--acl", acl, "--lambda", lambda],
  });
  stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
  galaxy = String((await login(0, "password"))["accessJWT"]);
  victim = await addTenant("password-of-victim");
  thief = await addTenant("password-of-thief");
  const added = await graphql(
    'mutation { addSecret(input: [{ name: "plan", text: "dig" }]) { secret { id } } }',
    victim.token,
  );
  uid = String(added.json["data"]?.["addSecret"]?.["secret"]?.[0]?.["id"]);
  expect(uid).toMatch(/^0x/);
}, 60_000);
afterAll(async () => {
  stub.close();
  await cleanUp();
});

describe("there is no way across", () => {
  test("reading: by uid, by has, by @id, by reverse, by the schema's prefix", async () => {
    for (const query of [
      `{ q(func: uid(${uid})) { Secret.text expand(_all_) dgraph.type } }`,
      "{ q(func: has(Secret.text)) { uid } }",
      `{ q(func: has(<${victim.id}-Secret.text>)) { uid } }`,
      '{ q(func: eq(Secret.name, "plan")) { uid } }',
      `query { q(func: uid(${uid})) @recurse(depth: 3) { Secret.text } }`,
    ]) {
      expect((await dql(query, thief.token)).json["data"]).toEqual({ q: [] });
    }
    const one = `{ getSecret(id: "${uid}") { text } querySecret { text } other: getSecret(name: "plan") { text } }`;
    expect((await graphql(one, thief.token)).json["data"]).toEqual({
      getSecret: null,
      querySecret: [],
      other: null,
    });
  });

  test("writing: on a guessed uid, with a namespace's label, by id, by an upsert", async () => {
    for (const facts of [
      `{ set { <${uid}> <Secret.text> "stolen" . } }`,
      `{ set { <${uid}> <Secret.text> "stolen" <0x${victim.id.toString(16)}> . } }`,
      `{ delete { <${uid}> * * . } }`,
      `upsert { query { v as var(func: uid(${uid})) } mutation { delete { uid(v) <Secret.text> * . } } }`,
    ]) {
      await mutate(facts, thief.token);
      expect(await readVictim()).toEqual(untouched);
    }
    const changed = await graphql(
      `mutation { updateSecret(input: { filter: { id: ["${uid}"] }, set: { text: "x" } }) { numUids } deleteSecret(filter: { id: ["${uid}"] }) { numUids } }`,
      thief.token,
    );
    expect(JSON.stringify(changed.json)).not.toContain('"dig"');
    expect(await readVictim()).toEqual(untouched);
    // What the thief has written stands in the thief's own namespace.
    await mutate(`{ delete { <${uid}> * * . <${uid}> <Secret.text> * . } }`, thief.token);
  });

  test("altering: drops, a schema with another's prefix, a GraphQL schema", async () => {
    const alter = (body: object | string): Promise<Told> =>
      post(`${server.url}/alter`, body, { "content-type": "text/plain", ...as(thief.token) });
    const dropAll = await alter('{"drop_all": true}');
    expect(dropAll.json["errors"]?.[0]?.["message"]).toContain(
      "Drop all can only be called by the guardian of the galaxy",
    );
    await alter(`[0x${victim.id.toString(16)}] Secret.text: int @index(int) .`);
    await alter('{"drop_attr": "Secret.text"}');
    await alter('{"drop_op": "DATA"}');
    expect(await readVictim()).toEqual(untouched);
    const { json } = await dql("schema(pred: [Secret.text]) { type index }", victim.token);
    expect(json["data"]?.["schema"]).toEqual([{ predicate: "Secret.text", type: "string" }]);
    const again = { "content-type": "text/plain", ...as(thief.token) };
    expect((await post(`${server.url}/admin/schema`, sdl, again)).text).toContain("Success");
  });

  test("transactions: another's start time is of no use, with its hash or without", async () => {
    const begun = await mutate(`{ set { <${uid}> <Secret.text> "dug" . } }`, victim.token, "");
    const {
      start_ts: startTs,
      hash,
      keys,
      preds,
    } = (begun.json["extensions"]?.["txn"] ?? {}) as never as {
      start_ts: number;
      hash: string;
      keys: string[];
      preds: string[];
    };
    for (const tried of [`&hash=${hash}`, ""]) {
      const refusals = [
        await dql(
          `{ q(func: uid(${uid})) { Secret.text } }`,
          thief.token,
          `?startTs=${startTs}${tried}`,
        ),
        await mutate(
          '{ set { _:a <x> "y" . } }',
          thief.token,
          `?startTs=${startTs}&commitNow=true${tried}`,
        ),
        await post(
          `${server.url}/commit?startTs=${startTs}${tried}`,
          { keys, preds },
          as(thief.token),
        ),
        await post(
          `${server.url}/commit?startTs=${startTs}&abort=true${tried}`,
          {},
          as(thief.token),
        ),
      ];
      for (const { json } of refusals) {
        expect(json["errors"]?.[0]?.["message"]).toContain(
          "hash mismatch the claimed startTs|namespace",
        );
      }
    }
    const own = await post(
      `${server.url}/commit?startTs=${startTs}&hash=${hash}`,
      { keys, preds },
      as(victim.token),
    );
    expect(own.json["data"]).toMatchObject({ code: "Success" });
    await mutate(`{ set { <${uid}> <Secret.text> "dig" . } }`, victim.token);
  });

  test("subscriptions and resolvers see the namespace of their caller alone", async () => {
    const spy = await connect(server.url, newer);
    expect(await spy.ask({ type: "connection_init", payload: as(thief.token) })).toEqual({
      type: "connection_ack",
    });
    const question = { query: "subscription { querySecret { name text } }" };
    const first = await spy.ask({ id: "1", type: "subscribe", payload: question });
    expect(first).toMatchObject({ payload: { data: { querySecret: [] } } });
    await mutate(`{ set { <${uid}> <Secret.text> "dig" . } }`, victim.token);
    const add = 'mutation { addSecret(input: [{ name: "mine" }]) { numUids } }';
    expect((await graphql(add, thief.token)).json["errors"]).toBeUndefined();
    expect(await spy.next()).toMatchObject({
      payload: { data: { querySecret: [{ name: "mine" }] } },
    });
    spy.socket.close();
    const text = JSON.stringify(`{ q(func: has(Secret.name)) { Secret.name Secret.text } }`);
    const seen = await graphql(`{ spy(text: ${text}) }`, thief.token);
    expect(seen.json["data"]).toEqual({ spy: '{"q":[{"Secret.name":"mine"}]}' });
    const facts = JSON.stringify(`<${uid}> <Secret.text> "planted" .`);
    await graphql(`{ plant(text: ${facts}) }`, thief.token);
    expect(await readVictim()).toEqual(untouched);
    await mutate(`{ delete { <${uid}> <Secret.text> * . } }`, thief.token);
  });

  test("administration: nothing of the galaxy, nothing of another, and an export is of its own", async () => {
    const denied = /Only superadmin is allowed|PermissionDenied|only guardians of namespace 0/;
    for (const query of [
      'mutation { addNamespace(input: { password: "password-x" }) { namespaceId } }',
      `mutation { deleteNamespace(input: { namespaceId: ${victim.id} }) { namespaceId } }`,
      `mutation { dropNamespaceData(input: { namespaceId: ${victim.id} }) { namespaceId } }`,
      `mutation { setNamespaceQuota(input: { namespaceId: ${thief.id}, facts: 5 }) { namespace { id } } }`,
      `mutation { resetPassword(input: { userId: "groot", password: "password-y", namespace: ${victim.id} }) { userId } }`,
      `mutation { revokeTokens(input: { userId: "groot", namespace: ${victim.id} }) { userId } }`,
      'mutation { createKey(input: { name: "k", kind: ADMIN }) { secret } }',
      `mutation { restoreTenant(input: { restoreInput: { location: "/tmp" }, fromNamespace: ${victim.id} }) { code } }`,
      "{ namespaces { id } }",
      "{ runningRequests { id } }",
      "{ listKeys { id } }",
    ]) {
      expect((await admin(query, thief.token))["message"]).toMatch(denied);
    }
    const state = await admin(
      "{ state { groups { tablets { predicate } } namespaces } health { indexing } }",
      thief.token,
    );
    // More than a mutation could take are the galaxy's alone.
    const lease = (num: number): Promise<Told> =>
      post(`${server.url}/assign?what=uids&num=${num}`, "", as(thief.token));
    expect((await lease(10)).json["startId"]).toBeDefined();
    expect((await lease(1_000_001)).text).toContain("Only superadmin is allowed");
    expect(JSON.stringify(state)).not.toContain(`${victim.id}-Secret`);
    const own = await admin(
      "{ currentNamespace(count: true) { id usage { facts } } }",
      thief.token,
    );
    expect(own["currentNamespace"]?.["id"]).toBe(thief.id);
    const wish = (namespace: number): string =>
      `mutation { export(input: { namespace: ${namespace}, destination: "spy" }) { taskId } }`;
    const begun = await admin(wish(victim.id), thief.token);
    const task = String(begun["export"]?.["taskId"]);
    const status = async (token: string): Promise<unknown> =>
      (await admin(`{ task(input: { id: "${task}" }) { status } }`, token))["task"]?.["status"];
    await waitUntil(async () => (await status(thief.token)) === "Success", 20_000);
    expect(await status(victim.token)).toBeUndefined();
    const folder = join(server.dataDir, "export", "spy");
    const [made = ""] = readdirSync(folder);
    const facts = gunzipSync(readFileSync(join(folder, made, "g01.rdf.gz"))).toString();
    expect(facts).toContain(`<0x${thief.id.toString(16)}>`);
    expect(facts).not.toContain(`<0x${victim.id.toString(16)}>`);
    expect(facts).not.toContain("dig");
  });

  test("credentials: passwords, tokens and keys open their own namespace", async () => {
    expect(JSON.stringify(await login(victim.id, thief.password))).toContain(
      "invalid username or password",
    );
    const [head = "", body = "", signature = ""] = thief.token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, namespace: victim.id })).toString(
      "base64url",
    );
    const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    for (const token of [`${head}.${forged}.${signature}`, `${unsigned}.${forged}.`]) {
      const { json } = await dql(`{ q(func: uid(${uid})) { Secret.text } }`, token);
      expect(json["errors"]?.[0]?.["message"]).toContain("Unauthenticated");
      expect((await graphql("{ querySecret { text } }", token)).text).not.toContain("dig");
    }
    const made = await admin(
      `mutation { createKey(input: { name: "victim", kind: CLIENT, namespace: ${victim.id} }) { secret } }`,
    );
    const key = { "X-Auth-Token": String(made["createKey"]?.["secret"]) };
    expect(
      (await graphql("{ querySecret { name } }", victim.token, key)).json["errors"],
    ).toBeUndefined();
    const replayed = await graphql("{ querySecret { name } }", thief.token, key);
    expect(replayed.text).toContain(`This key is for namespace ${victim.id} alone`);
  });

  test("gRPC: the same engine door", async () => {
    // Its data was dropped above: the first user is made again with the first password.
    await stub.loginIntoNamespace("groot", "password", thief.id);
    const client = new dgraph.DgraphClient(stub);
    const answer = await client.newTxn().query(`{ q(func: uid(${uid})) { Secret.text } }`);
    expect(answer.getJson()).toEqual({ q: [] });
    const begun = await mutate(`{ set { <${uid}> <Secret.text> "dug" . } }`, victim.token, "");
    const { start_ts: startTs, hash } = (begun.json["extensions"]?.["txn"] ?? {}) as never as {
      start_ts: number;
      hash: string;
    };
    const context = new dgraph.TxnContext();
    context.setStartTs(startTs);
    context.setHash(hash);
    await expect(stub.commitOrAbort(context, tokenMetadata(thief.token))).rejects.toThrow(
      "hash mismatch",
    );
    const { json } = await post(
      `${server.url}/commit?startTs=${startTs}&hash=${hash}&abort=true`,
      {},
      as(victim.token),
    );
    expect(json["errors"]).toBeUndefined();
    expect(await readVictim()).toEqual(untouched);
  });
});

function tokenMetadata(token: string): never {
  const metadata = new Metadata();
  metadata.set("accessJwt", token);
  return metadata as never;
}

const set = (id: number, quota: string): Promise<Json> =>
  admin(
    `mutation { setNamespaceQuota(input: { namespaceId: ${id}, ${quota} }) { namespace { id quota { facts bytes requests } } } }`,
  );

describe.concurrent("quotas", () => {
  const usage = async (
    id: number,
    how = "",
  ): Promise<{ facts: number; bytes: number } | undefined> => {
    const { namespaces } = (await admin(
      `{ namespaces${how} { id usage { facts bytes countedAt } } }`,
    )) as never as {
      namespaces: { id: number; usage: { facts: number; bytes: number } | null }[];
    };
    return namespaces.find((one) => one.id === id)?.usage ?? undefined;
  };
  const facts = (count: number): string =>
    `{ set { ${Array.from({ length: count }, (_, i) => `_:n${i} <note> "${"x".repeat(100)}" .`).join("\n")} } }`;
  const message = ({ json }: Told): unknown => json["errors"]?.[0]?.["message"];

  /** Each process learns of it by itself. */
  const refusesAll = async (body: string, token: string): Promise<boolean> =>
    (await Promise.all(Array.from({ length: 8 }, () => mutate(body, token)))).every(
      (told) => message(told) !== undefined,
    );

  test("loads and imports go into the namespace of their login, and end at a quota", async () => {
    const { id, token, password } = await addTenant("password-of-import");
    const folder = makeFolder();
    const mapping = join(folder, "secrets.yaml");
    writeFileSync(mapping, "type: Secret\ncolumns: { name: name, text: text }");
    const files = join(folder, "secrets.csv");
    const rows = Array.from({ length: 40 }, (_, i) => `s${i},t`);
    writeFileSync(files, ["name,text", ...rows, ""].join("\n"));
    const env = { WEFT_CREDS: `user=groot; password=${password}; namespace=${id}` };
    const args = ["import", "--to", server.url, "--mapping", mapping, "--files", files];
    const take = (...more: string[]): ReturnType<typeof runWeft> =>
      runWeft([...args, ...more], env);
    expect((await take("--batch", "15")).stdout).toContain("40 nodes made");
    const triples = join(folder, "more.rdf");
    writeFileSync(triples, '_:a <note> "loaded" .');
    const live = await runWeft(["live", "--to", server.url, "--files", triples], env);
    expect([live.code, live.stderr]).toEqual([0, ""]);
    expect((await dql("{ q(func: has(note)) { note } }", token)).json["data"]).toEqual({
      q: [{ note: "loaded" }],
    });
    await set(id, "facts: 50");
    await waitUntil(() => refusesAll(facts(1), token), 10_000);
    const before = await usage(id, "(count: true)");
    writeFileSync(files, [...rows.map((row) => `x${row}`), ""].join("\n"), { flag: "a" });
    const ended = await take("--on-error", "skip");
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining(`namespace ${id} has a quota of 50 facts`),
    ]);
    expect(await usage(id, "(count: true)")).toMatchObject({ facts: before?.facts });
  });

  test("facts: counted exactly, refused by name, deletions pass, and room opens again", async () => {
    const { id, token } = await addTenant("password-of-small");
    await post(
      `${server.url}/alter`,
      "name: string @lang .\nlist: [string] .\nto: [uid] @reverse .\nnote: string .",
      as(token),
    );
    const before = await usage(id, "(count: true)");
    await mutate(facts(40), token);
    await mutate(
      '{ set { <0x11> <list> "a" .\n<0x11> <name> "n"@en .\n<0x11> <name> "m"@de .\n<0x11> <to> <0x12> . } }',
      token,
    );
    const after = await usage(id, "(count: true)");
    expect((after?.facts ?? 0) - (before?.facts ?? 0)).toBe(44);
    const quota = (after?.facts ?? 0) + 10;
    expect(await set(id, `facts: ${quota}`)).toEqual({
      setNamespaceQuota: {
        namespace: { id, quota: { facts: quota, bytes: null, requests: null } },
      },
    });
    await waitUntil(async () => (await usage(id))?.facts === after?.facts, 10_000);
    // Every process refuses, in DQL and in GraphQL.
    await waitUntil(() => refusesAll(facts(11), token), 10_000);
    expect(message(await mutate(facts(11), token))).toBe(
      `namespace ${id} has a quota of ${quota} facts: it holds ${after?.facts}, and this request sets 11 (setNamespaceQuota facts)`,
    );
    const many = Array.from({ length: 9 }, (_, i) => `{ name: "s${i}" }`).join();
    const refused = await graphql(`mutation { addSecret(input: [${many}]) { numUids } }`, token);
    expect(refused.text).toContain(`namespace ${id} has a quota of ${quota} facts`);
    const deleted = await mutate(
      "upsert { query { v as var(func: has(note)) } mutation { delete { uid(v) <note> * . } } }",
      token,
    );
    expect(deleted.json["data"]).toMatchObject({ code: "Success" });
    await waitUntil(async () => message(await mutate(facts(11), token)) === undefined, 10_000);
  });

  test("bytes", async () => {
    const { id, token } = await addTenant("password-of-heavy");
    const { bytes = 0 } = (await usage(id, "(count: true)")) ?? {};
    await set(id, `bytes: ${bytes + 10_000}`);
    await waitUntil(async () => (await usage(id)) !== undefined, 10_000);
    expect(message(await mutate(facts(200), token))).toBeUndefined();
    await waitUntil(() => refusesAll(facts(1), token), 10_000);
    expect(message(await mutate(facts(1), token))).toMatch(
      new RegExp(
        `^namespace ${id} has a quota of ${bytes + 10_000} bytes: it holds \\d+ \\(setNamespaceQuota bytes\\)$`,
      ),
    );
    // Reading goes on, and so does everybody else.
    expect(
      (await dql("{ q(func: has(note), first: 1) { uid } }", token)).json["errors"],
    ).toBeUndefined();
    expect(message(await mutate(facts(1), thief.token))).toBeUndefined();
    await set(id, "bytes: null");
    await waitUntil(async () => message(await mutate(facts(1), token)) === undefined, 10_000);
    expect(await usage(id)).toBeUndefined();
  });

  test("requests: 429 with Retry-After, over HTTP and gRPC, for one namespace alone; it can be raised at once", async () => {
    const { id, token, password } = await addTenant("password-of-busy");
    await set(id, "requests: 0.5");
    const many = async (): Promise<Told[]> =>
      Promise.all(Array.from({ length: 12 }, () => dql("{ q(func: uid(1)) { uid } }", token)));
    let told: Told[] = [];
    await waitUntil(async () => {
      told = (await many()).filter(({ status }) => status === 429);
      return told.length > 5;
    }, 10_000);
    expect(message(told[0]!)).toBe(
      `namespace ${id} has a quota of 0.5 requests: it has sent more in a second (setNamespaceQuota requests)`,
    );
    expect(Number(told[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    await stub.loginIntoNamespace("groot", password, id);
    const client = new dgraph.DgraphClient(stub);
    const ask = (): Promise<unknown> => client.newTxn().query("{ q(func: uid(1)) { uid } }");
    await waitUntil(async () => {
      const outcomes = await Promise.allSettled([ask(), ask(), ask()]);
      return outcomes.some(
        (one) =>
          one.status === "rejected" && String(one.reason).includes("a quota of 0.5 requests"),
      );
    }, 10_000);
    expect((await dql("{ q(func: uid(1)) { uid } }", thief.token)).status).toBe(200);
    await set(id, "requests: 1000");
    await waitUntil(async () => (await many()).every(({ status }) => status === 200), 10_000);
  });
});

describe("the end of a namespace", () => {
  test("what cannot be is refused, and the metrics know namespaces", async () => {
    expect((await set(victim.id, "facts: -1"))["message"]).toContain("-1");
    expect((await set(victim.id, "requests: 0"))["message"]).toContain(
      "setNamespaceQuota requests: 0 is not a number",
    );
    expect((await set(9999, "facts: 1"))["message"]).toContain("there is no namespace 9999");
    const { text } = await get(`${server.url}/metrics`);
    expect(text).toMatch(
      new RegExp(`weft_namespace_requests_total\\{namespace="${thief.id}"\\} [1-9]`),
    );
    expect(text).toMatch(/weft_namespace_quota\{namespace="\d+",quota="requests"\} 1000/);
    expect(text).toMatch(/weft_namespace_facts\{namespace="\d+"\} \d+/);
    expect(text).toMatch(/weft_requests_refused_total\{limit="setNamespaceQuota facts"\} [1-9]/);
  });

  test("its data dropped: the first user is there again, the others keep theirs", async () => {
    const dropped = await admin(
      `mutation { dropNamespaceData(input: { namespaceId: ${thief.id} }) { namespaceId } }`,
    );
    expect(dropped).toEqual({ dropNamespaceData: { namespaceId: thief.id } });
    expect(
      (
        await dql(
          "{ q(func: has(Secret.name)) { uid } }",
          String((await login(thief.id, "password"))["accessJWT"]),
        )
      ).json["data"],
    ).toEqual({ q: [] });
    expect(await readVictim()).toEqual(untouched);
  });

  test("deleted: its tokens open nothing, its number does not come back", async () => {
    const { id, token } = victim;
    await admin(`mutation { deleteNamespace(input: { namespaceId: ${id} }) { namespaceId } }`);
    const { text } = await dql(`{ q(func: uid(${uid})) { Secret.text } }`, token);
    expect(text).not.toContain("dig");
    expect((await mutate('{ set { _:a <x> "y" . } }', token)).json["errors"]).toBeDefined();
    expect((await graphql("{ querySecret { text } }", token)).text).not.toContain("dig");
    expect(JSON.stringify(await login(id, victim.password))).toContain(
      "invalid username or password",
    );
    expect((await addTenant("password-of-later")).id).toBeGreaterThan(id);
  });
});
