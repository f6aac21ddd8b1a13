// Goal: settings can be looked at without a start, and changed without an end; what is wrong in them is told and changes
// nothing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, makeFolder, runWeft, startServer, waitUntil } from "./server.ts";

afterAll(cleanUp);

const waitMs = 10_000;

function writeSettings(file: string, settings: object): void {
  writeFileSync(file, JSON.stringify(settings));
}

test("config print tells each setting, its value and where it was said, and no secret", async () => {
  const file = join(makeFolder(), "weft.json");
  writeSettings(file, { limit: { "query-timeout": "3s" }, security: { token: "hush" } });
  const flags = ["--config", file, "--workers", "1"];
  const { code, stdout, stderr } = await runWeft(["config", "print", ...flags], {
    WEFT_DRAIN: "7s",
  });
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.split("\n").map((line) => line.split(/ {2,}/).join(" | "));
  expect(lines).toContain("--limit query-timeout | 3s | file");
  expect(lines).toContain("--workers | 1 | flag");
  expect(lines).toContain("--drain | 7s | environment");
  expect(lines).toContain("--limit depth | 200 | default");
  expect(lines).toContain("--security token | (hidden) | file");
  expect(stdout).not.toContain("hush");
});

test("config check tells all that is wrong with what a start would read", async () => {
  const folder = makeFolder();
  const data = join(folder, "data");
  expect(await runWeft(["config", "check", "--data", data])).toEqual({
    code: 0,
    stdout: "weft: the settings are in order\n",
    stderr: "",
  });
  const wrong = ["--audit", join(folder, "none", "audit.log"), "--lambda", join(folder, "no.js")];
  const two = await runWeft(["config", "check", "--data", data, ...wrong]);
  expect(two.code).toBe(1);
  expect(two.stderr).toContain(`weft: --audit: ${join(folder, "none")} is not a directory\n`);
  expect(two.stderr).toContain(join(folder, "no.js"));
  const unknown = await runWeft(["config", "check", "--limit", "dept=3"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toMatch(/^weft: --limit: unknown key "dept"/);
});

test("SIGHUP takes what a running server can take, tells the rest, and leaves all where a file is bad", async () => {
  const folder = makeFolder();
  const file = join(folder, "weft.json");
  writeSettings(file, { workers: 2 });
  const server = await startServer({ dataDir: join(folder, "data"), flags: ["--config", file] });
  const alter = async (): Promise<string> => {
    const answer = await fetch(`${server.url}/alter`, {
      method: "POST",
      body: '{"drop_all": true}',
    });
    return answer.text();
  };
  let asked = 0;
  const query = async (): Promise<number> => {
    // A text of its own each time: one that is prepared already is not measured again.
    const text = `{ q${asked++}(func: uid(0x1)) { a { b { c { uid } } } } }`;
    const headers = { "content-type": "application/dql" };
    const answer = await fetch(`${server.url}/query`, { method: "POST", headers, body: text });
    return (await answer.text()).includes("--limit depth") ? 400 : answer.status;
  };
  const hangUp = async (expected: string): Promise<void> => {
    server.process.kill("SIGHUP");
    await waitUntil(() => Promise.resolve(server.output().includes(expected)), waitMs).catch(() => {
      throw new Error(`no "${expected}" in ${server.output()}`);
    });
  };
  expect(await query()).toBe(200);

  writeFileSync(file, "{");
  await hangUp("weft: SIGHUP: the settings stay as they were: --config");
  writeSettings(file, { workers: 2, limit: { deep: 3 } });
  await hangUp('unknown key "deep"');
  expect(await query()).toBe(200);

  writeSettings(file, {
    workers: 1,
    log: "warn",
    cache: { "size-mb": 64 },
    limit: { depth: 2, "disallow-drop": true, sockets: 5 },
  });
  await hangUp("weft: SIGHUP: changed");
  const [line] = /SIGHUP: changed .*/.exec(server.output()) ?? [""];
  expect(line).toBe(
    "SIGHUP: changed --log, --limit disallow-drop, --limit depth, --cache; needs a restart: --workers, --limit sockets",
  );
  // Each process hears of it by itself.
  await waitUntil(async () => (await query()) === 400, waitMs);
  await waitUntil(async () => (await alter()).includes("error"), waitMs);

  // A process that starts later has what the others have.
  const pids = server.childPids();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await waitUntil(
    () => Promise.resolve(!server.childPids().some((pid) => pids.includes(pid))),
    waitMs,
  );
  await waitUntil(async () => (await query().catch(() => 0)) === 400, waitMs);

  const others = { rate: { address: "1/h" }, security: { token: "next" } };
  writeSettings(file, { workers: 1, log: "warn", ...others });
  await hangUp("--security, --rate");
  await waitUntil(async () => (await query()) === 429, waitMs);
  expect(await server.stop()).toBe(0);
}, 60_000);
