// Goal: where users log in, every route and every field of /admin, with every kind of access token, lets in whom it
// should. What is expected is written down here by hand; a route without a line fails the walk, and so does a field.
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWalkServer, type WalkServer } from "../../test/support/walk-server.ts";
import { adminSdl } from "../admin/admin-sdl.ts";
import { fieldRights } from "../admin/rights.ts";
import { AccessTokens } from "../auth/access-token.ts";
import { openAcl } from "../auth/acl.ts";
import { openKeyRing } from "../auth/key-ring.ts";
import { systemClock } from "../base/clock.ts";
import { type OpenEngine, openEngine } from "../engine/open.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { handedOverFrom } from "./peer.ts";
import { routeRights } from "./rights.ts";

/** Method, parameters, type and body of the request that walks a route. */
type Walk = readonly [line: string, method: string, search?: string, type?: string, body?: string];

/** + let in · l not known · g known, but not one who may. */
//                   nothing garbage foreign expired refresh user guardian-elsewhere guardian-of-0
const everyone = "   +       +       +       +       +       +    +                  +";
const users = "      l       l       l       l       l       +    +                  +";
const guardians = "  l       l       l       l       l       g    +                  +";
const superadmin = " l       l       l       l       l       g    g                  +";

const dql = "application/dql";
const query = JSON.stringify({ query: "{ queryWalk { id } }" });
const walks: Readonly<Record<string, Walk>> = {
  "/": [everyone, "GET"],
  "/admin": [guardians, "POST", "", "application/graphql", "{ getGQLSchema { schema } }"],
  "/admin/config/cache_mb": [superadmin, "GET"],
  "/admin/draining": [superadmin, "POST", "?enable=false"],
  "/admin/schema": [guardians, "POST", "", "text/plain", "type Walk { id: ID! name: String }"],
  "/admin/schema/validate": [
    everyone,
    "POST",
    "",
    "text/plain",
    "type Walk { id: ID! name: String }",
  ],
  "/admin/shutdown": [superadmin, "POST"],
  "/alter": [guardians, "POST", "", dql, "walk: string ."],
  "/assign": [guardians, "POST", "?what=uids&num=1"],
  "/changes": [guardians, "GET", "?follow=false"],
  "/commit": [users, "POST", "?startTs=4096&hash=x", "application/json", "{}"],
  "/graphql": [users, "POST", "", "application/json", query],
  "/health": [everyone, "GET"],
  "/login": [everyone, "POST", "", "application/json", "{}"],
  "/debug/prometheus_metrics": [everyone, "GET"],
  "/metrics": [everyone, "GET"],
  "/mutate": [
    guardians,
    "POST",
    "?commitNow=true",
    "application/rdf",
    '{ set { _:a <walk> "x" . } }',
  ],
  "/mutate/": [
    guardians,
    "POST",
    "?commitNow=true",
    "application/rdf",
    '{ set { _:a <walk> "x" . } }',
  ],
  "/probe/graphql": [everyone, "GET"],
  "/query": [users, "POST", "", dql, "{ q(func: has(walk)) { walk } }"],
  "/query/": [users, "POST", "", dql, "{ q(func: has(walk)) { walk } }"],
  "/state": [guardians, "GET"],
  "/ui/console/:name": [everyone, "GET"],
  "/ui/keywords": [everyone, "GET"],
};

/** Not rows of the table, but judged all the same. */
const beside: Readonly<Record<string, Walk>> = {
  "/health?all": [guardians, "GET"],
  "/graphql?explain=json": [guardians, "POST", "", "application/json", query],
  "/graphql?profile=json": [guardians, "POST", "", "application/json", query],
  "/query?explain=json": [users, "POST", "", dql, "{ q(func: has(walk)) { walk } }"],
};

const secret = new TextEncoder().encode("a secret that is long enough for this walk");
const tokenOptions = {
  secrets: [secret],
  algorithm: "HS256",
  accessTtlMs: 3_600_000,
  refreshTtlMs: 3_600_000,
  clock: systemClock,
} as const;

let engine: OpenEngine;
let server: WalkServer;
let credentials: readonly (readonly [string, Readonly<Record<string, string>>])[];
let shutdowns = 0;
const near = { [handedOverFrom]: "127.0.0.1" };

beforeAll(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }), acl: true });
  const keys = openKeyRing({ rows: engine.systemRows, clock: systemClock });
  const acl = await openAcl({
    ...tokenOptions,
    engine,
    password: undefined,
    isExposed: false,
    passwords: { charactersMin: 0 },
    logins: { attempts: 10, lockMs: 60_000 },
  });
  const elsewhere = await acl.createNamespace("password");
  server = await openWalkServer({
    engine,
    keys,
    acl,
    security: { anonymous: true, token: undefined },
    onShutdown: () => shutdowns++,
  });
  const tokens = new AccessTokens(tokenOptions);
  const foreign = new AccessTokens({ ...tokenOptions, secrets: [secret.slice(1)] });
  const early = new AccessTokens({
    ...tokenOptions,
    clock: { nowMs: () => systemClock.nowMs() - 7_200_000, tickMs: () => 0 },
  });
  const sign = (maker: AccessTokens, namespace = 0, groups = ["guardians"]) =>
    maker.issue({ name: "groot", namespace, groups, stamp: "" });
  const groot = await sign(tokens);
  const shown = (text: string) => ({ ...near, "x-dgraph-accesstoken": text });
  credentials = [
    ["nothing", near],
    ["garbage", shown("garbage")],
    ["foreign", shown((await sign(foreign)).accessJWT)],
    ["expired", shown((await sign(early)).accessJWT)],
    ["refresh", shown(groot.refreshJWT)],
    ["user", shown((await sign(tokens, 0, ["staff"])).accessJWT)],
    ["guardian elsewhere", shown((await sign(tokens, elsewhere)).accessJWT)],
    ["guardian of 0", shown(groot.accessJWT)],
  ];
  for (const [, headers] of credentials.slice(-2)) {
    const body = "type Walk { id: ID! name: String }";
    const set = await server.ask({ path: "/admin/schema", method: "POST", headers, body });
    expect(set.text).toContain("Success");
    await server.ask({ path: "/alter", method: "POST", headers, body: "walk: string ." });
  }
});

afterAll(async () => {
  await server.close();
  await engine.close();
});

const refusals: readonly (readonly [string, RegExp])[] = [
  ["l", /no accessJwt available|unable to parse jwt token/],
  ["g", /is not a member of guardians group|Only superadmin|unauthorized to (?:alter|mutate)/],
];

const outcomeOf = (text: string): string =>
  refusals.find(([, words]) => words.test(text))?.[0] ?? "+";

const lines = Object.entries({ ...walks, ...beside });

test.each(lines)("%s", async (path, [line, method, search = "", type = "", body]) => {
  const outcomes: string[] = [];
  for (const [, own] of credentials) {
    const headers = type === "" ? own : { ...own, "content-type": type };
    const { text } = await server.ask({ path: path + search, method, headers, body });
    outcomes.push(outcomeOf(text));
  }
  expect(outcomes.join(" ")).toBe(line.trim().split(/\s+/).join(" "));
});

test("every route has its line, and nothing that was refused has been done", () => {
  expect(routeRights.map(({ path }) => path).sort()).toEqual(Object.keys(walks).sort());
  expect(shutdowns).toBe(1);
});

describe("fields of /admin", () => {
  const schema = buildSchema(adminSdl);
  const types = [schema.getQueryType(), schema.getMutationType()];
  const fields = types.flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map(
      (field) => [`${type?.name}.${field.name}`, field] as const,
    ),
  );

  /** The least that the field takes. */
  function writeDocument(place: string, field: GraphQLField<unknown, unknown>): string {
    const needed = field.args.filter(({ type }) => isNonNullType(type));
    const args = needed.map(({ name, type }) => `${name}: ${writeValue(type)}`).join(", ");
    const word = place.startsWith("Query") ? "query" : "mutation";
    return `${word} { ${field.name}${args === "" ? "" : `(${args})`} ${writeSelection(field)} }`;
  }

  function writeValue(type: GraphQLInputType): string {
    if (isNonNullType(type)) return writeValue(type.ofType);
    if (isListType(type)) return `[${writeValue(type.ofType)}]`;
    if (isEnumType(type)) return type.getValues()[0]?.name ?? "";
    if (isInputObjectType(type)) {
      const members = Object.values(type.getFields()).filter((one) => isNonNullType(one.type));
      return `{ ${members.map((one) => `${one.name}: ${writeValue(one.type)}`).join(", ")} }`;
    }
    if (type.name === "Boolean") return "true";
    if (type.name === "DateTime") return '"2999-01-01"';
    return type.name === "Int" || type.name.startsWith("UInt") ? "1" : '"abcdefgh"';
  }

  function writeSelection(field: GraphQLField<unknown, unknown>, depth = 0): string {
    const type = getNamedType(field.type);
    if (!isObjectType(type)) return "";
    const inner = Object.values(type.getFields());
    const leaf = inner.find((one) => !isObjectType(getNamedType(one.type)));
    if (leaf !== undefined) return `{ ${leaf.name} }`;
    const [first] = inner;
    return first === undefined || depth > 4
      ? ""
      : `{ ${first.name} ${writeSelection(first, depth + 1)} }`;
  }

  /** Who is refused; the others are not asked: their turn is in the tests of the fields. */
  const refusedOf = (right: string): readonly string[] => {
    const strangers = ["nothing", "garbage", "foreign", "expired", "refresh"];
    if (right === "anyone") return [];
    if (right === "user") return strangers;
    const known = [...strangers, "user"];
    return right === "guardian" ? known : [...known, "guardian elsewhere"];
  };

  test.each(fields)("%s refuses whom it should", async (place, field) => {
    const body = writeDocument(place, field);
    const refused = refusedOf(fieldRights[place] ?? "anyone");
    for (const [name, own] of credentials) {
      if (!refused.includes(name)) continue;
      const headers = { ...own, "content-type": "application/graphql" };
      const { text } = await server.ask({ path: "/admin", method: "POST", headers, body });
      expect([name, text]).toEqual([name, expect.stringContaining("errors")]);
      expect([name, outcomeOf(text)]).not.toEqual([name, "+"]);
    }
    expect(shutdowns).toBe(1);
  });
});
