/**
 * Goal: LMDB's list of free pages stays whole. With the package's own settings these transactions have it say
 * "reserved_space larger than allocated entry" (pages are lost), others "duplicates/overlaps in free list", after which
 * nothing can be written any more.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildChild } from "./child-modules.ts";
import { makeScratch } from "./scratch.ts";

let folder = "";
let childDir = "";
beforeAll(() => {
  folder = makeScratch();
  childDir = buildChild(["free-pages-child.mjs"]).dir;
});
afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 5);

it(
  "transactions of mixed sizes beside old snapshots",
  { timeout: 120_000 + rounds * 5000 },
  async () => {
    const dir = mkdtempSync(join(folder, "store-"));
    const child = spawn(
      process.execPath,
      [join(childDir, "free-pages-child.mjs"), dir, String(rounds * 440), "230"],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    let told = "";
    let complaints = "";
    child.stdout.on("data", (piece: Buffer) => (told += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => (complaints += piece.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(complaints).toBe("");
    expect([code, told]).toEqual([0, "done\n"]);
  },
);
