// Goal: the change feed is closed to whoever does not administer or has no key for it; where users log in it is for
// guardians, each of the own namespace, and ends with their rights.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { follow, type FeedReader } from "./feed-reader.ts";
import { cleanUp, get, makeFolder, post, rdf, runWeft, startServer, type Json } from "./server.ts";

afterAll(cleanUp);

const shown = (key: string): Record<string, string> => ({ "x-auth-token": key });
const factsOf = (event: Json | undefined): Json[] => [...(event?.["facts"] ?? [])];

async function nextFacts(reader: FeedReader): Promise<Json[]> {
  for (;;) {
    const event = await reader.next();
    if (event === undefined) throw new Error("the feed has ended");
    if (String(event["kind"]) === "transaction") return factsOf(event);
  }
}

describe("keys", () => {
  let url = "";
  let admin = "";
  beforeAll(async () => {
    const dataDir = join(makeFolder(), "data");
    const create = ["key", "create", "--data", dataDir, "--name"];
    admin = (await runWeft([...create, "me", "--kind", "admin"])).stdout.trim();
    const flags = ["--no-sample", "--anonymous", "off", "--limit", "keep-alive=100ms"];
    url = (await startServer({ dataDir, flags })).url;
  }, 60_000);

  const make = async (...flags: string[]): Promise<string> => {
    const args = ["key", "create", "--to", url, "--name", "a", ...flags];
    return (await runWeft(args, { WEFT_KEY: admin })).stdout.trim();
  };

  test("one with the scope changes opens it, and nothing else; others do not", async () => {
    const key = await make("--scope", "changes");
    const reader = await follow(url, "/changes", shown(key));
    expect(reader.status).toBe(200);
    reader.close();
    const query = await post(`${url}/query`, "{ q(func: has(x)) { x } }", shown(key));
    expect([query.status, query.text]).toEqual([403, expect.stringContaining("scope query")]);
    for (const flags of [
      ["--kind", "client"],
      ["--scope", "query,mutate,graphql,alter,admin"],
    ]) {
      const refused = await get(`${url}/changes`, shown(await make(...flags)));
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining("ErrorUnauthorized"),
      ]);
    }
    expect((await get(`${url}/changes`)).status).toBe(401);
    expect((await get(`${url}/changes`, shown("weft_admin_nonsense"))).status).toBe(401);
    const ofAdmin = await follow(url, "/changes", shown(admin));
    expect(ofAdmin.status).toBe(200);
    ofAdmin.close();
  });

  test("one that is revoked, or ends, ends its feeds", async () => {
    const reader = await follow(
      url,
      "/changes",
      shown(await make("--scope", "changes", "--expires", "2s")),
    );
    expect(reader.status).toBe(200);
    const last = await reader.next();
    expect(last).toMatchObject({ kind: "error", code: "E_UNAUTHORIZED" });
    expect(await reader.next()).toBeUndefined();
  });
});

test("without keys: from trusted addresses, and for no foreign page", async () => {
  const { url } = await startServer({ dataDir: makeFolder(), flags: ["--no-sample"] });
  for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
    const refused = await follow(url, "/changes?follow=false", headers);
    expect(refused.status).toBe(403);
    expect(JSON.stringify(await refused.next())).toContain("foreign page");
  }
});

describe("where users log in", () => {
  let url = "";
  let galaxy = "";
  let guardian = "";
  let user = "";
  let space = 0;

  const login = async (userid: string, password: string, namespace: number): Promise<string> => {
    const { json } = await post(`${url}/login`, { userid, password, namespace });
    return String(json["data"]?.["accessJWT"]);
  };
  const admin = async (query: string, token: string): Promise<Json> => {
    const answer = await post(`${url}/admin`, { query }, as(token));
    expect(answer.text).not.toContain('"errors"');
    return answer.json;
  };
  const as = (token: string): Record<string, string> => ({ "x-dgraph-accesstoken": token });
  const write = async (token: string, facts: string): Promise<void> => {
    const headers = { ...rdf, ...as(token) };
    const answer = await post(`${url}/mutate?commitNow=true`, `{ set { ${facts} } }`, headers);
    expect(answer.text).toContain("Success");
  };

  beforeAll(async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
    const flags = [
      "--no-sample",
      "--workers",
      "2",
      "--acl",
      `secret-file=${join(folder, "secret")}`,
      "--limit",
      "keep-alive=100ms",
    ];
    url = (await startServer({ dataDir: join(folder, "data"), flags })).url;
    galaxy = await login("groot", "password", 0);
    const made = await admin(
      'mutation { addNamespace(input: { password: "password" }) { namespaceId } }',
      galaxy,
    );
    space = Number(made["data"]?.["addNamespace"]?.["namespaceId"]);
    guardian = await login("groot", "password", space);
    await admin(
      'mutation { addUser(input: [{ name: "ann", password: "a long password" }]) { user { name } } }',
      guardian,
    );
    user = await login("ann", "a long password", space);
  }, 60_000);

  test("guardians follow their namespace; nobody else follows any", async () => {
    const own = await follow(url, "/changes", as(guardian));
    await write(galaxy, '_:a <name> "of the galaxy" .');
    await write(guardian, '_:a <name> "of the tenant" .');
    expect(await nextFacts(own)).toMatchObject([{ predicate: "name", after: "of the tenant" }]);
    own.close();
    const all = await get(`${url}/changes?follow=false&from=oldest`, as(guardian));
    expect(all.text).not.toContain("of the galaxy");
    expect(all.text).not.toContain('"namespace":0');
    expect(all.text).not.toContain("$2");
    for (const headers of [as(user), {}, as("nonsense")]) {
      const refused = await get(`${url}/changes`, headers);
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining("E_UNAUTHORIZED"),
      ]);
    }
  });

  test("another's only as a guardian of namespace 0", async () => {
    for (const search of ["namespace=0", "namespace=all", `namespace=${space}&namespace=0`]) {
      const refused = await get(`${url}/changes?follow=false&${search}`, as(guardian));
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining("Only guardians of namespace 0"),
      ]);
    }
    const same = await get(`${url}/changes?follow=false&namespace=${space}`, as(guardian));
    expect(same.text).toContain("of the tenant");
    const ended = `${url}/changes?follow=false`;
    expect((await get(ended, as(galaxy))).text).not.toContain("of the tenant");
    const both = await get(`${ended}&namespace=all`, as(galaxy));
    expect(both.text).toContain("of the tenant");
    expect(both.text).toContain("of the galaxy");
    expect((await get(`${ended}&namespace=${space}`, as(galaxy))).text).not.toContain("galaxy");
  });

  test("who is no guardian any more is told so", async () => {
    await admin(
      'mutation { addUser(input: [{ name: "bob", password: "a long password", groups: [{ name: "guardians" }] }]) { user { name } } }',
      guardian,
    );
    const reader = await follow(url, "/changes", as(await login("bob", "a long password", space)));
    expect(reader.status).toBe(200);
    await admin('mutation { deleteUser(filter: { name: { eq: "bob" } }) { msg } }', guardian);
    for (let event = await reader.next(); ; event = await reader.next()) {
      if (event === undefined) throw new Error("ended without a word");
      if (String(event["kind"]) === "error") {
        expect(event["code"]).toBe("E_UNAUTHORIZED");
        break;
      }
    }
    expect(await reader.next()).toBeUndefined();
  });

  test("a namespace that is made and dropped is told to who sees all", async () => {
    const reader = await follow(url, "/changes?namespace=all", as(galaxy));
    const made = await admin(
      'mutation { addNamespace(input: { password: "password" }) { namespaceId } }',
      galaxy,
    );
    const namespace = Number(made["data"]?.["addNamespace"]?.["namespaceId"]);
    const found = async (kind: string): Promise<Json> => {
      for (;;) {
        const event = await reader.next();
        if (event === undefined) throw new Error("the feed has ended");
        if (String(event["kind"]) === kind) return event;
      }
    };
    expect(await found("namespace")).toMatchObject({ namespace, operation: "create" });
    await admin(
      `mutation { deleteNamespace(input: { namespaceId: ${namespace} }) { message } }`,
      galaxy,
    );
    expect(await found("drop")).toMatchObject({ namespace, operation: "namespace" });
    reader.close();
  });
});
