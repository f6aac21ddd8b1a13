import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { clearRestoreAsides, nameRestoreAside } from "./restore-aside.ts";

test("what a process that is gone has left is removed, what one that runs makes stays until it is alone", () => {
  const dir = mkdtempSync(join(tmpdir(), "weft-aside-"));
  const own = nameRestoreAside(dir);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const names = [basename(own), `restore-${pid}-0123456789ab`, "restore-0123456789ab", "other"];
  for (const name of names) mkdirSync(join(dir, name, "restore.new"), { recursive: true });
  clearRestoreAsides(dir, false);
  expect(readdirSync(dir).toSorted()).toEqual(["other", basename(own)].toSorted());
  clearRestoreAsides(dir, true);
  expect(readdirSync(dir)).toEqual(["other"]);
  rmSync(dir, { recursive: true });
});
