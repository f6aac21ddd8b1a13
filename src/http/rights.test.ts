// Goal: every route, with every kind of credentials, lets in whom it should. What is expected is written down here by
// hand; a route that has no line here fails the walk.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, openWalkServer, type WalkServer } from "../../test/support/walk-server.ts";
import { type KeyRing, openKeyRing } from "../auth/key-ring.ts";
import { type OpenEngine, openEngine } from "../engine/open.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { handedOverFrom } from "./peer.ts";
import { routeRights } from "./rights.ts";
import { routes } from "./routes.ts";

/**
 * + let in · k the key is missing, wrong, revoked or expired · c a Client key is not enough · p a foreign page · a the
 * address · t the administration token.
 */
type Line = readonly [anonymous: string, keysOnly: string, token: string];

//                      nothing  far  page  name  wrong  revoked  expired  client  admin  admin far, on a page
// anonymous on
const data = "           +       +    +     p     k      k        k        +       +      +";
const login = "          +       +    +     +     k      k        k        +       +      +";
const writing = "        +       +    p     p     k      k        k        +       +      +";
const administration = " +       a    p     p     k      k        k        c       +      +";
const free = "           +       +    +     +     +      +        +        +       +      +";
// anonymous off
const dataByKey = "      k       k    k     k     k      k        k        +       +      +";
const administrationBy = "k      k    k     k     k      k        k        c       +      +";
//                      none  wrong  right  right, far  right, on a page  as a key  admin  admin and right
// with --security token=
const dataWithToken = "   +    +      +      +           +                 k         +      +";
const loginWithToken = "  t    t      +      +           +                 k         t      +";
const administrationBoth = "t  t      +      a           +                 k         t      +";
const freeWithToken = "   +    +      +      +           +                 +         +      +";

const forData: Line = [data, dataByKey, dataWithToken];
const forWriters: Line = [writing, dataByKey, dataWithToken];
const forAdministrators: Line = [administration, administrationBy, administrationBoth];
const forEveryone: Line = [free, free, freeWithToken];

const expected: Readonly<Record<string, Line>> = {
  "/": forEveryone,
  "/admin": forAdministrators,
  "/admin/config/cache_mb": forAdministrators,
  "/admin/draining": forAdministrators,
  "/admin/schema": forAdministrators,
  "/admin/schema/validate": forData,
  "/admin/shutdown": forAdministrators,
  "/alter": forAdministrators,
  "/assign": forAdministrators,
  "/changes": forAdministrators,
  "/commit": forWriters,
  "/graphql": forData,
  "/health": forEveryone,
  "/login": [login, dataByKey, loginWithToken],
  "/debug/prometheus_metrics": forAdministrators,
  "/metrics": forAdministrators,
  "/mutate": forWriters,
  "/mutate/": forWriters,
  "/probe/graphql": forEveryone,
  "/query": forData,
  "/query/": forData,
  "/state": forData,
  "/ui/console/:name": forEveryone,
  "/ui/keywords": forEveryone,
};

/** Not rows of the table, but judged all the same. */
const beside: Readonly<Record<string, Line>> = {
  "/graphql?explain=json": forAdministrators,
  "/graphql?profile=json": forAdministrators,
  "/nowhere": forEveryone,
};

const far = { [handedOverFrom]: "203.0.113.7" };
const page = { origin: "https://evil.example" };
const token = (text: string) => ({ "x-dgraph-authtoken": text });
const key = (text: string) => ({ "x-auth-token": text });

let engine: OpenEngine;
let keys: KeyRing;
let withoutToken: readonly Readonly<Record<string, string>>[];
let withToken: readonly Readonly<Record<string, string>>[];
const servers = new Map<string, WalkServer>();
let shutdowns = 0;

beforeAll(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
  let nowMs = 1_000_000;
  keys = openKeyRing({ rows: engine.systemRows, clock: { nowMs: () => nowMs, tickMs: () => 0 } });
  const make = async (kind: "admin" | "client", expiryMs = Infinity) =>
    await keys.create({ name: "walk", kind, expiryMs });
  const client = (await make("client")).text;
  const admin = (await make("admin")).text;
  const expired = (await make("admin", 1_000_001)).text;
  const revoked = await make("admin");
  await keys.revoke(revoked.key.id);
  nowMs = 1_000_002;
  const near = { [handedOverFrom]: "127.0.0.1" };
  withoutToken = [
    near,
    far,
    { ...near, ...page },
    { ...near, host: "evil.example" },
    { ...near, ...key("weft_admin_wrong") },
    { ...near, ...key(revoked.text) },
    { ...near, ...key(expired) },
    { ...near, ...key(client) },
    { ...near, ...key(admin) },
    { ...far, ...page, ...key(admin) },
  ];
  withToken = [
    near,
    { ...near, ...token("wrong") },
    { ...near, ...token("secret") },
    { ...far, ...token("secret") },
    { ...near, ...page, ...token("secret") },
    { ...near, ...key("secret") },
    { ...near, ...key(admin) },
    { ...near, ...key(admin), ...token("secret") },
  ];
  await open("on", true, undefined);
  await open("off", false, undefined);
  await open("token", true, "secret");
});

afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.close()));
  await engine.close();
});

async function open(name: string, anonymous: boolean, token: string | undefined): Promise<void> {
  const security = { anonymous, token };
  servers.set(
    name,
    await openWalkServer({ engine, keys, security, onShutdown: () => shutdowns++ }),
  );
}

async function ask(
  server: string,
  path: string,
  method: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = method === "POST" || method === "PUT" ? "{}" : undefined;
  // A feed that follows has no end.
  const asked = path === "/changes" ? `${path}?follow=false` : path;
  return servers.get(server)!.ask({ path: asked, method, headers, body });
}

const refusals: readonly (readonly [string, RegExp])[] = [
  ["k", /Anonymous access is off|X-Auth-Token is not valid|X-Auth-Token has expired/],
  ["c", /A Client key does not administer/],
  ["p", /foreign page/],
  ["a", /unauthorized ip address: 203\.0\.113\.7|not from a whitelisted IP and/],
  ["t", /Invalid X-Dgraph-AuthToken|No Auth Token found|Provided auth token \[/],
];

function outcomeOf({ text, status }: Answer): string {
  const refusal = refusals.find(([, words]) => words.test(text));
  if (refusal === undefined) return status === 401 || status === 403 ? "?" : "+";
  return refusal[0];
}

const lines = Object.entries({ ...expected, ...beside });

describe.each(lines)("%s", (path, [anonymous, keysOnly, both]) => {
  const cases: readonly (readonly [string, string, () => typeof withToken])[] = [
    ["on", anonymous, () => withoutToken],
    ["off", keysOnly, () => withoutToken],
    ["token", both, () => withToken],
  ];
  test.each(cases)("server %s", async (server, line, credentials) => {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const outcomes: string[] = [];
      for (const headers of credentials()) {
        outcomes.push(outcomeOf(await ask(server, path, method, headers)));
      }
      // /assign tells a missing token and a foreign address in the same words.
      const wanted = path === "/assign" ? line.replaceAll("t", "a") : line;
      expect(`${method} ${outcomes.join(" ")}`).toBe(
        `${method} ${wanted.split(/\s+/).join(" ").trim()}`,
      );
    }
  });

  test("a preflight tells nothing", async () => {
    if (anonymous === free) return;
    const answer = await ask("off", path, "OPTIONS", { [handedOverFrom]: "203.0.113.7" });
    expect(answer).toEqual({ status: 200, text: "" });
  });
});

test("every route has its line here and its row in the table, and no row is without its route", () => {
  expect(routeRights.map(({ path }) => path).sort()).toEqual(Object.keys(expected).sort());
  for (const { path, right } of routes) expect(right.path).toBe(path);
});

test("nothing that was refused has been done", () => {
  // GET /admin/shutdown by those who may: three where anonymous access is on, two where it is off, three with a token.
  expect(shutdowns).toBe(8);
});
