/** `weft backup` beside a server that is written to, and `weft restore`. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  runWeft,
  sleep,
  startServer,
  weft,
  type TestServer,
} from "./server.ts";

const folder = makeFolder();
const data = join(folder, "data");
const place = join(folder, "backups");
const flags = ["--workers", "2", "--no-sample"];
const dql = { "content-type": "application/dql" };

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: data, flags });
  await post(
    `${server.url}/alter`,
    "word: string @index(term) .\nleft: int .\nright: int @index(int) .",
  );
  const lines = Array.from(
    { length: 4000 },
    (_, i) => `_:n${i} <word> "word ${i} ${randomBytes(60).toString("hex")}" .`,
  );
  await post(`${server.url}/mutate?commitNow=true`, `{ set {\n${lines.join("\n")}\n} }`, rdf);
});
afterAll(cleanUp);

async function run(
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; text: string }> {
  const { code, stdout, stderr } = await runWeft(args);
  return { code, stdout, text: stdout + stderr };
}

async function backUp(...more: string[]): Promise<string> {
  const { code, text } = await run(["backup", "--data", data, "--to", `dir:${place}`, ...more]);
  expect([code, text]).toEqual([0, expect.stringContaining("weft: backup ")]);
  return /weft: backup (\S+) of/.exec(text)?.[1] ?? "";
}

async function restore(...more: string[]): Promise<string> {
  const dir = join(makeFolder(), "data");
  const { code, text } = await run(["restore", "--from", place, "--data", dir, ...more]);
  expect([code, text]).toEqual([0, expect.stringContaining(`${dir} holds backup`)]);
  const check = await run(["check", "--data", dir]);
  expect([check.code, check.text]).toEqual([0, expect.stringContaining("0 problems")]);
  return dir;
}

/** What a store answers. */
async function ask(dir: string, query: string): Promise<unknown> {
  const other = await startServer({ dataDir: dir, flags });
  try {
    return (await post(`${other.url}/query`, query, dql)).json["data"];
  } finally {
    await other.stop();
  }
}

const pair =
  '{ q(func: has(left)) { left right } n(func: has(word)) { count(uid) } t(func: anyofterms(word, "word")) { count(uid) } }';
const setPair = (value: number) =>
  post(
    `${server.url}/mutate?commitNow=true`,
    `{ set {\n<0x1> <left> "${value}" .\n<0x1> <right> "${value}" .\n} }`,
    rdf,
  );

test("a backup is one state, however much is written beside it, and has all that was acknowledged", async () => {
  let acknowledged = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await setPair(acknowledged + 1);
      acknowledged++;
    }
  })();
  const taken: { id: string; before: number; after: number }[] = [];
  for (let i = 0; i < 3; i++) {
    const before = acknowledged;
    taken.push({ id: await backUp(), before, after: acknowledged + 1 });
  }
  isOver = true;
  await writing;
  for (const { id, before, after } of [taken[0]!, taken[2]!]) {
    const answer = (await ask(await restore("--at", id), pair)) as {
      q: { left: number; right: number }[];
    };
    expect(answer).toMatchObject({ n: [{ count: 4000 }], t: [{ count: 4000 }] });
    expect(answer.q[0]!.left).toBe(answer.q[0]!.right);
    expect(answer.q[0]!.left).toBeGreaterThanOrEqual(before);
    expect(answer.q[0]!.left).toBeLessThanOrEqual(after);
  }
}, 60_000);

test("a restored store takes writes, and its uids go on", async () => {
  const dir = await restore();
  const other = await startServer({ dataDir: dir, flags });
  const made = await post(
    `${other.url}/mutate?commitNow=true`,
    '{ set { _:new <word> "new" . } }',
    rdf,
  );
  const uid = made.json["data"]!["uids"]!["new"] as unknown as string;
  expect(Number(uid)).toBeGreaterThan(4000);
  await other.stop();
});

test("only what has changed is written; pruning leaves what is kept whole", async () => {
  const size = (): number => {
    const names = fs.readdirSync(join(place, "blocks"), { recursive: true, encoding: "utf8" });
    return names.filter((name) => fs.statSync(join(place, "blocks", name)).isFile()).length;
  };
  await backUp();
  const before = size();
  const first = await backUp();
  expect(size()).toBe(before);
  const last = await backUp("--keep", "2", "--verify");
  const { stdout } = await run(["backup", "list", "--to", place, "--json"]);
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual([first, last]);
  const { text } = await run(["backup", "verify", "--to", place]);
  expect(text).toContain("2 backups are sound");
}, 30_000);

test("a backup that is killed is none, and the next one is whole", async () => {
  const other = join(makeFolder(), "killed");
  for (let i = 0; i < 6; i++) {
    const runner = spawn(process.execPath, [weft, "backup", "--data", data, "--to", other]);
    const ended = new Promise((resolve) => runner.once("exit", resolve));
    await sleep(200 + i * 60);
    runner.kill("SIGKILL");
    await ended;
    const { code, text } = await run(["backup", "verify", "--to", other]);
    if (code !== 0) expect(text).toContain("there are no backups at");
  }
  const made = await run(["backup", "--data", data, "--to", other, "--verify", "--keep", "1"]);
  expect([made.code, made.text]).toEqual([0, expect.stringContaining("1 backup is sound")]);
  const { text } = await run(["restore", "--from", other, "--data", join(makeFolder(), "d")]);
  expect(text).toContain("holds backup");
}, 60_000);

test("a restore that is killed leaves no store, and can be done again", async () => {
  const dir = join(makeFolder(), "data");
  for (let i = 0; i < 5; i++) {
    const runner = spawn(process.execPath, [weft, "restore", "--from", place, "--data", dir]);
    const ended = new Promise((resolve) => runner.once("exit", resolve));
    await sleep(150 + i * 40);
    const isDone = runner.exitCode !== null;
    runner.kill("SIGKILL");
    await ended;
    if (isDone || fs.existsSync(join(dir, "weft.store"))) fs.rmSync(dir, { recursive: true });
  }
  // Between its two renames.
  fs.rmSync(dir, { recursive: true, force: true });
  await run(["restore", "--from", place, "--data", dir]);
  fs.mkdirSync(join(dir, "restore.new"));
  fs.renameSync(join(dir, "weft.store"), join(dir, "restore.new", "weft.store"));
  const again = await run(["restore", "--from", place, "--data", dir]);
  expect([again.code, again.text]).toEqual([0, expect.stringContaining("holds backup")]);
  const onto = await run(["restore", "--from", place, "--data", dir]);
  expect([onto.code, onto.text]).toEqual([1, expect.stringContaining("holds a store already")]);
}, 60_000);

describe("damage", () => {
  async function copy(): Promise<{ dir: string; blocks: string[]; manifests: string[] }> {
    const dir = join(makeFolder(), "copy");
    fs.cpSync(place, dir, { recursive: true });
    const names = fs.readdirSync(dir, { recursive: true, encoding: "utf8" }).toSorted();
    const files = names.map((name) => join(dir, name)).filter((path) => fs.statSync(path).isFile());
    return {
      dir,
      blocks: files.filter((path) => path.includes("/blocks/")),
      manifests: files.filter((path) => path.endsWith(".json")),
    };
  }

  async function expectRefused(dir: string, words: RegExp): Promise<void> {
    const verified = await run(["backup", "verify", "--to", dir]);
    expect([verified.code, verified.text]).toEqual([1, expect.stringMatching(words)]);
    const target = join(makeFolder(), "data");
    const restored = await run(["restore", "--from", dir, "--data", target]);
    expect([restored.code, restored.text]).toEqual([1, expect.stringMatching(words)]);
    expect(fs.readdirSync(target, { recursive: true })).toEqual([]);
  }

  test("of a block, and a block that is gone", async () => {
    const { dir, blocks } = await copy();
    const path = blocks[0]!;
    const bytes = fs.readFileSync(path);
    for (const at of [0, bytes.length >> 2, bytes.length >> 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 16;
      fs.writeFileSync(path, damaged);
      await expectRefused(dir, /the block [\da-f]{64} is damaged/);
    }
    fs.rmSync(path);
    await expectRefused(dir, /the block [\da-f]{64} is missing/);
  }, 60_000);

  test("of a manifest", async () => {
    const { dir, manifests } = await copy();
    const path = manifests.at(-1)!;
    fs.writeFileSync(path, fs.readFileSync(path, "utf8").replace(/"rows":\d/, '"rows":9'));
    const { code, text } = await run(["restore", "--from", dir, "--data", makeFolder()]);
    expect([code, text]).toEqual([1, expect.stringMatching(/the manifest \S+ is damaged/)]);
  });
});

test("with a key nothing of it can be read, and no other key opens it", async () => {
  const dir = makeFolder();
  const [key, other] = ["key", "other"].map((name) => {
    fs.writeFileSync(join(dir, name), randomBytes(32).toString("hex"));
    return join(dir, name);
  }) as [string, string];
  const to = join(dir, "backups");
  const made = await run(["backup", "--data", data, "--to", to, "--key-file", key]);
  expect(made.code).toBe(0);
  const names = fs.readdirSync(join(to, "blocks"), { recursive: true, encoding: "utf8" });
  for (const name of names.filter((one) => fs.statSync(join(to, "blocks", one)).isFile())) {
    const bytes = fs.readFileSync(join(to, "blocks", name));
    expect(bytes.includes("word")).toBe(false);
  }
  const at = (...more: string[]) => ["restore", "--from", to, "--data", join(dir, "data"), ...more];
  expect((await run(at())).text).toContain("these backups are encrypted: give --key-file");
  expect((await run(at("--key-file", other))).text).toContain("made with another key");
  const plain = await run(["backup", "--data", data, "--to", to]);
  expect(plain.text).toContain("these backups are encrypted");
  expect((await run(at("--key-file", key))).text).toContain("holds backup");
  expect(await ask(join(dir, "data"), "{ n(func: has(word)) { count(uid) } }")).toEqual({
    n: [{ count: 4000 }],
  });
}, 60_000);

test("what is wrong is told in one line", async () => {
  const empty = makeFolder();
  const wrong: [string[], RegExp, code?: number][] = [
    [["backup", "--data", empty, "--to", place], /there is no store at/],
    [
      ["backup", "--data", data, "--to", "gs://bucket"],
      /"gs:\/\/bucket" is no place for backups/,
      2,
    ],
    [["backup", "--data", data, "--to", place, "--keep", "none"], /--keep: "none" is no number/, 2],
    [
      ["backup", "--data", data, "--to", place, "--key-file", join(data, "weft.store")],
      /does not hold 32 bytes/,
      2,
    ],
    [["restore", "--from", empty, "--data", join(empty, "d")], /there are no backups at/],
    [["backup", "verify", "--to", empty], /there are no backups at/],
    [["restore", "--from", place, "--into", empty], /there is none|there are no backups/],
    [["restore", "--from", place, "--data", empty, "--as", "3"], /are of --into/, 2],
    [["restore", "--from", place, "--dta", empty], /unknown option '--dta'/, 2],
    [
      ["restore", "--from", place, "--data", empty, "--at", "someday"],
      /there is no backup someday/,
    ],
    [
      ["restore", "--from", place, "--data", empty, "--at", "2020-01-01"],
      /no backup is as old as 2020/,
    ],
    [["backup", "--data", data], /required option '--to <place>' not specified/, 2],
  ];
  for (const [args, words, exit = 1] of wrong) {
    const { code, text } = await run(args);
    expect([args, code, text.trim()]).toEqual([args, exit, expect.stringMatching(words)]);
    expect(text.trim()).not.toContain("\n");
  }
}, 30_000);
