// Goal: a server ends in order also while its processes are coming back, and nothing but its own death ends it.
import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  get,
  listChildren,
  makeFolder,
  runWeft,
  startServer,
  waitUntil,
  weft,
} from "./server.ts";

afterAll(cleanUp);

test.each([0, 60, 150])(
  "SIGTERM %d ms after its processes were killed: it ends at once, and whole",
  async (waitMs) => {
    const dataDir = join(makeFolder(), "data");
    const server = await startServer({ dataDir, flags: ["--no-sample", "--workers", "2"] });
    for (const pid of server.childPids()) process.kill(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const began = performance.now();
    expect(await server.stop()).toBe(0);
    // Nobody waits for what cannot come: --drain is ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
    const { code, stdout } = await runWeft(["check", "--data", dataDir]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("0 problems")]);
  },
);

test.runIf(existsSync("/dev/full"))("a log that cannot be written ends nothing", async () => {
  const port = await findFreePort();
  const args = ["serve", "--data", makeFolder(), "--workers", "2", "--no-sample"];
  const full = openSync("/dev/full", "w");
  const one = spawn(process.execPath, [weft, ...args, "--http", `127.0.0.1:${port}`], {
    stdio: ["ignore", full, full],
  });
  const isHealthy = async (): Promise<boolean> =>
    (await get(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.status === 200;
  try {
    await waitUntil(isHealthy, 30_000);
    const before = listChildren(one.pid!);
    process.kill(before[0]!, "SIGKILL");
    await waitUntil(async () => {
      const now = listChildren(one.pid!);
      return now.length === before.length && !now.includes(before[0]!) && (await isHealthy());
    }, 30_000);
    expect(one.exitCode).toBeNull();
  } finally {
    one.kill("SIGTERM");
    await new Promise((resolve) => one.once("exit", resolve));
  }
});
