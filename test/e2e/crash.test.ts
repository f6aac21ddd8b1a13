// Goal: a few rounds of the crash test (hundreds: npm run crash), with one worker, with two and with a writer of its own.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./server.ts";

function crash(...args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const one = spawn(process.execPath, [join(root, "tools", "crash.mjs"), ...args]);
    let output = "";
    one.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    one.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    one.once("close", (code) => resolve({ code, output }));
  });
}

// Pairs of starts with two workers are in start.test.ts.
test.each([
  ["1", "1"],
  ["2", "0"],
  ["3", "1"],
])(
  "every acknowledged write survives, with --workers %s",
  { timeout: 180_000 },
  async (workers, starts) => {
    const { code, output } = await crash(
      "--rounds",
      "4",
      "--encrypted",
      "2",
      "--starts",
      starts,
      "--workers",
      workers,
    );
    expect(output).toMatch(/2 rounds, encrypted, .* all there, nothing torn/);
    expect(code).toBe(0);
  },
);
