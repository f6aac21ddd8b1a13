// Goal: every command that asks a server shows it a login where users log in; the sample gets in by itself.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { warnOfOpenAddress } from "../../src/cli/security.ts";
import { cleanUp, makeFolder, post, runWeft, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let folder: string;
const creds = "user=groot; password=password; namespace=0";

beforeAll(async () => {
  folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  // Tokens that end while a load is under way.
  const acl = `secret-file=${join(folder, "secret")}; access-ttl=2s`;
  const flags = ["--no-sample", "--workers", "1", "--anonymous", "off", "--acl", acl];
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  const made = await runWeft([
    "key",
    "create",
    "--name",
    "me",
    "--kind",
    "admin",
    "--data",
    dataDir,
  ]);
  key = made.stdout.trim();
  server = await startServer({ dataDir, flags });
}, 60_000);
afterAll(cleanUp);

let key = "";

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runWeft([...args, "--to", server.url], { WEFT_KEY: key, ...env });

async function query(text: string): Promise<unknown> {
  const who = { userid: "groot", password: "password" };
  for (;;) {
    const { json } = await post(`${server.url}/login`, who, { "x-auth-token": key });
    const token = String(json["data"]?.["accessJWT"]);
    const headers = { "x-auth-token": key, "x-dgraph-accesstoken": token };
    const told = await post(`${server.url}/query`, text, headers);
    if (!told.text.includes("expired")) return told.json["data"];
  }
}

describe("--creds", () => {
  test("weft live logs in, and again when its token ends", async () => {
    const file = join(folder, "people.rdf");
    const facts = Array.from({ length: 400 }, (_, i) => `_:p${i} <name> "person ${i}" .`);
    writeFileSync(file, facts.join("\n"));
    const schema = join(folder, "people.schema");
    writeFileSync(schema, "name: string @index(exact) .");
    const flags = ["--files", file, "--schema", schema, "--batch", "1", "--in-flight", "1"];
    expect((await run(["live", ...flags])).stderr).toMatch(/^weft: .*no accessJwt available/);
    const password = join(folder, "password");
    writeFileSync(password, "password\n");
    const hidden = creds.replace("password=password", `password=@${password}`);
    const ended = await run(["live", ...flags, "--creds", hidden]);
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(await query("{ q(func: has(name)) { count(uid) } }")).toEqual({ q: [{ count: 400 }] });
  }, 60_000);

  test("one line for a login that is refused, and for one that is none", async () => {
    const list = ["key", "list"];
    const wrong = await run(list, { WEFT_CREDS: "user=groot; password=another" });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: "weft: login as groot: invalid username or password\n",
    });
    expect((await run([...list, "--creds", "user=groot"])).stderr).toMatch(
      /^weft: --creds: a user and its password/,
    );
    const both = await run([...list, "--creds", creds, "--access-token", "x"]);
    expect(both.stderr).toMatch(
      /^weft: warning: the secret in .*--creds.* shows .*\nweft: --creds and --access-token/,
    );
    expect(both.stderr).not.toContain("password=");
  });

  test("weft key, weft explain and weft sample take it too, from the environment as well", async () => {
    const env = { WEFT_CREDS: creds };
    expect((await run(["key", "list"])).stderr).toContain("no accessJwt available");
    expect((await run(["key", "list"], env)).stdout).toContain("admin");
    const file = join(folder, "query.dql");
    writeFileSync(file, '{ q(func: eq(name, "person 7")) { name } }');
    expect((await run(["explain", file])).stderr).toContain("no accessJwt available");
    expect((await run(["explain", file], env)).stdout).toMatch(/^step +estimated/);
    const project = join(folder, "project");
    mkdirSync(join(project, "node_modules", "one"), { recursive: true });
    const manifest = JSON.stringify({ name: "one", version: "1.0.0" });
    writeFileSync(join(project, "package.json"), manifest);
    writeFileSync(join(project, "node_modules", "one", "package.json"), manifest);
    const ended = await run(["sample", "--npm", project], env);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining("packages")]);
  }, 60_000);
});

test("serve --sample with access control loads the sample and says how to log in", async () => {
  const acl = `secret-file=${join(folder, "secret")}`;
  const own = await startServer({
    dataDir: makeFolder(),
    flags: ["--sample", "--workers", "1", "--acl", acl],
  });
  const text = "{ q(func: has(Package.name)) { count(uid) } }";
  const stranger = await post(`${own.url}/query`, text);
  expect(stranger.text).toContain("no accessJwt available");
  const { json } = await post(`${own.url}/login`, { userid: "groot", password: "password" });
  const token = String(json["data"]?.["accessJWT"]);
  const told = await post(`${own.url}/query`, text, { "x-dgraph-accesstoken": token });
  expect(told.json["data"]?.["q"]?.[0]?.["count"]).toBeGreaterThan(20);
  expect(own.output()).toContain("accessJWT");
  expect(own.output()).toContain("DEV=");
  expect(await own.stop()).toBe(0);
}, 90_000);

test("an open address is spoken of where neither keys nor logins are asked for", () => {
  const parts = { isAnonymousSaid: true, token: undefined, whitelist: [], hosts: [], origins: [] };
  const open = { anonymous: true, ...parts };
  const acl = {
    secrets: [],
    algorithm: "HS256",
    accessTtlMs: 1,
    refreshTtlMs: 1,
    password: undefined,
    passwords: { charactersMin: 0 },
    logins: { attempts: 10, lockMs: 1 },
  } as const;
  const at = (host: string) => ({ host, port: 80, security: open, acl: undefined });
  expect(warnOfOpenAddress(at("0.0.0.0"))).toContain("0.0.0.0:80");
  expect(warnOfOpenAddress(at("127.0.0.1"))).toBeUndefined();
  expect(warnOfOpenAddress({ ...at("0.0.0.0"), acl })).toBeUndefined();
  const keysOnly = { anonymous: false, ...parts };
  expect(warnOfOpenAddress({ ...at("0.0.0.0"), security: keysOnly })).toBeUndefined();
});
