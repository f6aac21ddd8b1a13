// Goal: what a person sees who starts the server wrongly, twice, or stops it: one clear line and an exit code.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  type Ended,
  makeFolder,
  post,
  rdf,
  root,
  runWeft,
  startServer,
  weft,
} from "./server.ts";

afterAll(cleanUp);

function expectOneLine(ended: Ended, pattern: RegExp, code = 1): void {
  expect(ended.stderr).toMatch(pattern);
  expect(ended.stderr.trim().split("\n")).toHaveLength(1);
  expect(ended.code).toBe(code);
}

async function serve(dataDir: string, ...flags: string[]): Promise<Ended> {
  const port = await findFreePort();
  return await runWeft(["serve", "--data", dataDir, "--http", `127.0.0.1:${port}`, ...flags]);
}

describe("a start that cannot be", () => {
  test("a busy port is named", async () => {
    const holder = createServer();
    const port = await new Promise<number>((resolve) => {
      holder.listen(0, "127.0.0.1", () => {
        const address = holder.address();
        resolve(address === null || typeof address === "string" ? 0 : address.port);
      });
    });
    const ended = await runWeft(["serve", "--data", makeFolder(), "--http", `127.0.0.1:${port}`]);
    holder.close();
    expectOneLine(ended, new RegExp(`port ${port} is in use`));
  });

  test.each([
    [["--nonsense"], /unknown option '--nonsense'/],
    [["--http", "nowhere"], /--http: "nowhere" is not of the form HOST:PORT/],
    [["--workers", "0"], /--workers: from 1 to/],
    [["--workers", "many"], /--workers: "many" is not a number/],
    [["--security", "tokn=x"], /--security: unknown key "tokn"; known are token/],
    [["--limit", "depth=deep"], /--limit depth: "deep" is not a number/],
    [["--cache", "size=1"], /--cache: unknown key "size"; known are size-mb/],
    [["--cache", "size-mb=64MB"], /--cache size-mb: "64MB" is not a number of mebibytes/],
    [["--config", "/nowhere/weft.json"], /--config \/nowhere\/weft.json: it cannot be read/],
  ])("wrong flags: %j", async (flags, pattern) => {
    expectOneLine(await runWeft(["serve", "--data", makeFolder(), ...flags]), pattern, 2);
  });

  test("an unknown command", async () => {
    expectOneLine(await runWeft(["sing"]), /unknown command 'sing'/, 2);
  });

  test("a file in the directory's place, a directory below a file, another's directory", async () => {
    const folder = makeFolder();
    const file = join(folder, "file");
    writeFileSync(file, "hello");
    expectOneLine(await serve(file), /it is not a directory/);
    expectOneLine(await serve(join(file, "below")), /cannot open the store/);
    const other = join(folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "letter.txt"), "dear");
    expectOneLine(await serve(other), /is not empty and is not a store/);
    expectOneLine(await serve("/proc/nowhere"), /cannot open the store/);
  });
});

describe("a damaged store", () => {
  async function makeStore(): Promise<string> {
    const dataDir = makeFolder();
    const server = await startServer({ dataDir });
    const facts = Array.from({ length: 500 }, (_, i) => `_:n${i} <name> "name ${i}" .`).join("\n");
    await post(`${server.url}/mutate?commitNow=true`, `{ set {\n${facts}\n} }`, rdf);
    expect(await server.stop()).toBe(0);
    return dataDir;
  }

  test("truncated, overwritten, a text in place of its header", async () => {
    const truncated = await makeStore();
    truncateSync(join(truncated, "data.mdb"), 5000);
    expectOneLine(await serve(truncated), /truncated/);

    const overwritten = await makeStore();
    writeFileSync(join(overwritten, "data.mdb"), Buffer.alloc(100_000, "x"));
    expectOneLine(await serve(overwritten), /damaged|truncated/);

    const headless = await makeStore();
    writeFileSync(join(headless, "weft.store"), "this is a letter\n");
    expectOneLine(await serve(headless), /weft.store is damaged/);
  });
});

describe("two starts on one directory", () => {
  test("the second says that another server does", async () => {
    const dataDir = makeFolder();
    await startServer({ dataDir });
    expectOneLine(await serve(dataDir), /another server/);
  });

  test("at the same instant exactly one serves", async () => {
    for (let round = 0; round < 5; round++) {
      const dataDir = makeFolder();
      const starts = await Promise.allSettled([startServer({ dataDir }), startServer({ dataDir })]);
      const served = starts.filter((start) => start.status === "fulfilled");
      expect(served).toHaveLength(1);
      for (const start of served) await start.value.stop();
    }
  });
});

describe("an end", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s answers what is under way and closes",
    async (signal) => {
      const server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] });
      const underWay = Array.from({ length: 20 }, (_, i) =>
        post(`${server.url}/mutate?commitNow=true`, `{ set { _:a <name> "n${i}" . } }`, rdf),
      );
      const settled = Promise.allSettled(underWay);
      await underWay[0];
      server.process.kill(signal);
      const code = await server.stop();
      expect(code).toBe(0);
      const answers = await settled;
      const stored = answers.filter(({ status }) => status === "fulfilled").length;
      const again = await startServer({ dataDir: server.dataDir });
      const { json } = await post(`${again.url}/query`, "{ q(func: has(name)) { count(uid) } }");
      expect(json["data"]?.["q"]?.[0]?.["count"]).toBeGreaterThanOrEqual(stored);
      await again.stop();
    },
  );
});

describe("settings", () => {
  test("the environment stands in for flags, a file for both, and a flag wins", async () => {
    const dataDir = makeFolder();
    const file = join(dataDir, "..", `weft-${process.pid}.json`);
    writeFileSync(file, JSON.stringify({ limit: { mutations: "disallow" }, security: "token=t" }));
    const server = await startServer({ dataDir, flags: ["--config", file, "--security", ""] });
    const answer = await post(
      `${server.url}/mutate?commitNow=true`,
      '{ set { _:a <n> "x" . } }',
      rdf,
    );
    expect(answer.text).toContain("no mutations allowed");
    const alter = await post(`${server.url}/alter`, "x: int .");
    expect(alter.text).toContain("No mutations allowed by server.");
    await server.stop();
    const wrong = await runWeft(["serve", "--data", dataDir], { WEFT_WORKERS: "none" });
    expectOneLine(wrong, /--workers: "none"/, 2);
  });

  test("the cache's size is set at the start, and again while the server runs", async () => {
    const server = await startServer({ dataDir: makeFolder(), flags: ["--cache", "size-mb=64"] });
    const tell = async (): Promise<string> =>
      await (await fetch(`${server.url}/admin/config/cache_mb`)).text();
    expect(await tell()).toBe("64\n");
    await fetch(`${server.url}/admin/config/cache_mb`, { method: "PUT", body: "32" });
    expect(await tell()).toBe("32\n");
    await server.stop();
  });

  test("every flag and limit has its line in the page on settings", async () => {
    const { stdout } = await runWeft(["serve", "--help"]);
    const page = readFileSync(join(root, "docs", "settings.md"), "utf8");
    const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
    const keys = [...stdout.matchAll(/^ {2}([a-z]+(?:-[a-z]+)*) {2,}/gm)].map(([, key]) => key);
    expect(flags.length).toBeGreaterThan(10);
    expect(keys.length).toBeGreaterThan(10);
    const missing = [...flags, ...keys].filter((name) => !page.includes(`\`${name}`));
    expect(missing).toEqual(["--help"]);
  });

  test("without a reader a command ends without a word", () => {
    const line = `"${process.execPath}" "${weft}" help serve | :; echo "\${PIPESTATUS[0]}"`;
    const ended = spawnSync("bash", ["-c", line], { encoding: "utf8" });
    expect([ended.stdout, ended.stderr]).toEqual(["141\n", ""]);
  });

  test("help has examples for each command, and the version is the package's", async () => {
    for (const command of ["serve", "live", "sample", "check"]) {
      const ended = await runWeft(["help", command]);
      expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining("Examples:")]);
      expect((await runWeft([command, "--help"])).stdout).toBe(ended.stdout);
    }
    const manifest = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
    ) as {
      version: string;
    };
    expect((await runWeft(["version"])).stdout.trim()).toBe(manifest.version);
  });
});
