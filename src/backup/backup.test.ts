import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import type { StoredRows } from "../stores/stored-rows.ts";
import { makeBackup } from "./backup.ts";
import type { BackupPlace } from "./place.ts";
import { readSeal } from "./seal.ts";

/** A row of nine megabytes is a block of its own. */
function makeRows(count: number): StoredRows {
  let given = 0;
  return {
    storeId: "0".repeat(32),
    commitTs: 1,
    logHash: "",
    get share() {
      return given / count;
    },
    read(_bytes, visit) {
      given++;
      visit({ key: Buffer.from([given]), stored: randomBytes(9 * 1024 * 1024) });
      return given < count;
    },
    close: async () => {},
  };
}

test("a place that is full ends the backup with its words, whichever block met it, and lets it go", async () => {
  let isHeld = false;
  const place: BackupPlace = {
    sizeOf: async () => undefined,
    async put(name) {
      await sleep(5);
      throw new Fault("E_BACKUP", `${name.slice(0, 6)} cannot be written: the disk is full`);
    },
    get: async () => undefined,
    list: async () => [],
    remove: async () => {},
    claim: async () => {
      isHeld = true;
      return async () => void (isHeld = false);
    },
  };
  const parts = { place, seal: readSeal(undefined) };
  const made = makeBackup(parts, makeRows(4), { version: "1", nowMs: 0, onProgress() {} });
  await expect(made).rejects.toThrow("blocks cannot be written: the disk is full");
  expect(isHeld).toBe(false);
  // Refusals that nobody has heard end the process.
  await sleep(50);
});
