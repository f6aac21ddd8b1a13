// Goal: every field of /admin, for every kind of visitor, is open to whom it should be and does nothing for others.
// Expectations are written down here by hand; a field of the schema without a line fails the walk.
import { buildSchema } from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeyRing } from "../auth/key-ring.ts";
import { systemClock } from "../base/clock.ts";
import { type OpenEngine, openEngine } from "../engine/open.ts";
import { openGraphqlService } from "../graphql/service/open-service.ts";
import { anyPrincipal, makeStranger, type Principal } from "../model/principal.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { adminSdl } from "./admin-sdl.ts";
import { type Controls, initialSwitches } from "./controls.ts";
import { findFieldRefusal, fieldRights } from "./rights.ts";
import { openMigrations } from "./migrations.ts";
import { type AdminService, openAdminService } from "./service.ts";

const member = (parts: Partial<Principal>): Principal => ({
  ...anyPrincipal,
  user: "mia",
  ...parts,
});

/** The columns of the lines below: ACL off, then ACL on with what was shown. */
const principals: readonly (readonly [string, boolean, Principal])[] = [
  ["ACL off", false, anyPrincipal],
  ["no login", true, makeStranger("no accessJwt available")],
  [
    "expired",
    true,
    makeStranger("unable to parse jwt token: token has invalid claims: Token is expired"),
  ],
  [
    "signed by another",
    true,
    makeStranger("unable to parse jwt token: token signature is invalid: signature is invalid"),
  ],
  ["user", true, member({ isGuardian: false })],
  ["guardian elsewhere", true, member({ namespace: 5 })],
  ["guardian of 0", true, member({})],
];

/** + open · - refused */
const anyone = "     + + + + + + +";
const guardians = "  + - - - - + +";
const superadmins = "+ - - - - - +";
const withAclOnly = "- - - - - - +";

const expected: Readonly<Record<string, string>> = {
  // The fields of users look at the principal themselves: a user sees what is theirs, a stranger nothing.
  "Mutation.addGroup": anyone,
  "Mutation.addNamespace": withAclOnly,
  "Mutation.addUser": anyone,
  "Mutation.assign": superadmins,
  "Mutation.backup": superadmins,
  "Mutation.compact": superadmins,
  "Mutation.config": superadmins,
  "Mutation.createKey": superadmins,
  "Mutation.deleteGroup": anyone,
  "Mutation.deleteNamespace": withAclOnly,
  "Mutation.deleteUser": anyone,
  "Mutation.dropNamespaceData": withAclOnly,
  "Mutation.setNamespaceQuota": withAclOnly,
  "Query.currentNamespace": guardians,
  "Query.namespaces": withAclOnly,
  "Mutation.draining": superadmins,
  "Mutation.export": guardians,
  "Mutation.login": anyone,
  "Mutation.moveTablet": superadmins,
  "Mutation.removeNode": superadmins,
  "Mutation.resetPassword": withAclOnly,
  "Mutation.revokeTokens": guardians,
  "Mutation.restore": superadmins,
  "Mutation.restoreTenant": superadmins,
  "Mutation.revokeKey": superadmins,
  "Mutation.cancelRequests": superadmins,
  "Mutation.resignLead": superadmins,
  "Mutation.finalizeCluster": superadmins,
  "Mutation.evictMachine": superadmins,
  "Mutation.shutdown": superadmins,
  "Mutation.updateGQLSchema": guardians,
  "Mutation.applyGQLSchema": guardians,
  "Mutation.reportMigration": guardians,
  "Query.schemaProblems": guardians,
  "Query.schemaPlan": guardians,
  "Query.migrations": guardians,
  "Mutation.updateGroup": anyone,
  "Mutation.updateUser": anyone,
  "Query.config": superadmins,
  "Query.getCurrentUser": anyone,
  "Query.getGQLSchema": guardians,
  "Query.getGroup": anyone,
  "Query.getUser": anyone,
  "Query.health": guardians,
  "Query.listBackups": superadmins,
  "Query.listKeys": superadmins,
  "Query.runningRequests": superadmins,
  "Query.cluster": superadmins,
  "Query.queryGroup": anyone,
  "Query.queryUser": anyone,
  "Query.state": guardians,
  "Query.task": guardians,
};

const schema = buildSchema(adminSdl);
const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.keys(type?.getFields() ?? {}).map((name) => `${type?.name ?? ""}.${name}`),
);

test("every field of the schema has its line here and its row in the table", () => {
  expect(fields.toSorted()).toEqual(Object.keys(expected).toSorted());
  expect(Object.keys(fieldRights).toSorted()).toEqual(fields.toSorted());
});

test("a field without a row is nobody's", () => {
  expect(findFieldRefusal("Query.nosuch", { principal: anyPrincipal, acl: false })).toBeDefined();
});

describe.each(fields)("%s", (field) => {
  test("is open to whom it should be", () => {
    const outcomes = principals.map(([, acl, principal]) =>
      findFieldRefusal(field, { acl, principal }) === undefined ? "+" : "-",
    );
    expect(outcomes.join(" ")).toBe(expected[field]?.trim());
  });
});

test("refusals speak as the reference does", () => {
  const say = (field: string, principal: Principal): string | undefined =>
    findFieldRefusal(field, { principal, acl: true })?.message;
  const user = member({ isGuardian: false });
  const stranger = makeStranger("no accessJwt available");
  expect(say("Query.getGQLSchema", user)).toBe(
    "rpc error: code = PermissionDenied desc = Only guardians are allowed access. User 'mia' is not a member of guardians group.",
  );
  expect(say("Query.state", user)).toBe(
    "Error: rpc error: code = PermissionDenied desc = Only guardians are allowed access. User 'mia' is not a member of guardians group.",
  );
  expect(say("Mutation.updateGQLSchema", stranger)).toBe(
    "rpc error: code = PermissionDenied desc = no accessJwt available",
  );
  expect(say("Query.config", user)).toBe(
    "rpc error: code = PermissionDenied desc = AuthSuperAdmin: failed to authorize guardians. Only guardians are allowed access. User 'mia' is not a member of guardians group.",
  );
  expect(say("Mutation.addNamespace", stranger)).toBe(
    "Authorize guardian of the galaxy, extracting jwt token, error:: extracting namespace from JWT no accessJwt available",
  );
});

describe("over /admin", () => {
  let engine: OpenEngine;
  let service: AdminService;
  const done: string[] = [];

  beforeAll(async () => {
    engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
    const controls: Controls = {
      switches: initialSwitches,
      turn: async (change) => void done.push(...Object.keys(change)),
      shutdown: () => void done.push("shutdown"),
    };
    service = openAdminService({
      graphql: openGraphqlService({ engine, clock: systemClock }),
      keys: openKeyRing({ rows: engine.systemRows, clock: systemClock }),
      clock: systemClock,
      migrations: openMigrations(engine, systemClock),
      requests: { running: () => Promise.resolve([]), cancel: () => Promise.resolve(0) },
      controls,
      acl: true,
      health: () => Promise.resolve([]),
      state: () => Promise.reject(new Error("not reached")),
      lease: () => Promise.reject(new Error("not reached")),
    });
  });
  afterAll(() => engine.close());

  async function ask(query: string, principal: Principal): Promise<unknown> {
    const answer = await service.handle(
      {
        kind: "graphql",
        body: query,
        headers: {},
        remoteAddress: "127.0.0.1",
        timeoutMs: 0,
      },
      principal,
    );
    return JSON.parse(new TextDecoder().decode(answer.body));
  }

  test.each([
    "mutation { shutdown { response { code } } }",
    "mutation { draining(enable: true) { response { code } } }",
    "mutation { config(input: { cacheMb: 1 }) { response { code } } }",
    'mutation { createKey(input: { name: "x", kind: ADMIN }) { secret } }',
    'mutation { updateGQLSchema(input: { set: { schema: "type A { id: ID! }" } }) { gqlSchema { id } } }',
    "mutation { assign(input: { what: UID, num: 1 }) { response { startId } } }",
    "{ state { counter } }",
    "{ listKeys { id } }",
    "{ again: listKeys { id } }",
  ])("%s does nothing for a user", async (query) => {
    const answer = await ask(query, member({ isGuardian: false }));
    expect(JSON.stringify(answer)).toContain("is not a member of guardians group");
    expect(done).toEqual([]);
    expect(await ask("{ listKeys { id } }", member({}))).toEqual({ data: { listKeys: [] } });
  });

  test("mutations behind one that failed do not run", async () => {
    const query = `mutation { revokeKey(input: { id: "nosuch" }) { key { id } } shutdown { response { code } } }`;
    expect(await ask(query, member({}))).toEqual({
      errors: [
        {
          message: "resolving revokeKey failed because there is no key nosuch",
          locations: [{ line: 1, column: 12 }],
        },
        {
          message: "Mutation shutdown was not executed because of a previous error.",
          locations: [{ line: 1, column: 62 }],
          path: ["shutdown"],
        },
      ],
      data: { revokeKey: null },
    });
    expect(done).toEqual([]);
  });

  test("the superadmin makes, lists and revokes keys", async () => {
    const made = (await ask(
      'mutation { createKey(input: { name: "shop", kind: CLIENT, expiresAt: "2999-01-01" }) { key { id name kind expiresAt isExpired } secret } }',
      member({}),
    )) as { data: { createKey: { key: { id: string }; secret: string } } };
    const { key, secret } = made.data.createKey;
    expect(secret).toMatch(/^weft_client_[a-z2-7]{10}_[\w-]{43}$/);
    expect(key).toEqual({
      id: secret.slice(12, 22),
      name: "shop",
      kind: "CLIENT",
      expiresAt: "2999-01-01T00:00:00.000Z",
      isExpired: false,
    });
    const list = await ask("{ listKeys { name } }", member({}));
    expect(list).toEqual({ data: { listKeys: [{ name: "shop" }] } });
    const revoked = `mutation { revokeKey(input: { id: "${key.id}" }) { key { name } } }`;
    expect(await ask(revoked, member({}))).toEqual({
      data: { revokeKey: { key: { name: "shop" } } },
    });
  });
});
