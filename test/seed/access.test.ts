// Goal: a walk through the headers of reference/graphql 4.1.2 that say who asks, and through reference/graphql 9, 11
// and reference/messages 2.2, over HTTP; each test is named for its row. One server asks for keys, the other for
// logins.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, runWeft } from "../e2e/server.ts";
import { connectNewer, connectOlder } from "../e2e/subscriber.ts";
import { tokenOf } from "../support/tokens.ts";
import { authHeader, openSeedContext, type Answer, type SeedContext } from "./seed-context.ts";

/** Anonymous access is off. */
let keyed: SeedContext;
/** ACL is on. */
let guarded: SeedContext;
let admin: Record<string, string>;
let client: Record<string, string>;
/** A guardian; a user who reads writers; one without any rule. */
let groot: Record<string, string>;
let ann: Record<string, string>;
let bob: Record<string, string>;

const key = (text: string) => ({ "X-Auth-Token": text.trim() });
const jwt = (user: string) => ({ [authHeader]: tokenOf({ USER: user }) });

async function login(
  url: string,
  userid: string,
  password: string,
): Promise<Record<string, string>> {
  const { json } = await post(`${url}/login`, { userid, password });
  return { "X-Service-AccessToken": String(json["data"]?.["accessJWT"]) };
}

async function makeKey(name: string, kind: string, where: readonly string[]): Promise<string> {
  const args = ["key", "create", "--name", name, "--kind", kind, ...where];
  return (await runWeft(args)).stdout;
}

async function administer(query: string): Promise<void> {
  const told = await guarded.send("/admin", { query }, groot);
  expect(told.json["errors"]).toBeUndefined();
}

const ask = (query: string, headers: Record<string, string> = {}): Promise<Answer> =>
  guarded.ask(query, { headers });
const messages = ({ errors }: Answer): string => (errors ?? []).map((one) => one.message).join();

const writers = "{ queryWriter(order: {asc: login}) { login name } }";
const both = [
  { login: "ann", name: "Ann Lee" },
  { login: "bo", name: "Bo Sand" },
];

beforeAll(async () => {
  const dataDir = makeFolder();
  const first = await makeKey("me", "admin", ["--data", dataDir]);
  admin = key(first);
  const secret = join(makeFolder(), "secret");
  writeFileSync(secret, "a secret that is long enough for this test");
  [keyed, guarded] = await Promise.all([
    openSeedContext(["--anonymous", "off"], { dataDir, headers: () => Promise.resolve(admin) }),
    openSeedContext(["--acl", `secret-file=${secret}`], {
      headers: async (url) => (groot = await login(url, "groot", "password")),
    }),
  ]);
  const where = ["--to", keyed.server.url, "--key", first.trim()];
  client = key(await makeKey("shop", "client", where));
  const add = `mutation {
    addWriter(input: [{ login: "ann", name: "Ann Lee" }, { login: "bo", name: "Bo Sand" }]) { numUids }
    addNote(input: [{ by: "ann", text: "mine" }]) { numUids }
  }`;
  expect(await ask(add, { ...groot, ...jwt("ann") })).toEqual({
    data: { addWriter: { numUids: 2 }, addNote: { numUids: 1 } },
  });
  const rules = ["Writer.login", "Writer.name", "dgraph.type"].map(
    (predicate) => `{ predicate: "${predicate}", permission: 4 }`,
  );
  await administer(
    `mutation { addGroup(input: [{ name: "readers", rules: [${rules.join()}] }]) { group { name } } }`,
  );
  await administer(`mutation { addUser(input: [
    { name: "ann", password: "ann-ann-ann", groups: [{ name: "readers" }] }
    { name: "bob", password: "bob-bob-bob" } ]) { user { name } } }`);
  ann = await login(guarded.server.url, "ann", "ann-ann-ann");
  bob = await login(guarded.server.url, "bob", "bob-bob-bob");
}, 90_000);
afterAll(cleanUp);

describe("reference/graphql 4.1.2 headers", () => {
  test("reference/graphql 4.1.2 X-Service-AccessToken: when ACL is enabled, the login's token, needed to reach guarded predicates", async () => {
    expect(messages(await ask(writers))).toContain("no accessJwt available");
    expect(await ask(writers, ann)).toEqual({ data: { queryWriter: both } });
    expect(await ask(writers, bob)).toEqual({ data: { queryWriter: [] } });
    const email = await ask("{ queryWriter { email } queryManual { title } }", ann);
    expect(email).toEqual({
      data: { queryWriter: [{ email: null }, { email: null }], queryManual: [] },
    });
    const token = ann["X-Service-AccessToken"] ?? "";
    expect(messages(await ask(writers, { "X-Service-AccessToken": `${token}x` }))).toContain(
      "unable to parse jwt token",
    );
  });

  test("reference/graphql 4.1.2 X-Auth-Token: when anonymous access is disabled, an Admin Key or a Client key", async () => {
    expect(messages(await keyed.ask(writers))).toContain("X-Auth-Token");
    expect(messages(await keyed.ask(writers, { headers: key("none") }))).toContain("not valid");
    for (const headers of [admin, client]) {
      expect(await keyed.ask(writers, { headers })).toEqual({ data: { queryWriter: [] } });
    }
  });
});

describe("reference/graphql 11 authentication", () => {
  test("reference/graphql 11 Anonymous access: when disabled, requests carry an Admin Key or a Client key", async () => {
    const requests = [
      ["/query", "{ q(func: has(Writer.name)) { uid } }", {}],
      ["/mutate?commitNow=true", '{ set { _:a <shelf> "1" . } }', rdf],
      ["/commit?startTs=1", "{}", { "content-type": "application/json" }],
    ] as const;
    for (const [path, body, type] of requests) {
      expect([path, (await keyed.send(path, body, type)).status]).toEqual([path, 401]);
      for (const shown of [admin, client]) {
        expect((await keyed.send(path, body, { ...type, ...shown })).status).not.toBe(401);
      }
    }
    expect((await keyed.send("/alter", "shelf: string .")).status).toBe(401);
    expect((await keyed.send("/alter", "shelf: string .", client)).status).toBe(403);
    const altered = await keyed.send("/alter", "shelf: string @index(exact) .", admin);
    expect(altered.json["errors"]).toBeUndefined();
  });

  test("reference/graphql 11 ACL: when enabled, requests carry the token from the login response", async () => {
    const query =
      "{ q(func: has(Writer.name), orderasc: Writer.login) { Writer.name Writer.login } }";
    const names = both.map(({ login: id, name }) => ({ "Writer.name": name, "Writer.login": id }));
    expect((await guarded.send("/query", query)).text).toContain("no accessJwt available");
    expect((await guarded.send("/query", query, ann)).json["data"]).toEqual({ q: names });
    expect((await guarded.send("/query", query, bob)).json["data"]).toEqual({});
    const facts = '{ set { <0x7> <Writer.name> "x" . } }';
    const written = await guarded.send("/mutate?commitNow=true", facts, { ...rdf, ...ann });
    expect(written.text).toContain("unauthorized to mutate following predicates: Writer.name");
    const altered = await guarded.send("/alter", "Writer.name: string .", ann);
    expect(altered.text).toContain("unauthorized to alter");
    expect(await ask(writers, groot)).toEqual({ data: { queryWriter: both } });
  });

  test("reference/graphql 11 JWT for @auth: in the header that the setting names, beside the key or the login", async () => {
    const notes = "{ queryNote { text } }";
    expect(await ask(notes, { ...groot, ...jwt("ann") })).toEqual({
      data: { queryNote: [{ text: "mine" }] },
    });
    expect(await ask(notes, { ...groot, ...jwt("bo") })).toEqual({ data: { queryNote: [] } });
    expect(await ask(notes, groot)).toEqual({ data: { queryNote: [] } });
    expect(messages(await ask(notes, jwt("ann")))).toContain("no accessJwt available");
    expect(messages(await keyed.ask(notes, { headers: jwt("ann") }))).toContain("X-Auth-Token");
    const headers = { ...client, ...jwt("ann") };
    const add = 'mutation { addNote(input: [{ by: "ann", text: "mine" }]) { numUids } }';
    expect(await keyed.ask(add, { headers })).toEqual({ data: { addNote: { numUids: 1 } } });
    expect(await keyed.ask(notes, { headers })).toEqual({
      data: { queryNote: [{ text: "mine" }] },
    });
  });

  test("reference/graphql 11 Lambda calls: graphql and dql run with the caller's rights", async () => {
    const notes = "{ notesFor }";
    expect(await ask(notes, { ...groot, ...jwt("ann") })).toEqual({ data: { notesFor: ["mine"] } });
    // By the login's rules, whatever the application's token says.
    expect(await ask(notes, { ...ann, ...jwt("ann") })).toEqual({ data: { notesFor: [] } });
    expect(JSON.stringify(await ask(notes, jwt("ann")))).not.toContain("mine");
    const named = '{ writersNamed(name: "Ann Lee") { login name } }';
    expect(await ask(named, ann)).toEqual({ data: { writersNamed: [both[0]] } });
    expect(await ask("{ queryWriter(order: {asc: login}) { initials } }", ann)).toEqual({
      data: { queryWriter: [{ initials: "AL" }, { initials: "BS" }] },
    });
    for (const headers of [bob, {}]) {
      expect(JSON.stringify(await ask(named, headers))).not.toContain("Ann");
    }
    const rename = 'mutation { rename(login: "ann", name: "Ann Other") { name } }';
    for (const headers of [ann, bob, {}]) await ask(rename, headers);
    expect(await ask(writers, groot)).toEqual({ data: { queryWriter: both } });
    expect(await keyed.ask("{ notesFor }", { headers: { ...client, ...jwt("ann") } })).toEqual({
      data: { notesFor: ["mine"] },
    });
  });

  test("reference/graphql 11 Lambda calls: a third argument overrides the header, authHeader exposes it", async () => {
    const as = `{ notesAs(token: "${tokenOf({ USER: "bo" })}") }`;
    expect(await ask(as, { ...groot, ...jwt("ann") })).toEqual({ data: { notesAs: [] } });
    const other = `{ notesAs(token: "${tokenOf({ USER: "ann" })}") }`;
    expect(await ask(other, { ...groot, ...jwt("bo") })).toEqual({ data: { notesAs: ["mine"] } });
    const headers = { ...groot, ...jwt("ann") };
    const { event } = (await ask("{ event }", headers)).data as { event: string };
    expect((JSON.parse(event) as { authHeader: unknown }).authHeader).toEqual({
      key: authHeader,
      value: tokenOf({ USER: "ann" }),
    });
  });
});

describe("reference/graphql 9 events", () => {
  const subscription = { query: 'subscription { getWriter(login: "bo") { name } }' };
  const rename = (name: string) =>
    ask(
      `mutation { updateWriter(input: { filter: { login: { eq: "bo" } }, set: { name: "${name}" } }) { numUids } }`,
      groot,
    );
  const told = (name: string) => ({ data: { getWriter: { name } } });

  test("reference/graphql 9 subscription operations are allowed: over WebSocket", async () => {
    const older = await connectOlder(guarded.server.url, ann);
    const newer = await connectNewer(guarded.server.url, ann);
    const first = { id: "1", type: "data", payload: told("Bo Sand") };
    expect(await older.ask({ id: "1", type: "start", payload: subscription })).toEqual(first);
    const next = { id: "1", type: "next", payload: told("Bo Sand") };
    expect(await newer.ask({ id: "1", type: "subscribe", payload: subscription })).toEqual(next);
    await rename("Bo Stone");
    expect(await older.next()).toEqual({ ...first, payload: told("Bo Stone") });
    expect(await newer.next()).toEqual({ ...next, payload: told("Bo Stone") });
    for (const one of [older, newer]) one.socket.close();
    await rename("Bo Sand");
  });

  test("reference/graphql 9 subscription operations are allowed: as an event stream", async () => {
    const gone = new AbortController();
    const response = await fetch(`${guarded.server.url}/graphql`, {
      method: "POST",
      headers: { ...ann, accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify(subscription),
      signal: gone.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readTo = async (word: string): Promise<void> => {
      while (!text.includes(word)) text += (await reader.read()).value ?? "";
    };
    await readTo("Bo Sand");
    await rename("Bo Shore");
    await readTo("Bo Shore");
    expect(text).toMatch(/^event: next\ndata: \{"data":\{"getWriter":\{"name":"Bo Sand"\}\}/);
    gone.abort();
    await rename("Bo Sand");
  });
});

describe("errors", () => {
  test("reference/messages 2.2: a response may carry errors: objects, each with a string message", async () => {
    const queries = [
      "{",
      "{ nothing }",
      "{ queryWriter(first: true) { name } }",
      '{ getWriter(id: "x") { name } }',
    ];
    for (const query of queries) {
      const { errors } = await ask(query, groot);
      expect([query, errors?.length]).not.toEqual([query, 0]);
      for (const error of errors ?? []) expect(typeof error.message).toBe("string");
    }
    const native = (await guarded.send("/query", "{ broken", groot)).json as unknown as Answer;
    expect(native.errors?.map(({ message }) => typeof message)).toEqual(["string"]);
  });

  test("reference/graphql 4.1.3 rule 9: when a mutation fails, later ones do not run and earlier ones stay applied", async () => {
    const add = (title: string): string => `addManual(input: [{ title: "${title}" }]) { numUids }`;
    const fails = 'addWriter(input: [{ login: "ann" }]) { numUids }';
    const answer = await ask(`mutation { a: ${add("one")} ${fails} b: ${add("two")} }`, groot);
    expect(answer.data).toMatchObject({ a: { numUids: 1 }, addWriter: null });
    expect(messages(answer)).toContain("was not executed because of a previous error");
    expect(await ask("{ queryManual { title } }", groot)).toEqual({
      data: { queryManual: [{ title: "one" }] },
    });
  });
});
