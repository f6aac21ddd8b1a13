/** `restore` and `restoreTenant` at /admin: a server that runs comes to hold what a backup held. */
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  cleanUp,
  listChildren,
  makeFolder,
  post,
  rdf,
  runWeft,
  sleep,
  startServer,
  waitUntil,
  type TestServer,
} from "./server.ts";

const left: TestServer[] = [];
afterEach(async () => {
  for (const server of left.splice(0)) await server.stop();
});
afterAll(cleanUp);

async function start(dataDir: string, ...flags: string[]): Promise<TestServer> {
  const server = await startServer({ dataDir, flags: ["--no-sample", ...flags] });
  left.push(server);
  return server;
}

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
}

type Headers = Record<string, string>;

async function admin(server: TestServer, query: string, headers: Headers = {}): Promise<Answer> {
  const told = await post(`${server.url}/admin`, { query }, headers);
  return told.json as unknown as Answer;
}

const messageOf = ({ errors }: Answer): string => errors?.[0]?.message ?? "";

async function waitForTask(
  server: TestServer,
  id: unknown,
  headers: Headers = {},
): Promise<string> {
  let status = "";
  await waitUntil(async () => {
    const told = await admin(
      server,
      `{ task(input: {id: "${String(id)}"}) { kind status } }`,
      headers,
    );
    const task = told.data?.["task"] as { status: string } | null | undefined;
    status = task?.status ?? "Running";
    return status !== "Running";
  }, 30_000);
  return status;
}

async function backUp(server: TestServer, headers: Headers = {}): Promise<void> {
  const query = `mutation { backup(input: {destination: "kept"}) { taskId } }`;
  const { taskId } = (await admin(server, query, headers)).data!["backup"] as { taskId: string };
  expect(await waitForTask(server, taskId, headers)).toBe("Success");
}

const restore = (server: TestServer, input: string, headers: Headers = {}): Promise<Answer> =>
  admin(server, `mutation { restore(input: {${input}}) { code message taskId } }`, headers);

async function restored(server: TestServer, input: string, headers: Headers = {}): Promise<void> {
  const begun = (await restore(server, input, headers)).data!["restore"] as { taskId: string };
  expect(begun).toMatchObject({ code: "Success", message: "Restore operation started." });
  expect(await waitForTask(server, begun.taskId, headers)).toBe("Success");
}

async function write(server: TestServer, facts: string, headers: Headers = {}): Promise<void> {
  const body = `{ set {\n${facts.replaceAll(" . ", " .\n")}\n} }`;
  const { json } = await post(`${server.url}/mutate?commitNow=true`, body, { ...rdf, ...headers });
  expect(json["errors"]).toBeUndefined();
}

async function words(server: TestServer, headers: Headers = {}): Promise<string[]> {
  const dql = { "content-type": "application/dql", ...headers };
  const query = "{ q(func: has(word)) { word } }";
  const { json } = await post(`${server.url}/query`, query, dql);
  expect(json["errors"]).toBeUndefined();
  return (json["data"]!["q"] as unknown as { word: string }[]).map(({ word }) => word).sort();
}

const alter = (server: TestServer, schema: string): Promise<unknown> =>
  post(`${server.url}/alter`, schema);

test("all is as the backup had it: data, indexes, the schemas; what came later is gone, and new nodes are new", async () => {
  const server = await start(join(makeFolder(), "data"), "--workers", "2");
  await alter(server, "word: string @index(term) .");
  const sdl = "type Note { id: ID! text: String! @search(by: [term]) }";
  const set = `mutation { updateGQLSchema(input: {set: {schema: "${sdl}"}}) { gqlSchema { schema } } }`;
  await admin(server, set);
  await write(server, '_:a <word> "old one" . _:b <word> "old two" .');
  await backUp(server);
  await write(server, '_:c <word> "new" . _:c <later> "x" .');
  await admin(server, set.replace("text: String!", "title: String!"));
  const graphql = async (query: string): Promise<unknown> =>
    (await post(`${server.url}/graphql`, { query })).json;
  await restored(server, 'location: "kept"');
  expect(await words(server)).toEqual(["old one", "old two"]);
  // Every process: the schema of GraphQL, an index, a write into what was restored.
  for (let i = 0; i < 6; i++) {
    expect(await graphql("{ queryNote { text } }")).toMatchObject({
      data: { queryNote: [] },
    });
  }
  await write(server, '_:d <word> "one more" .');
  const found = await post(`${server.url}/query`, '{ q(func: anyofterms(word, "one")) { word } }', {
    "content-type": "application/dql",
  });
  expect(found.json["data"]!["q"]).toHaveLength(2);
  const all = await post(`${server.url}/query`, "{ q(func: has(word)) { uid } }", {
    "content-type": "application/dql",
  });
  expect(
    new Set((all.json["data"]!["q"] as unknown as { uid: string }[]).map(({ uid }) => uid)).size,
  ).toBe(3);
  const later = await post(`${server.url}/query`, "schema(pred: [later]) {}", {
    "content-type": "application/dql",
  });
  expect(later.json["data"]).toEqual({});
  await server.stop();
  const checked = await runWeft(["check", "--data", server.dataDir]);
  expect([checked.code, checked.stdout + checked.stderr]).toEqual([0, expect.anything()]);
  expect(fs.readdirSync(server.dataDir).filter((name) => name.startsWith("restore"))).toEqual([]);
}, 90_000);

test("readers see what was there or what is restored, and /health says that it goes on", async () => {
  const server = await start(join(makeFolder(), "data"), "--workers", "3");
  const many = (mark: string): string =>
    Array.from({ length: 3000 }, (_, i) => `_:n${i} <word> "${mark}" .`).join("\n");
  await write(server, many("old"));
  await backUp(server);
  await write(server, many("new"));
  const seen = new Set<string>();
  let ongoing = 0;
  const begun = (await restore(server, 'location: "kept"')).data!["restore"] as { taskId: string };
  for (let isOver = false; !isOver;) {
    const [health] = (await (await fetch(`${server.url}/health`)).json()) as [
      { ongoing?: string[] },
    ];
    if (health.ongoing?.includes("opRestore") === true && ongoing++ === 0) {
      const twice = messageOf(await restore(server, 'location: "kept"'));
      expect(twice).toContain("another restore operation is already running");
    }
    const counted = await post(
      `${server.url}/query`,
      '{ old(func: has(word)) @filter(eq(word, "old")) { count(uid) } new(func: has(word)) @filter(eq(word, "new")) { count(uid) } }',
      { "content-type": "application/dql" },
    );
    const { old, new: fresh } = counted.json["data"] as unknown as Record<
      string,
      { count: number }[]
    >;
    seen.add(`${old![0]!.count} ${fresh![0]!.count}`);
    isOver = seen.has("3000 0");
    expect(seen.size).toBeLessThanOrEqual(2);
    if (!isOver) await sleep(5);
  }
  expect([...seen].sort()).toEqual(["3000 0", "3000 3000"]);
  expect(await waitForTask(server, begun.taskId)).toBe("Success");
  expect(ongoing).toBeGreaterThan(0);
}, 90_000);

test("a transaction that was open is aborted; subscriptions are told", async () => {
  const server = await start(join(makeFolder(), "data"));
  const sdl = "type Note @withSubscription { id: ID! text: String! }";
  await admin(
    server,
    `mutation { updateGQLSchema(input: {set: {schema: "${sdl}"}}) { gqlSchema { id } } }`,
  );
  const add = (text: string): Promise<unknown> =>
    post(`${server.url}/graphql`, {
      query: `mutation { addNote(input: {text: "${text}"}) { numUids } }`,
    });
  await add("old");
  await backUp(server);
  await add("new");
  const opened = await post(`${server.url}/mutate`, '{ set { _:x <word> "open" . } }', rdf);
  const startTs = (opened.json["extensions"] as unknown as { txn: { start_ts: number } }).txn
    .start_ts;
  const ended = new AbortController();
  const stream = await fetch(`${server.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: "subscription { queryNote { text } }" }),
    signal: ended.signal,
  });
  let told = "";
  const reading = (async () => {
    for await (const piece of stream.body!) told += Buffer.from(piece).toString();
  })().catch(() => {});
  await waitUntil(async () => told.includes("new"), 20_000);
  const before = told.length;
  await restored(server, 'location: "kept"');
  // A subscription is of a schema: with another one it ends, or it tells what is there now.
  await waitUntil(async () => /"old"|complete/.test(told.slice(before)), 20_000);
  expect(told.slice(before)).not.toContain('"new"');
  ended.abort();
  await reading;
  // Its end would wait for the stream.
  left.splice(0);
  const commit = await post(`${server.url}/commit?startTs=${startTs}`, {});
  expect(JSON.stringify(commit.json)).toContain("aborted");
}, 60_000);

test("users and keys are those of the backup", async () => {
  const secret = join(makeFolder(), "secret");
  fs.writeFileSync(secret, "a secret that is long enough for HMAC, 32 bytes and more");
  const server = await start(join(makeFolder(), "data"), "--acl", `secret-file=${secret}`);
  const login = async (user: string, password: string): Promise<Headers | undefined> => {
    const told = await post(`${server.url}/login`, { userid: user, password });
    const token = (told.json["data"] as unknown as { accessJWT?: string } | undefined)?.accessJWT;
    return token === undefined ? undefined : { "X-Dgraph-AccessToken": token };
  };
  const groot = (await login("groot", "password"))!;
  const addUser = (name: string): Promise<Answer> =>
    admin(
      server,
      `mutation { addUser(input: [{name: "${name}", password: "secret-${name}"}]) { user { name } } }`,
      groot,
    );
  await addUser("ann");
  await backUp(server, groot);
  await addUser("bob");
  expect(await login("bob", "secret-bob")).toBeDefined();
  const bob = (await login("bob", "secret-bob"))!;
  expect(messageOf(await restore(server, 'location: "kept"', bob))).toContain("Only guardians");
  expect(messageOf(await restore(server, 'location: "kept"'))).toContain("no accessJwt available");
  await restored(server, 'location: "kept"', groot);
  expect(await login("bob", "secret-bob")).toBeUndefined();
  expect(await login("ann", "secret-ann")).toBeDefined();
  const refused = await post(`${server.url}/query`, "{ q(func: has(word)) { word } }", {
    "content-type": "application/dql",
    ...bob,
  });
  expect(JSON.stringify(refused.json)).toContain("does not exist any more");
}, 90_000);

test("one namespace takes the place of another; all others stay as they are", async () => {
  const secret = join(makeFolder(), "secret");
  fs.writeFileSync(secret, "a secret that is long enough for HMAC, 32 bytes and more");
  const server = await start(join(makeFolder(), "data"), "--acl", `secret-file=${secret}`);
  const loginTo = async (namespace: number, password: string): Promise<Headers> => {
    const told = await post(`${server.url}/login`, { userid: "groot", password, namespace });
    const { accessJWT } = told.json["data"] as unknown as { accessJWT: string };
    return { "X-Dgraph-AccessToken": accessJWT };
  };
  const groot = await loginTo(0, "password");
  const add = async (): Promise<number> => {
    const told = await admin(
      server,
      'mutation { addNamespace(input: {password: "of-its-own"}) { namespaceId } }',
      groot,
    );
    return (told.data!["addNamespace"] as { namespaceId: number }).namespaceId;
  };
  const [one, two] = [await add(), await add()];
  const [ofOne, ofTwo] = [await loginTo(one, "of-its-own"), await loginTo(two, "of-its-own")];
  await write(server, '_:a <word> "galaxy" .', groot);
  await write(server, '_:a <word> "one" .', ofOne);
  await write(server, '_:a <word> "two" .', ofTwo);
  await backUp(server, groot);
  await write(server, '_:b <word> "galaxy later" .', groot);
  await write(server, '_:b <word> "one later" .', ofOne);
  await write(server, '_:b <word> "two later" .', ofTwo);
  const tenant = async (from: number, more: string): Promise<Answer> =>
    admin(
      server,
      `mutation { restoreTenant(input: {restoreInput: {location: "kept"}, fromNamespace: ${from}${more}}) { code message taskId } }`,
      groot,
    );
  const done = async (from: number, more: string): Promise<string> => {
    const begun = (await tenant(from, more)).data!["restoreTenant"] as { taskId: string };
    return await waitForTask(server, begun.taskId, groot);
  };
  expect(await done(one, `, intoNamespace: ${one}`)).toBe("Success");
  expect(await words(server, ofOne)).toEqual(["one"]);
  expect(await words(server, ofTwo)).toEqual(["two", "two later"]);
  expect(await words(server, groot)).toEqual(["galaxy", "galaxy later"]);
  await write(server, '_:c <word> "one after" .', ofOne);
  expect(await words(server, ofOne)).toEqual(["one", "one after"]);
  // As the reference does: without another word it becomes the default namespace.
  expect(await done(two, "")).toBe("Success");
  const asTwo = await loginTo(0, "of-its-own");
  expect(await words(server, asTwo)).toEqual(["two"]);
  expect(await words(server, ofTwo)).toEqual(["two", "two later"]);
  const absent = (
    await admin(
      server,
      `mutation { restoreTenant(input: {restoreInput: {location: "kept"}, fromNamespace: 99}) { taskId } }`,
      asTwo,
    )
  ).data!["restoreTenant"] as { taskId: string };
  expect(await waitForTask(server, absent.taskId, asTwo)).toBe("Failed");
  expect(server.output()).toContain("the backup does not hold namespace 99");
  const why = await admin(server, `{ task(input: {id: "${absent.taskId}"}) { message } }`, asTwo);
  expect(why.data).toMatchObject({
    task: { message: expect.stringContaining("the backup does not hold namespace 99") },
  });
  expect(await words(server, asTwo)).toEqual(["two"]);
}, 120_000);

test("what is refused", async () => {
  const data = join(makeFolder(), "data");
  const server = await start(data);
  await write(server, '_:a <word> "kept" .');
  await backUp(server);
  const outside = makeFolder();
  const refusals: [string, string][] = [
    [
      'location: "/nowhere/at/all"',
      `failed to verify backup: while retrieving manifests: getManifestWithoutUpgrade: The uri path: "/nowhere/at/all" doesn't exists`,
    ],
    [`location: "${outside}"`, "does not lie within"],
    [`location: "file://${outside}"`, "does not lie within"],
    ['location: "../.."', "does not lie within"],
    ['location: "s3://copies/x"', "needs accessKey and secretKey"],
    ['location: "http://127.0.0.1/x"', "is not available"],
    ['location: "kept", encryptionKeyFile: "/etc/passwd"', "is not the key file of --backup"],
    ['location: "kept", vaultAddr: "http://127.0.0.1:8200"', "vault are not available"],
    ['location: "kept", anonymous: true', "anonymous"],
    [
      'location: "kept", backupId: "not-there"',
      "No backups with the specified backup ID not-there",
    ],
    ['location: "kept", backupNum: 2', "No backups with the specified backup number 2"],
    ['location: "kept", backupNum: -1', "backupNum value should be equal or greater than zero"],
    ['location: "kept", incrementalFrom: 1', "Incremental restore must not include full backup"],
    ['location: "kept", incrementalFrom: 3, backupNum: 2', "less than or equal to backupNum"],
    ['location: "kept", backupNum: 1, at: "2026-01-01"', "one of the two"],
  ];
  for (const [input, words_] of refusals) {
    const told = await restore(server, input);
    expect([input, messageOf(told)]).toEqual([input, expect.stringContaining(words_)]);
    expect(told.data).toEqual({ restore: { code: "Failure", message: null, taskId: null } });
  }
  expect(await words(server)).toEqual(["kept"]);
}, 60_000);

test("a part of a series leaves the server draining, until it is told to go on", async () => {
  const server = await start(join(makeFolder(), "data"));
  await write(server, '_:a <word> "kept" .');
  await backUp(server);
  await restored(server, 'location: "kept", backupNum: 1, isPartial: true');
  const refused = await post(`${server.url}/query`, "{ q(func: has(word)) { word } }", {
    "content-type": "application/dql",
  });
  expect(JSON.stringify(refused.json)).toContain("draining mode");
  await admin(server, "mutation { draining(enable: false) { response { code } } }");
  expect(await words(server)).toEqual(["kept"]);
}, 60_000);

test("an archive goes on behind a restore: any later moment is restored from it, and none that it does not hold", async () => {
  const folder = makeFolder();
  const [data, backups] = [join(folder, "data"), join(folder, "backups")];
  const server = await start(data, "--backup", `to=dir:${backups}; every=100ms`);
  const archived = async (): Promise<number> => {
    const [node] = (await (await fetch(`${server.url}/health`)).json()) as [
      { backup: { archived_commit: number } },
    ];
    return node.backup.archived_commit;
  };
  await waitUntil(async () => (await archived()) > 0, 20_000);
  await write(server, '_:a <word> "first" .');
  const listed = await admin(server, '{ listBackups(input: {location: "."}) { backupId } }');
  const [base] = listed.data!["listBackups"] as { backupId: string }[];
  await restored(server, `location: ".", backupId: "${base!.backupId}"`);
  expect(await words(server)).toEqual([]);
  await write(server, '_:b <word> "behind" .');
  await server.stop();
  const copy = join(folder, "copy");
  expect((await runWeft(["restore", "--from", backups, "--data", copy])).code).toBe(0);
  const { stdout } = await runWeft(["export", "--data", copy, "--to", "-"]);
  expect(stdout).toContain("behind");
  expect(stdout).not.toContain("first");
  const verified = await runWeft(["backup", "verify", "--to", backups]);
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
}, 90_000);

test("killed anywhere, the server starts with all of the old or all of the new, and restores again", async () => {
  const data = join(makeFolder(), "data");
  const many = (mark: string): string =>
    Array.from({ length: 4000 }, (_, i) => `_:n${i} <word> "${mark} ${i % 7}" .`).join("\n");
  let server = await start(data, "--workers", "3");
  await alter(server, "word: string @index(exact) .");
  await write(server, many("old"));
  await backUp(server);
  await write(server, many("new"));
  for (const waitMs of [200, 600]) {
    await restore(server, 'location: "kept"');
    await sleep(waitMs);
    const processes = [server.process.pid!, ...descendants(server.process.pid!)];
    for (const pid of processes) kill(pid);
    left.splice(left.indexOf(server), 1);
    server = await start(data, "--workers", "3");
    const found = (await words(server)).length;
    expect([4000, 8000]).toContain(found);
    if (found === 4000) await write(server, many("new"));
  }
  await waitUntil(async () => messageOf(await restore(server, 'location: "kept"')) === "", 20_000);
  await waitUntil(async () => (await words(server)).length === 4000, 30_000);
  await server.stop();
  const checked = await runWeft(["check", "--data", data]);
  expect([checked.code, checked.stderr]).toEqual([0, ""]);
}, 120_000);

function descendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...descendants(child)]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended with the one before.
  }
}
