/**
 * Holes that were published for the reference, each tried against this server the way its advisory tells: a statement
 * that is smuggled through a condition or a language tag, secrets of the command line, administration without rights,
 * expressions and imports that take a server down.
 */
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, rdf, startServer, type TestServer } from "./server.ts";

const token = "a-token-of-the-command-line";
let server: TestServer;
const admin = { "x-dgraph-authtoken": token };

beforeAll(async () => {
  const flags = ["--no-sample", "--security", `token=${token}`];
  server = await startServer({ dataDir: join(makeFolder(), "data"), flags });
  const schema = "user: string @index(exact) @unique @lang .\nsecret: string @index(trigram) .";
  await post(`${server.url}/alter`, schema, admin);
  await post(
    `${server.url}/mutate?commitNow=true`,
    '{ set { <0x1> <secret> "hidden-value" . <0x1> <user> "ann" . } }',
    rdf,
  );
}, 60_000);

afterAll(cleanUp);

describe("a statement smuggled into another", () => {
  test("through the language tag of a JSON key (CVE-2026-41328)", async () => {
    for (const tag of [
      'en, "x")) { uid } leak(func: has(secret)) { secret } q(func: eq(user',
      'en") { uid } } query { leak(func: has(secret)) { secret } }',
      "en)",
    ]) {
      const body = { set: [{ uid: "_:a", [`user@${tag}`]: "x" }] };
      const { text } = await post(`${server.url}/mutate?commitNow=true`, body);
      expect(text).not.toContain("hidden-value");
      expect(text).toContain("Has invalid characters");
    }
  });

  test("through the condition of an upsert", async () => {
    const conditions = [
      "@if(gt(len(v), 0))) { uid } leak(func: has(secret)) { secret } x(func: uid(0x1)) @filter(has(user)",
      "@if(eq(len(v), 1)) leak(func: has(secret)) { secret }",
      "@filter(has(user)) } leak(func: has(secret)) { secret",
      "@if(eq(len(v), 1)) } { leak(func: has(secret)) { secret }",
    ];
    for (const cond of conditions) {
      const query = "{ v as var(func: has(user)) }";
      const set = [{ uid: "uid(v)", note: "x" }];
      const body = { query, mutations: [{ cond, set }] };
      const { text } = await post(`${server.url}/mutate?commitNow=true`, body);
      expect(text).not.toContain("hidden-value");
      expect(text, cond).toContain("errors");
    }
  });
});

test("nor through a password that is checked (CVE-2026-44840)", async () => {
  const sdl = 'type Member @secret(field: "pwd") { name: String! @id }';
  await post(`${server.url}/admin/schema`, sdl, admin);
  const ask = async (query: string): Promise<string> =>
    (await post(`${server.url}/graphql`, { query })).text;
  await ask('mutation { addMember(input: [{ name: "ann", pwd: "right-one" }]) { numUids } }');
  const check = (pwd: string): Promise<string> =>
    ask(`{ checkMemberPassword(name: "ann", pwd: ${JSON.stringify(pwd)}) { name } }`);
  expect(await check("right-one")).toContain('"ann"');
  for (const pwd of [
    'x") } leak(func: has(secret)) { secret } q(func: uid(0x1)) { pwd: checkpwd(Member.pwd, "x',
    'wrong", "right-one',
    'x\\") { uid } }',
  ]) {
    const text = await check(pwd);
    expect(text).not.toContain("hidden-value");
    expect(text).not.toContain('"ann"');
  }
});

test("secrets of the command line are told by no route (CVE-2026-40173, CVE-2026-41492)", async () => {
  const paths = [
    "/debug/vars",
    "/debug/pprof/cmdline",
    "/debug/pprof/",
    "/debug/requests",
    "/debug/prometheus_metrics",
    "/metrics",
    "/health?all",
    "/state",
    "/",
    "/ui/keywords",
  ];
  for (const headers of [{}, admin]) {
    for (const path of paths) {
      const { text } = await get(server.url + path, headers);
      expect(text, path).not.toContain(token);
    }
  }
  const config = { query: "{ config { cacheMb } health { instance } state { counter } }" };
  expect((await post(`${server.url}/admin`, config, admin)).text).not.toContain(token);
});

test("administration takes rights, each way round (CVE-2026-34976, GHSA-qj98-gp63-54xj)", async () => {
  const operations = [
    'mutation { restoreTenant(input: { restoreInput: { location: "file:///etc" }, fromNamespace: 0 }) { code } }',
    'mutation { restore(input: { location: "file:///etc" }) { code } }',
    'mutation { backup(input: { destination: "/tmp/x" }) { response { code } } }',
    "mutation { export(input: {}) { response { code } } }",
    "mutation { shutdown { response { code } } }",
    "mutation { draining(enable: true) { response { code } } }",
    "mutation { removeNode(input: { nodeId: 1, groupId: 1 }) { response { code } } }",
    'mutation { moveTablet(input: { tablet: "user", groupId: 2 }) { response { code } } }',
    "mutation { assign(input: { what: UID, num: 9 }) { response { startId } } }",
  ];
  for (const query of operations) {
    const { text } = await post(`${server.url}/admin`, { query });
    expect(text, query).toContain("Invalid X-Dgraph-AuthToken");
  }
  for (const path of [
    "/removeNode?id=1&group=1",
    "/moveTablet?tablet=user&group=2",
    "/assign?what=uids&num=9",
  ]) {
    const { status, text } = await get(server.url + path);
    expect(status === 404 || text.includes("errors"), path).toBe(true);
    expect(text).not.toContain("startId");
  }
});

test("expressions that explode are answered or refused, and the server goes on (CVE-2026-63637)", async () => {
  const nested = `${"(".repeat(400)}a${")*".repeat(400)}`;
  const expressions = [
    "/(((a{1,100}){1,100}){1,100}){1,100}/",
    "/(a|b|c|d|e|f|g|h){1000}xyz/",
    "/[a-z]{500}[0-9]{500}/",
    `/${"(a|aa|aaa)".repeat(200)}/`,
    `/${nested}/`,
    `/${"x".repeat(20_000)}/`,
    "/(a+)+$/",
    "/\\pL{1000}/",
    "/(?i)(abc|ABC){1,200}(def){1,200}/",
  ];
  for (const expression of expressions) {
    for (const text of [
      `{ q(func: regexp(secret, ${expression})) { uid } }`,
      `{ q(func: has(secret)) @filter(regexp(secret, ${expression})) { uid } }`,
    ]) {
      expect((await post(`${server.url}/query`, text)).status).toBe(200);
    }
  }
  const ended = await get(`${server.url}/health`);
  expect(ended.status).toBe(200);
  expect(server.childPids().length).toBeGreaterThan(0);
}, 60_000);

test("there is no way in for a snapshot or an import without rights (CVE-2026-54061)", async () => {
  for (const path of [
    "/import",
    "/snapshot",
    "/admin/import",
    "/admin/snapshot",
    "/admin/stream",
  ]) {
    const { status, text } = await post(`${server.url}${path}`, "anything");
    expect(status === 404 || text.includes("errors"), path).toBe(true);
  }
  // The reference takes them over gRPC, whose connections begin so; here no answer to it does anything.
  const { port, hostname } = new URL(server.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("close", () => resolve(text));
    socket.on("error", () => resolve(text));
  });
  expect(answer).toContain("HTTP/1.1 400");
  expect((await get(`${server.url}/health`)).status).toBe(200);
});
