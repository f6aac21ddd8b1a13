// Goal: who sends too much is told to wait, and nobody else is.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseRates } from "../../src/cli/rate-config.ts";
import { cleanUp, get, makeFolder, post, startServer, type Told } from "./server.ts";
import { connect } from "./subscriber.ts";

let byAddress = "";
let byKey = "";

beforeAll(async () => {
  const one = ["--no-sample", "--workers", "1", "--rate"];
  const [first, second] = await Promise.all([
    startServer({ dataDir: makeFolder(), flags: [...one, "address=5/m; burst=60s"] }),
    startServer({ dataDir: makeFolder(), flags: [...one, "key=5/m; burst=60s"] }),
  ]);
  byAddress = first.url;
  byKey = second.url;
}, 60_000);
afterAll(cleanUp);

const ask = (url: string, headers: Record<string, string> = {}): Promise<Told> =>
  post(`${url}/query`, "{ q(func: has(name)) { name } }", headers);

test("an address", async () => {
  for (let i = 0; i < 5; i++) expect((await ask(byAddress)).status).toBe(200);
  const claims = { "x-forwarded-for": "10.0.0.9", "x-weft-remote-address": "10.0.0.9" };
  for (const headers of [{}, claims]) {
    const refused = await ask(byAddress, headers);
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("(--rate)")]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(12);
  }
  for (const path of ["/graphql", "/admin", "/login", "/state", "/alter"]) {
    expect([path, (await post(byAddress + path, {})).status]).toEqual([path, 429]);
  }
  // Balancers ask for it all the time.
  for (let i = 0; i < 10; i++) expect((await get(`${byAddress}/health`)).status).toBe(200);
  const socket = await connect(byAddress, "graphql-transport-ws");
  await socket.ask({ type: "connection_init" });
  const payload = { query: "subscription { __typename }" };
  const answer = await socket.ask({ id: "1", type: "subscribe", payload });
  expect(JSON.stringify(answer)).toContain("(--rate)");
  socket.socket.close();
});

test("a key", async () => {
  const keys: string[] = [];
  for (const name of ["one", "other"]) {
    const query = `mutation { createKey(input: { name: "${name}", scopes: [QUERY] }) { secret } }`;
    const made = await post(`${byKey}/admin`, { query });
    keys.push(String(made.json["data"]?.["createKey"]?.["secret"]));
  }
  const [one = "", other = ""] = keys;
  for (let i = 0; i < 5; i++) expect((await ask(byKey, { "x-auth-token": one })).status).toBe(200);
  expect((await ask(byKey, { "x-auth-token": one })).status).toBe(429);
  expect((await ask(byKey, { "x-auth-token": other })).status).toBe(200);
  for (let i = 0; i < 10; i++) expect((await ask(byKey)).status).toBe(200);
});

test.each([
  ["address=fast", /"fast" is not a rate/],
  ["address=0/s", /is not a rate/],
  ["burst=2s", /name a rate/],
  ["key=1/s; burst=no", /not a number of seconds/],
  ["keys=1/s", /unknown key "keys"/],
])("--rate %j", (text, words) => expect(() => parseRates(text)).toThrow(words));
