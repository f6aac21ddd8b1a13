// Goal: subscriptions where users log in and where keys are asked for: who they are is judged by what the connection
// says of them, in their namespace, and again for as long as it lasts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";
import { connect, newer, older, type Subscriber } from "./subscriber.ts";

let server: TestServer;
/** Anonymous access is off. */
let keyed: TestServer;
let groot: string;
let tenant: string;

const accessToken = (token: string) => ({ "X-Dgraph-AccessToken": token });
const text = { "content-type": "text/plain" };
const boats = (fields: string): object => ({
  query: `subscription { queryBoat(order: {asc: name}) { ${fields} } }`,
});

async function login(userid: string, password: string, namespace = 0): Promise<string> {
  const { json } = await post(`${server.url}/login`, { userid, password, namespace });
  return String(json["data"]?.["accessJWT"]);
}

async function graphql(query: string, token: string): Promise<void> {
  const { json } = await post(`${server.url}/graphql`, { query }, accessToken(token));
  expect(json["errors"]).toBeUndefined();
}

async function admin(query: string): Promise<Record<string, { namespaceId: number }>> {
  const { json } = await post(`${server.url}/admin`, { query }, accessToken(groot));
  expect(json["errors"]).toBeUndefined();
  return json["data"] as unknown as Record<string, { namespaceId: number }>;
}

const setRule = (predicate: string, permission: number): Promise<unknown> =>
  admin(
    `mutation { updateGroup(input: { filter: { name: { eq: "crew" } }, set: { rules: [{ predicate: "${predicate}", permission: ${permission} }] } }) { group { name } } }`,
  );
const setLog = (log: string): Promise<void> =>
  graphql(
    `mutation { updateBoat(input: { filter: { name: { eq: "Alba" } }, set: { log: "${log}" } }) { numUids } }`,
    groot,
  );

async function introduce(
  protocol: string,
  payload: object,
  headers: Record<string, string> = {},
): Promise<Subscriber> {
  const one = await connect(server.url, protocol, { headers });
  expect(await one.ask({ type: "connection_init", payload })).toEqual({ type: "connection_ack" });
  return one;
}

beforeAll(async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  const acl = `secret-file=${join(folder, "secret")}`;
  const flags = ["--limit", "keep-alive=1s"];
  [server, keyed] = await Promise.all([
    startServer({ dataDir: makeFolder(), flags: ["--workers", "2", "--acl", acl, ...flags] }),
    startServer({ dataDir: makeFolder(), flags: ["--workers", "1", ...flags] }),
  ]);
  groot = await login("groot", "password");
  const made = await admin(
    'mutation { addNamespace(input: { password: "password-of-one" }) { namespaceId } }',
  );
  tenant = await login("groot", "password-of-one", made["addNamespace"]?.namespaceId);
  const sdl = "type Boat @withSubscription { id: ID! name: String! @id log: String }";
  for (const [token, more] of [
    [groot, ""],
    [tenant, '\n# Dgraph.Allow-Origin "https://tenant.example"\n'],
  ] as const) {
    const headers = { ...text, ...accessToken(token) };
    const done = await post(`${server.url}/admin/schema`, sdl + more, headers);
    expect(done.json["data"]).toEqual({ code: "Success", message: "Done" });
  }
  await graphql('mutation { addBoat(input: [{ name: "Alba", log: "calm" }]) { numUids } }', groot);
  await graphql('mutation { addBoat(input: [{ name: "Elsewhere" }]) { numUids } }', tenant);
  const rules = ["Boat.name", "dgraph.type"].map((p) => `{ predicate: "${p}", permission: 4 }`);
  await admin(
    `mutation { addGroup(input: [{ name: "crew", rules: [${rules.join()}] }]) { group { name } } }`,
  );
  await admin(
    'mutation { addUser(input: [{ name: "ann", password: "ann-ann-ann", groups: [{ name: "crew" }] }]) { user { name } } }',
  );
}, 60_000);

afterAll(cleanUp);

describe.each([
  [older, "start", "data"],
  [newer, "subscribe", "next"],
])("%s", (protocol, start, data) => {
  const answer = (rows: object[]): object => ({
    id: "1",
    type: data,
    payload: { data: { queryBoat: rows } },
  });

  test("the token of connection_init says who it is and in which namespace; so does the upgrade's", async () => {
    await setLog("calm");
    const ann = await login("ann", "ann-ann-ann");
    const question = { id: "1", type: start, payload: boats("name log") };
    const byPayload = await introduce(protocol, accessToken(ann));
    expect(await byPayload.ask(question)).toEqual(answer([{ name: "Alba", log: null }]));
    const byUpgrade = await introduce(protocol, {}, accessToken(groot));
    expect(await byUpgrade.ask(question)).toEqual(answer([{ name: "Alba", log: "calm" }]));
    const elsewhere = await introduce(protocol, { "X-Service-AccessToken": tenant });
    expect(await elsewhere.ask(question)).toEqual(answer([{ name: "Elsewhere", log: null }]));
    const nobody = await introduce(protocol, {});
    expect(JSON.stringify(await nobody.ask(question))).toContain("no accessJwt available");
    for (const one of [byPayload, byUpgrade, elsewhere, nobody]) one.socket.close();
  });

  test("a rule that is taken away ends what it allowed before the next answer", async () => {
    await setLog("calm");
    await setRule("Boat.log", 4);
    const ann = await introduce(protocol, accessToken(await login("ann", "ann-ann-ann")));
    const question = { id: "1", type: start, payload: boats("log") };
    expect(await ann.ask(question)).toEqual(answer([{ log: "calm" }]));
    await setLog("storm");
    expect(await ann.next()).toEqual(answer([{ log: "storm" }]));
    await setRule("Boat.log", 0);
    await setLog("secret");
    expect(await ann.next()).toEqual({ id: "1", type: "complete" });
    expect(await ann.ask(question)).toEqual(answer([{ log: null }]));
    ann.socket.close();
  });

  test("the page is judged by the schema of the sender's namespace", async () => {
    const page = (origin: string) => ({ origin: `https://${origin}.example` });
    const question = { id: "1", type: start, payload: boats("name") };
    const invited = await introduce(protocol, accessToken(tenant), page("tenant"));
    expect(await invited.ask(question)).toEqual(answer([{ name: "Elsewhere" }]));
    const other = await introduce(protocol, accessToken(tenant), page("evil"));
    expect(JSON.stringify(await other.ask(question))).toContain("may not read answers");
    const headers = { ...accessToken(tenant), ...page("evil") };
    await expect(connect(server.url, protocol, { headers })).rejects.toThrow("403");
    for (const one of [invited, other]) one.socket.close();
  });
});

describe("pages over HTTP", () => {
  test("answers and preflights name the origins of the sender's namespace", async () => {
    const ask = async (method: string, token: string, origin: string): Promise<string | null> => {
      const headers = { ...accessToken(token), origin, "content-type": "application/json" };
      const body = method === "POST" ? JSON.stringify({ query: "{ queryBoat { name } }" }) : null;
      const response = await fetch(`${server.url}/graphql`, { method, headers, body });
      return response.headers.get("access-control-allow-origin");
    };
    for (const method of ["POST", "OPTIONS"]) {
      expect(await ask(method, groot, "https://evil.example")).toBe("*");
      expect(await ask(method, tenant, "https://tenant.example")).toBe("https://tenant.example");
      expect(await ask(method, tenant, "https://evil.example")).toBeNull();
    }
  });
});

test("a key that is revoked ends the streams and connections that were opened with it", async () => {
  const { url } = keyed;
  const ask = async (query: string): Promise<string> =>
    (await post(`${url}/admin`, { query })).text;
  const sdl = "type Boat @withSubscription { id: ID! name: String! @id log: String }";
  await post(`${url}/admin/schema`, sdl, text);
  const made = await ask(
    'mutation { createKey(input: { name: "x", kind: CLIENT }) { key { id } secret } }',
  );
  const { id, key } = /"id":"(?<id>\w+)".*"secret":"(?<key>[^"]+)"/.exec(made)?.groups ?? {};
  const byKey = { "x-auth-token": key ?? "" };
  const stream = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { ...byKey, accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify(boats("name")),
  });
  const socket = await connect(url, newer);
  await socket.ask({ type: "connection_init", payload: byKey });
  expect(await socket.ask({ id: "1", type: "subscribe", payload: boats("name") })).toMatchObject({
    type: "next",
  });
  expect(await ask(`mutation { revokeKey(input: { id: "${id}" }) { key { id } } }`)).not.toContain(
    "errors",
  );
  expect(await stream.text()).toMatch(/^event: next\n[^]*event: complete\ndata:\n\n$/);
  expect(await socket.next()).toMatchObject({ code: 4403 });
});
