/** `weft backup follow` beside a server, and `weft restore --at` any moment of it. */
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  root,
  runWeft,
  sleep,
  startServer,
  waitUntil,
  weft,
  type TestServer,
} from "./server.ts";

afterAll(cleanUp);

const flags = ["--workers", "2", "--no-sample"];
const dql = { "content-type": "application/dql" };

interface FollowerProcess {
  readonly child: ChildProcess;
  output(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const followers = new Set<ChildProcess>();
afterEach(() => {
  for (const one of followers) one.kill("SIGKILL");
  followers.clear();
});

/** Resolves when it has archived once. */
async function follow(data: string, place: string, ...more: string[]): Promise<FollowerProcess> {
  const args = ["backup", "follow", "--data", data, "--to", place, "--every", "100ms", ...more];
  const child = spawn(process.execPath, [weft, ...args], { cwd: root });
  followers.add(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await waitUntil(() => output.includes("following"), 20_000);
  return {
    child,
    output: () => output,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

interface Listed {
  readonly id: string;
  readonly commitTs: number;
  readonly reachesTo: { readonly commitTs: number; readonly at: string };
}

async function list(place: string): Promise<readonly Listed[]> {
  const { stdout } = await runWeft(["backup", "list", "--to", place, "--json"]);
  return JSON.parse(stdout) as Listed[];
}

async function run(
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly text: string }> {
  const { code, stdout, stderr } = await runWeft(args);
  return { code, text: stdout + stderr };
}

async function restore(place: string, ...more: string[]): Promise<{ dir: string; text: string }> {
  const dir = join(makeFolder(), "data");
  const { code, text } = await run(["restore", "--from", place, "--data", dir, ...more]);
  expect([code, text]).toEqual([0, expect.stringContaining(`${dir} holds backup`)]);
  const check = await run(["check", "--data", dir]);
  expect([check.code, check.text]).toEqual([0, expect.stringContaining("0 problems")]);
  return { dir, text };
}

/** All facts and both schemas, in one order. */
async function exportOf(dir: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const only of ["data", "schema", "graphql"]) {
    const { code, stdout } = await runWeft(["export", "--data", dir, "--to", "-", "--only", only]);
    expect(code).toBe(0);
    lines.push(...stdout.split("\n"));
  }
  return lines.toSorted();
}

async function query(dir: string, text: string): Promise<unknown> {
  const other = await startServer({ dataDir: dir, flags });
  try {
    return (await post(`${other.url}/query`, text, dql)).json["data"];
  } finally {
    await other.stop();
  }
}

const mutate = (server: TestServer, body: string) =>
  post(`${server.url}/mutate?commitNow=true`, body, rdf);
const setNumber = (server: TestServer, value: number) =>
  mutate(server, `{ set { <0x1> <number> "${value}" . } }`);
const numbers = "{ q(func: eq(number, [1, 2, 3, 4])) { number } }";

/** A moment that nothing is committed in. */
async function moment(): Promise<string> {
  await sleep(20);
  const time = new Date().toISOString();
  await sleep(20);
  return time;
}

interface Place {
  readonly data: string;
  readonly folder: string;
  /** As `--to` takes it. */
  readonly place: string;
}

function makePlace(): Place {
  const folder = makeFolder();
  const backups = join(folder, "backups");
  return { data: join(folder, "data"), folder: backups, place: `dir:${backups}` };
}

test("any moment between writes is restored: by time, by commit, by the id of a backup, or the newest", async () => {
  const { data, place } = makePlace();
  const server = await startServer({ dataDir: data, flags });
  await post(`${server.url}/alter`, "number: int @index(int) .");
  const follower = await follow(data, place);
  const before = await moment();
  await setNumber(server, 1);
  const between = await moment();
  await setNumber(server, 2);
  await setNumber(server, 3);
  expect(await follower.end("SIGTERM")).toBe(0);
  const [backup] = await list(place);
  const last = backup!.reachesTo.commitTs;
  expect(last).toBeGreaterThanOrEqual(backup!.commitTs + 3);

  const held = async (...more: string[]): Promise<readonly string[]> =>
    (await exportOf((await restore(place, ...more)).dir)).filter((line) =>
      line.includes(" <number> "),
    );
  const fact = (value: number): string => expect.stringContaining(`"${value}"`) as string;
  expect(await held("--at", before)).toEqual([]);
  expect(await held("--at", between)).toEqual([fact(1)]);
  expect(await held("--at", String(last - 1))).toEqual([fact(2)]);
  expect(await held("--at", backup!.id)).toEqual([]);
  const newest = await restore(place);
  expect(newest.text).toContain(`and the log up to commit ${last}`);
  expect(await query(newest.dir, numbers)).toEqual({ q: [{ number: 3 }] });
  const later = await restore(place, "--at", await moment());
  expect(later.text).toContain(`nothing later than commit ${last} is there`);
  await server.stop();
}, 90_000);

test("what no archive holds is told", async () => {
  const { data, place } = makePlace();
  const server = await startServer({ dataDir: data, flags });
  const follower = await follow(data, place);
  await setNumber(server, 1);
  await follower.end("SIGTERM");
  const [backup] = await list(place);
  const dir = join(makeFolder(), "data");
  const refuse = async (at: string): Promise<string> => {
    const { code, text } = await run(["restore", "--from", place, "--data", dir, "--at", at]);
    expect([code, fs.existsSync(join(dir, "weft.json"))]).toEqual([1, false]);
    return text;
  };
  const last = backup!.reachesTo.commitTs;
  expect(await refuse(String(last + 7))).toContain(
    `the backups reach to commit ${last}, not to ${last + 7}`,
  );
  expect(await refuse("2001-01-01T00:00:00Z")).toContain("no backup is as old as 2001-01-01");
  expect(await refuse("noon")).toContain("there is no backup noon");
  await server.stop();
}, 60_000);

test("schemas, index builds, drops, users of namespaces: the restored store is the one that was, fact by fact", async () => {
  const { data, place } = makePlace();
  const server = await startServer({ dataDir: data, flags });
  const follower = await follow(data, place);
  const alter = (body: string) => post(`${server.url}/alter`, body);
  await alter("word: string .\nlink: [uid] .\ngone: string @index(exact) .");
  const lines = Array.from(
    { length: 600 },
    (_, i) =>
      `_:n${i} <word> "word ${i % 7}" .\n_:n${i} <gone> "g${i}" .\n_:n${i} <link> _:n${i >> 1} .`,
  );
  await mutate(server, `{ set {\n${lines.join("\n")}\n} }`);
  await alter("word: string @index(term, hash) @lang @count .\nlink: [uid] @reverse @count .");
  await mutate(server, '{ set { _:l <word> "wort"@de (since=2020) . } }');
  await alter('{"drop_attr": "gone"}');
  await post(
    `${server.url}/admin/schema`,
    "type Film { id: ID! title: String @search(by: [term]) }",
  );
  const made = await post(
    `${server.url}/graphql`,
    JSON.stringify({
      query: 'mutation { addFilm(input: [{ title: "The Third Man" }]) { film { title } } }',
    }),
    { "content-type": "application/json" },
  );
  expect(made.json["data"]).toBeDefined();
  const namespace = await post(
    `${server.url}/admin`,
    JSON.stringify({
      query: "mutation { addNamespace { namespaceId } }",
    }),
    { "content-type": "application/json" },
  );
  expect(namespace.json["data"]).toBeDefined();
  // A huge uid is remembered, so that it is never given out.
  await mutate(server, '{ set { <0x7fffffff> <word> "far" . } }');
  await follower.end("SIGTERM");
  await server.stop();

  const { dir, text } = await restore(place);
  expect(text).toMatch(/indexes: /);
  expect(await exportOf(dir)).toEqual(await exportOf(data));
  const asked = `{ terms(func: anyofterms(word, "3")) { count(uid) } hash(func: eq(word, "word 3")) { count(uid) }
    back(func: eq(count(~link), 2), first: 3) { count(~link) } many(func: ge(count(link), 1)) { count(uid) }
    lost(func: has(gone)) { count(uid) } far(func: uid(0x7fffffff)) { word } }`;
  expect(await query(dir, asked)).toEqual(await query(data, asked));
}, 120_000);

test("a follower goes on where it was ended, whatever ends it or the server; nothing acknowledged before is missing", async () => {
  const { data, place } = makePlace();
  let server = await startServer({ dataDir: data, flags });
  await post(`${server.url}/alter`, "number: int @index(int) .");
  let follower = await follow(data, place);
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 20; i++) {
      await mutate(server, `{ set { _:n <number> "${100 * round + i}" . } }`);
    }
    await (round % 2 === 0 ? follower.end("SIGKILL") : follower.end("SIGTERM"));
    if (round === 1) {
      server.process.kill("SIGKILL");
      await waitUntil(() => server.childPids().length === 0, 20_000);
      server = await startServer({ dataDir: data, flags });
    }
    follower = await follow(data, place);
  }
  await follower.end("SIGTERM");
  await server.stop();
  expect((await list(place)).length).toBe(1);
  const { dir } = await restore(place);
  expect(await exportOf(dir)).toEqual(await exportOf(data));
  expect((await run(["backup", "verify", "--to", place])).text).toContain("1 backup is sound");
}, 90_000);

test("where the log does not reach back, and when it is time, a whole backup is made", async () => {
  const { data, place } = makePlace();
  // Retention goes by blocks of 256 commits.
  const short = [...flags, "--store", "log-bytes=20KB"];
  const server = await startServer({ dataDir: data, flags: short });
  await (await follow(data, place)).end("SIGTERM");
  for (let i = 0; i < 60; i++) {
    await mutate(server, `{ set { _:n <word> "${"x".repeat(1000)}" . } }`);
  }
  const behind = await follow(data, place);
  expect(behind.output()).toContain("the log does not reach back");
  await behind.end("SIGTERM");
  const due = await follow(data, place, "--full", "1ms", "--keep", "2");
  await waitUntil(async () => due.output().includes("it is time"), 20_000);
  await setNumber(server, 1);
  await due.end("SIGTERM");
  await server.stop();
  expect((await list(place)).length).toBe(2);
  const { dir } = await restore(place);
  expect(await exportOf(dir)).toEqual(await exportOf(data));
}, 60_000);

test("a damaged segment is found, and what lies before it is restored", async () => {
  const { data, place, folder } = makePlace();
  const server = await startServer({ dataDir: data, flags });
  await post(`${server.url}/alter`, "number: int @index(int) .");
  for (const value of [1, 2]) {
    const follower = await follow(data, place);
    await setNumber(server, value);
    await follower.end("SIGTERM");
  }
  await server.stop();
  const files = fs
    .readdirSync(join(folder, "log"), { recursive: true, encoding: "utf8" })
    .filter((name) => /-[\da-f]{16}$/.test(name))
    .toSorted();
  const path = join(folder, "log", files.at(-1)!);
  const sound = fs.readFileSync(path);
  for (const at of [0, 4, 10, sound.length >> 1, sound.length - 1]) {
    const bytes = Buffer.from(sound);
    bytes[at]! ^= 16;
    fs.writeFileSync(path, bytes);
    const verified = await run(["backup", "verify", "--to", place]);
    expect([verified.code, verified.text]).toEqual([1, expect.stringContaining("is damaged")]);
  }
  const dir = join(makeFolder(), "data");
  const refused = await run(["restore", "--from", place, "--data", dir]);
  expect(refused.code).toBe(1);
  const [, reached = ""] = /--at (\d+) restores that/.exec(refused.text) ?? [];
  expect(await query((await restore(place, "--at", reached)).dir, numbers)).toEqual({
    q: [{ number: 1 }],
  });
}, 90_000);

test("with a key segments are sealed, and no other key opens them", async () => {
  const { data, place, folder } = makePlace();
  const [key, other] = [join(makeFolder(), "key"), join(makeFolder(), "other")];
  fs.writeFileSync(key, "ab".repeat(32));
  fs.writeFileSync(other, "cd".repeat(32));
  const server = await startServer({ dataDir: data, flags });
  const follower = await follow(data, place, "--key-file", key);
  await mutate(server, '{ set { _:n <word> "terribly-secret" . } }');
  await follower.end("SIGTERM");
  await server.stop();
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (fs.statSync(path).isFile()) expect(fs.readFileSync(path)).not.toContain("secret");
  }
  const refused = await run([
    "backup",
    "follow",
    "--data",
    data,
    "--to",
    place,
    "--key-file",
    other,
  ]);
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("another key")]);
  const { dir } = await restore(place, "--key-file", key);
  expect(await exportOf(dir)).toEqual(await exportOf(data));
}, 60_000);
