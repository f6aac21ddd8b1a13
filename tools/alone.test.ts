// Goal: no test file reaches into the next one of its process, and the check for that finds planted faults.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alone, findSharingFaults } from "./alone.ts";

test("the files that need a process of their own are those of the list", () => {
  const root = join(import.meta.dirname, "..");
  expect(findSharingFaults(root, ["src", "test", "tools", "bench"], alone)).toEqual([]);
});

test("planted faults", () => {
  const root = mkdtempSync(join(tmpdir(), "weft-alone-"));
  mkdirSync(join(root, "test"));
  // In parts: this file has none of them.
  const files = {
    "mock.test.ts": ["vi.", 'mock("node:fs");\n'],
    "set.test.ts": ["process.", 'env["A"] = "1";\n'],
    "listed.test.ts": ["vi.", "resetModules();\n"],
    "plain.test.ts": ['test("a", () => {});\n'],
    "support.ts": ["export const a = 1;\nafterAll", "(() => {});\n"],
  };
  for (const [name, parts] of Object.entries(files)) {
    writeFileSync(join(root, "test", name), parts.join(""));
  }
  const listed = ["test/listed.test.ts", "test/plain.test.ts"];
  expect(findSharingFaults(root, ["test"], listed)).toEqual([
    "test/mock.test.ts: needs a process of its own",
    "test/plain.test.ts: may share a process",
    "test/set.test.ts: needs a process of its own",
    "test/support.ts: its hooks are those of the first that loads it",
  ]);
  rmSync(root, { recursive: true, force: true });
});
