/**
 * Goal: processes that open the store while its writer commits disturb nothing. Each tells all others the newest
 * transaction that it has read (`newest.test.ts`), so the writer holds its commits for as long as they open.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openReadOnly } from "../../src/stores/lmdb.ts";
import { buildChild } from "./child-modules.ts";
import { makeScratch } from "./scratch.ts";

const times = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 5) * 200;

let folder = "";
let childDir = "";
beforeAll(() => {
  folder = makeScratch();
  childDir = buildChild(["writer-child.mjs", "opener-child.mjs", "workload.mjs"]).dir;
});
afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

function run(script: string, ...args: string[]) {
  const child = spawn(process.execPath, [join(childDir, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, ended, text: () => text };
}

it("a writer that stands still is told, not waited for", { timeout: 60_000 }, async () => {
  const dir = mkdtempSync(join(folder, "store-"));
  const writer = run("writer-child.mjs", dir, "0", "serve");
  await expect.poll(() => writer.text(), { timeout: 20_000 }).toContain("open");
  await (await openReadOnly(dir)).close();
  writer.child.kill("SIGSTOP");
  await expect(openReadOnly(dir, { answerMs: 300 })).rejects.toThrow("its writer does not answer");
  writer.child.kill("SIGCONT");
  await (await openReadOnly(dir)).close();
  writer.child.kill("SIGKILL");
  await writer.ended;
});

it("opening beside a writer under load", { timeout: 60_000 + times * 50 }, async () => {
  const dir = mkdtempSync(join(folder, "store-"));
  const writer = run("writer-child.mjs", dir, "0", "load");
  await expect.poll(() => writer.text().includes("\n9\n"), { timeout: 20_000 }).toBe(true);
  const openers = [1, 2].map(() => run("opener-child.mjs", dir, String(times)));
  const codes = await Promise.all(openers.map((opener) => opener.ended));
  expect(writer.child.exitCode).toBeNull();
  writer.child.kill("SIGKILL");
  await writer.ended;
  expect(writer.text()).not.toContain("fatal");
  expect(codes).toEqual([0, 0]);
});
