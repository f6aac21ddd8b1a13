/** A store that is encrypted: what a thief of its files finds, keys that fit and do not, and every command that opens it. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
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
const dql = { "content-type": "application/dql" };

function makeKey(name: string, bytes: Buffer | string = randomBytes(32)): string {
  const path = join(folder, name);
  fs.writeFileSync(path, bytes);
  return path;
}

const key = makeKey("a.key");
const otherKey = makeKey("b.key", randomBytes(32).toString("hex") + "\n");
const by = (file: string): string[] => ["--encryption", `key-file=${file}`];

/** None of these may be found in a file: values, a predicate, a type, what GraphQL says, a token of each kind. */
const secrets = ["marigold", "secretPredicate", "SecretType", "zanzibar", "wallaby", "1234567891"];
const schema = `
secretPredicate: string @index(exact, term, trigram) .
secretNumber: int @index(int) .
secretEdge: [uid] @reverse .
type SecretKind {
  secretPredicate
}`;
const sdl = "type SecretType { id: ID! zanzibarField: String! @search(by: [hash, fulltext]) }";

async function fill(server: TestServer, from = 0): Promise<void> {
  const lines = Array.from({ length: 400 }, (_, i) => {
    const word = i % 20 === 0 ? "wallaby ".repeat(400) : `marigold ${from + i}`;
    return `_:n${i} <secretPredicate> "${word} zanzibar" .\n_:n${i} <secretNumber> "1234567891" .\n_:n${i} <secretEdge> _:n0 .`;
  });
  await post(`${server.url}/mutate?commitNow=true`, `{ set {\n${lines.join("\n")}\n} }`, rdf);
}

/** Names of files under a directory in which a secret stands, in plain text or in UTF-16. */
function findSecrets(dir: string): string[] {
  const found: string[] = [];
  for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = fs.readFileSync(path);
    for (const secret of secrets) {
      const forms = [Buffer.from(secret), Buffer.from(secret, "utf16le")];
      if (forms.some((form) => bytes.includes(form))) found.push(`${secret} in ${entry.name}`);
    }
  }
  return found;
}

const count = "{ q(func: has(secretPredicate)) { count(uid) } }";

async function countIn(dir: string, ...more: string[]): Promise<unknown> {
  const server = await startServer({ dataDir: dir, flags: ["--workers", "1", ...more] });
  try {
    return (await post(`${server.url}/query`, count, dql)).json["data"];
  } finally {
    await server.stop();
  }
}

async function run(...args: string[]): Promise<{ code: number | null; text: string }> {
  const { code, stdout, stderr } = await runWeft(args);
  return { code, text: stdout + stderr };
}

const data = join(folder, "data");
const rows = { q: [{ count: 800 }] };

/** Of the store that has ended; sockets of a killed server may lie beside. */
function copyStore(dir: string): void {
  fs.mkdirSync(dir);
  for (const name of ["weft.store", "weft.keys", "data.mdb"]) {
    fs.copyFileSync(join(data, name), join(dir, name));
  }
}

afterAll(cleanUp);

describe("a server with a key", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ dataDir: data, flags: ["--workers", "2", ...by(key)] });
    expect((await post(`${server.url}/alter`, schema)).text).toContain("Success");
    expect((await post(`${server.url}/admin/schema`, sdl)).text).toContain("Success");
    await fill(server);
  });

  test("leaves nothing to read in its files, while it runs, when it is killed, and when it has ended", async () => {
    expect(findSecrets(data)).toEqual([]);
    const ended = new Promise((resolve) => server.process.once("exit", resolve));
    const children = server.childPids();
    server.process.kill("SIGKILL");
    for (const pid of children) process.kill(pid, "SIGKILL");
    await ended;
    expect(findSecrets(data)).toEqual([]);
    expect(fs.readdirSync(data)).toContain("journal.0");
    // As a process had it that had run before those.
    fs.renameSync(join(data, "slot-0.sock"), join(data, "slot-60.sock"));
    server = await startServer({ dataDir: data, flags: ["--workers", "2", ...by(key)] });
    expect(fs.readdirSync(data)).not.toContain("slot-60.sock");
    await fill(server, 1000);
    expect((await post(`${server.url}/query`, count, dql)).json["data"]).toEqual(rows);
    expect(await run("check", "--data", data, ...by(key))).toEqual({
      code: 0,
      text: expect.stringMatching(/format \d+, encrypted[^]* 0 problems/) as string,
    });
  });

  test("writes no export where none was asked for, and one where it was", async () => {
    const mutation = '{ "query": "mutation { export(input: {format: \\"rdf\\"}) { taskId } }" }';
    const { text } = await post(`${server.url}/admin`, mutation, {
      "content-type": "application/json",
    });
    expect(text).toContain("the store is encrypted, and exports are not");
    expect(await server.stop()).toBe(0);
    expect(findSecrets(data)).toEqual([]);
    const to = join(folder, "export");
    expect((await run("export", "--data", data, "--to", to, ...by(key))).code).toBe(0);
    expect(fs.readdirSync(to)).toContain("g01.rdf.gz");
  });
});

describe("a key", () => {
  const commands: [string, ...string[]][] = [
    ["serve", "--http", "127.0.0.1:0", "--no-grpc"],
    ["check"],
    ["check", "--repair"],
    ["compact"],
    ["export", "--to", join(folder, "never")],
    ["key", "list"],
    ["backup", "--to", `dir:${join(folder, "never")}`, "--key-file", otherKey],
    ["encryption", "rewrite"],
    ["encryption", "copy", "--to", join(folder, "never")],
    ["config", "check"],
  ];

  test.each(commands)(
    "that is missing or another one is told in one line: %s %s",
    async (...command) => {
      const before = fs.readdirSync(data).map((name) => fs.statSync(join(data, name)).mtimeMs);
      // One after the other: two that hold the store at once are told of each other instead.
      const missing = await run(...command, "--data", data);
      const wrong = await run(...command, "--data", data, ...by(otherKey));
      expect([1, 2]).toContain(missing.code);
      expect(missing.text).toMatch(
        /^weft: [^\n]*(?:it is encrypted: give its key|"key-file=FILE" is needed)[^\n]*\n$/,
      );
      expect(wrong.code).toBe(1);
      expect(wrong.text).toMatch(/^weft: [^\n]*is not the one that it is encrypted with[^\n]*\n$/);
      const after = fs.readdirSync(data).map((name) => fs.statSync(join(data, name)).mtimeMs);
      expect(after).toEqual(before);
      expect(fs.existsSync(join(folder, "never"))).toBe(false);
    },
  );

  test("has 16, 24 or 32 bytes, as they are or as text", async () => {
    for (const bytes of [16, 24]) {
      const dir = join(folder, `store-${bytes}`);
      const file = makeKey(`${bytes}.key`, randomBytes(bytes));
      expect((await run("key", "create", "--data", dir, "--name", "a", ...by(file))).code).toBe(0);
      expect((await run("check", "--data", dir, ...by(file))).code).toBe(0);
    }
    const short = makeKey("short.key", "too short");
    const { code, text } = await run("serve", "--data", join(folder, "none"), ...by(short));
    expect([code, text]).toEqual([
      1,
      expect.stringContaining("holds 9 bytes, and a key has 16, 24 or 32"),
    ]);
    expect((await run("serve", "--data", data, ...by(join(folder, "gone")))).text).toMatch(
      /^weft: --encryption key-file: \S+ cannot be read\n$/,
    );
    expect((await run("serve", "--encryption", "key=1")).text).toContain('unknown key "key"');
    expect(fs.existsSync(join(folder, "none"))).toBe(false);
  });

  test("is refused by a store that has none, which it does not encrypt by the way", async () => {
    const dir = join(folder, "plain");
    expect((await run("key", "create", "--data", dir, "--name", "a")).code).toBe(0);
    const { code, text } = await run("check", "--data", dir, ...by(key));
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/it is not encrypted, and --encryption/),
    ]);
  });
});

describe("a store that is encrypted", () => {
  test("is compacted, rewritten and rotated; the old key opens nothing any more", async () => {
    const dir = join(folder, "moved");
    copyStore(dir);
    const dataFile = (): Buffer => fs.readFileSync(join(dir, "data.mdb"));
    expect((await run("compact", "--data", dir, ...by(key))).code).toBe(0);
    const before = dataFile();
    const rotate = [
      "encryption",
      "rotate",
      "--data",
      dir,
      "--new-encryption",
      `key-file=${otherKey}`,
    ];
    expect((await run(...rotate, ...by(key))).text).toMatch(
      /is opened by the key with the id [\da-f]{16};/,
    );
    // The data is not touched.
    expect(dataFile().equals(before)).toBe(true);
    expect((await run("check", "--data", dir, ...by(key))).text).toContain("is not the one");
    expect(await run("encryption", "rewrite", "--data", dir, ...by(otherKey))).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(fs.readFileSync(join(dir, "weft.keys"), "utf8"))).toMatchObject({
      dataKeys: [expect.any(String)],
    });
    expect((await run("check", "--data", dir, ...by(otherKey))).text).toContain(" 0 problems");
    expect(await countIn(dir, ...by(otherKey))).toEqual(rows);
    expect(findSecrets(dir)).toEqual([]);
  });

  test("that is killed while it is rotated or rewritten opens with the one key or the other", async () => {
    const dir = join(folder, "killed");
    let [now, next] = [key, otherKey];
    copyStore(dir);
    const commands = [
      (): string[] => ["rotate", "--new-encryption", `key-file=${next}`],
      (): string[] => ["rewrite"],
    ];
    for (let round = 0; round < 4; round++) {
      const args = commands[round % 2]!();
      const one = spawn(
        process.execPath,
        [weft, "encryption", ...args, "--data", dir, ...by(now)],
        {
          stdio: "ignore",
        },
      );
      const ended = new Promise((resolve) => one.once("exit", resolve));
      await Promise.race([ended, sleep(150 + 90 * round)]);
      one.kill("SIGKILL");
      await ended;
      const check = (): Promise<{ code: number | null; text: string }> =>
        run("check", "--data", dir, ...by(now));
      let { code, text } = await check();
      if (/is not the one that it is encrypted with/.test(text)) {
        [now, next] = [next, now];
        ({ code, text } = await check());
      }
      expect([code, text]).toEqual([0, expect.stringContaining(" 0 problems")]);
    }
  });

  test("is made of a plain one and becomes one again, by copies and by backups", async () => {
    const [plain, sealed, restored, bare] = ["p", "s", "r", "b"].map((name) =>
      join(folder, `copy-${name}`),
    );
    const place = `dir:${join(folder, "backups")}`;
    expect((await run("encryption", "copy", "--data", data, ...by(key), "--to", plain!)).code).toBe(
      0,
    );
    expect(findSecrets(plain!)).not.toEqual([]);
    expect(await countIn(plain!)).toEqual(rows);
    const copy = ["encryption", "copy", "--data", plain!, "--to", sealed!];
    expect((await run(...copy, "--new-encryption", `key-file=${otherKey}`)).code).toBe(0);
    expect(findSecrets(sealed!)).toEqual([]);
    const backup = ["backup", "--data", sealed!, ...by(otherKey), "--to", place];
    expect((await run(...backup)).text).toContain("give --key-file");
    expect((await run(...backup, "--key-file", key)).code).toBe(0);
    expect(findSecrets(join(folder, "backups"))).toEqual([]);
    const restore = ["restore", "--from", place, "--key-file", key, "--data"];
    expect((await run(...restore, restored!, ...by(otherKey))).code).toBe(0);
    expect(findSecrets(restored!)).toEqual([]);
    expect(await countIn(restored!, ...by(otherKey))).toEqual(rows);
    expect((await run(...restore, bare!)).code).toBe(0);
    expect(await countIn(bare!)).toEqual(rows);
  });

  test("is archived by its server with a key alone, and any moment becomes an encrypted store", async () => {
    const dir = join(folder, "archived");
    const place = join(folder, "archive");
    const backup = (more: string): string[] => ["--backup", `to=dir:${place}; every=200ms${more}`];
    const plain = await run("serve", "--data", dir, ...by(key), ...backup(""));
    expect([plain.code, plain.text]).toEqual([
      2,
      expect.stringContaining("give --backup key-file"),
    ]);
    const follow = ["backup", "follow", "--data", data, ...by(key), "--to", `dir:${place}`];
    expect((await run(...follow)).text).toContain("give --key-file");
    expect(fs.existsSync(place)).toBe(false);
    const flags = ["--workers", "1", ...by(key), ...backup(`; key-file=${otherKey}`)];
    const server = await startServer({ dataDir: dir, flags });
    await post(`${server.url}/alter`, schema);
    await fill(server);
    expect(await server.stop()).toBe(0);
    expect(findSecrets(place)).toEqual([]);
    const to = join(folder, "moment");
    const restore = ["restore", "--from", `dir:${place}`, "--key-file", otherKey, "--data", to];
    expect((await run(...restore, ...by(otherKey))).text).toContain("holds backup");
    expect(findSecrets(to)).toEqual([]);
    expect(await countIn(to, ...by(otherKey))).toEqual({ q: [{ count: 400 }] });
  });

  test("is loaded by weft bulk, which leaves nothing to read on the way, also when it is killed", async () => {
    const input = join(folder, "input.rdf.gz");
    const lines = Array.from(
      { length: 8_000 },
      (_, i) =>
        `_:b${i} <secretPredicate> "marigold ${i} zanzibar ${"wallaby ".repeat(8)}" .\n_:b${i} <unknownWallaby> "wallaby" .`,
    );
    fs.writeFileSync(input, gzipSync(`${lines.join("\n")}\n`));
    const schemaFile = join(folder, "input.schema");
    fs.writeFileSync(schemaFile, schema);
    const dir = join(folder, "bulk");
    // So little memory that facts go to files.
    const args = [
      "bulk",
      "--data",
      dir,
      "--files",
      input,
      "--schema",
      schemaFile,
      "--memory",
      "2MB",
      "--threads",
      "0",
      ...by(key),
    ];
    const one = spawn(process.execPath, [weft, ...args], { stdio: "ignore" });
    const ended = new Promise((resolve) => one.once("exit", resolve));
    const looks: string[] = [];
    let seen = 0;
    while (one.exitCode === null && one.signalCode === null) {
      const parts = join(dir, "bulk.new", "parts");
      try {
        seen = Math.max(seen, fs.readdirSync(parts).length);
        looks.push(...findSecrets(dir));
      } catch {
        // A file went while it was looked at.
      }
      if (seen >= 3) one.kill("SIGKILL");
      await Promise.race([ended, sleep(40)]);
    }
    expect(seen).toBeGreaterThanOrEqual(3);
    expect([...looks, ...findSecrets(dir)]).toEqual([]);
    expect(await run(...args)).toMatchObject({ code: 0 });
    expect(findSecrets(dir)).toEqual([]);
    expect((await run("check", "--data", dir, ...by(key))).text).toContain(" 0 problems");
    expect(await countIn(dir, ...by(key))).toEqual({ q: [{ count: 8_000 }] });
  });
});

describe("damage to a store that is encrypted", () => {
  const files = ["weft.keys", "weft.store"];

  test.each(files)("%s changed or gone is told, and nothing is made anew", async (name) => {
    const dir = join(folder, `damaged-${name}`);
    copyStore(dir);
    const bytes = fs.readFileSync(join(dir, name));
    for (const at of [bytes.length - 4, Math.floor(bytes.length / 2)]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 4;
      fs.writeFileSync(join(dir, name), changed);
      expect((await run("check", "--data", dir, ...by(key))).code).toBe(1);
    }
    fs.rmSync(join(dir, name));
    const { code, text } = await run("serve", "--data", dir, ...by(key));
    expect([code, text]).toEqual([1, expect.stringContaining(`${name} is missing`)]);
  });

  test("a block that was changed and whose checksum fits is told, and a repair saves the others", async () => {
    const dir = join(folder, "forged");
    copyStore(dir);
    const { forgeBlock } = await import("../crash/forge-block.ts");
    await forgeBlock(dir);
    const { code, text } = await run("check", "--data", dir, ...by(key));
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/the stored block [\da-f]+ is damaged/),
    ]);
    const repaired = await run("check", "--repair", "--data", dir, ...by(key));
    expect(repaired.text).toMatch(
      /lost: the stored block [\da-f]+ is damaged, with all rows in it/,
    );
    expect(repaired.text).toMatch(/[\d,]+ rows saved/);
    expect((await run("compact", "--data", dir, ...by(key))).code).toBe(0);
  });
});
