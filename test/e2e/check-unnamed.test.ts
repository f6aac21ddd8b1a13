// Goal: `weft check` judges what a schema names: a drop's rows go in slices, a restore's come in slices.
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeChange } from "../../src/store/contract.ts";
import { openEngine } from "../../src/engine/open.ts";
import { openWriter } from "../../src/stores/open.ts";
import type { Patch } from "../../src/store/store.ts";
import { cleanUp, makeFolder, runWeft } from "./server.ts";

afterAll(cleanUp);

async function checkHalf(storageId: number): Promise<{ code: number | null; stderr: string }> {
  const dir = join(makeFolder(), "data");
  const writer = await openWriter({ dir, logger: silentLogger, clock: systemClock });
  const engine = await openEngine({ store: writer.store, clock: systemClock });
  const cell = (uid: number): Patch => ({
    kind: "cell",
    storageId,
    uid,
    predicate: 100,
    slot: "",
    cell: new Uint8Array([1, 4, 34, 34]),
    countIndex: 0,
  });
  await writer.store.commit(
    makeChange({ patches: Array.from({ length: 50 }, (_, i) => cell(i + 1)) }),
  );
  // Records go first: what lists them stays.
  await writer.store.sweep({ kind: "storage", storageId, limit: 20 });
  await engine.close();
  await writer.close();
  const { code, stderr } = await runWeft(["check", "--data", dir]);
  return { code, stderr };
}

test("rows of a storage id that no schema names are not missed", async () => {
  expect(await checkHalf(77)).toEqual({ code: 0, stderr: "" });
}, 30_000);

test("those of a namespace's are", async () => {
  const { code, stderr } = await checkHalf(1);
  expect(code).toBe(1);
  expect(stderr).toContain("is listed and has no such predicate");
}, 30_000);
