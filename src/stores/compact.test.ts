import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { silentLogger } from "../base/log.ts";
import { metaKey } from "../codec/key.ts";
import { makeChange } from "../store/contract.ts";
import type { Patch } from "../store/store.ts";
import { compactStore } from "./compact.ts";
import { openReadOnly, openWriter, type Writer } from "./lmdb.ts";
import { readHeader, writeOpen } from "./lmdb/header.ts";

const dirs: string[] = [];

afterEach(() => {
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

const kept = Array.from({ length: 40 }, (_, i) => `kept ${i}`);

/** Most of what its file holds was deleted. */
async function makeStore(): Promise<string> {
  const dir = fs.mkdtempSync(join(tmpdir(), "weft-compact-"));
  dirs.push(dir);
  const writer = await open(dir);
  const large = Array.from({ length: 400 }, (_, i) => `large ${i}`);
  for (const name of large) await put(writer, name, "x".repeat(9000));
  for (const name of kept) await put(writer, name, name);
  for (const name of large) await put(writer, name, undefined);
  await writer.close();
  return dir;
}

function open(dir: string): Promise<Writer> {
  return openWriter({ dir, logger: silentLogger, clock: systemClock, claimWaitMs: 0 });
}

async function put({ store }: Writer, name: string, value: string | undefined): Promise<void> {
  const patch: Patch = {
    kind: "meta",
    key: metaKey(1, name),
    value: value === undefined ? undefined : encodeUtf8(value),
    expected: "any",
  };
  await store.commit(makeChange({ patches: [patch] }));
}

async function expectKept(dir: string): Promise<void> {
  const store = await openReadOnly(dir);
  const snapshot = store.snapshot();
  const keys = kept.map((name) => metaKey(1, name));
  const found: (string | undefined)[] = [];
  void snapshot.readMany(keys, (i, row) => {
    found[i] = row === undefined ? undefined : Buffer.from(row).toString();
  });
  snapshot.close();
  await store.close();
  expect(found).toEqual(kept);
}

/** Of all files, to show that nothing was changed. */
function contentOf(dir: string): Record<string, string> {
  const names = fs.readdirSync(dir).filter((name) => name !== "lock.mdb");
  return Object.fromEntries(
    names.map((name) => [name, fs.readFileSync(join(dir, name)).toString("base64")]),
  );
}

const ignore = { onProgress(): void {} };

describe("weft compact", () => {
  it("gives room back; the store keeps its rows, its identity and its numbers", async () => {
    const dir = await makeStore();
    const before = fs.statSync(join(dir, "data.mdb")).size;
    const { storeId } = readHeader(dir);
    let told = 0;
    const { rows, bytesBefore, bytesAfter } = await compactStore(dir, {
      onProgress: (_bytes, done) => {
        told = done;
      },
    });
    expect(bytesBefore).toBe(before);
    expect(bytesAfter).toBe(fs.statSync(join(dir, "data.mdb")).size);
    // The log keeps what was written of late.
    expect(bytesAfter).toBeLessThan(before * 0.6);
    expect(rows).toBeGreaterThan(kept.length);
    expect(told).toBe(rows);
    expect(fs.readdirSync(dir)).not.toContain("compact.new");
    expect(readHeader(dir)).toMatchObject({ storeId, state: "closed" });
    await expectKept(dir);
    const writer = await open(dir);
    await put(writer, "later", "1");
    await writer.close();
    await expectKept(dir);
    expect((await compactStore(dir, ignore)).rows).toBeGreaterThanOrEqual(rows + 1);
  });

  it("that was killed leaves a store that opens, with the old file or the new one", async () => {
    const old = await makeStore();
    const { storeId } = readHeader(old);
    fs.mkdirSync(join(old, "compact.new"));
    fs.writeFileSync(join(old, "compact.new", "data.mdb"), "half");
    await expectKept(old);
    writeOpen(old, storeId, "unjournaled");
    await (await open(old)).close();
    await expectKept(old);
    await compactStore(old, ignore);
    expect(fs.readdirSync(old)).not.toContain("compact.new");
    writeOpen(old, storeId, "unjournaled");
    await (await open(old)).close();
    await expectKept(old);
  });

  it("refuses what is open, was not closed, is damaged or is no store, and changes nothing", async () => {
    const dir = await makeStore();
    const writer = await open(dir);
    await expect(compactStore(dir, ignore)).rejects.toThrow("is open");
    await writer.close();
    const { storeId } = readHeader(dir);

    const damaged = `${dir}-damaged`;
    dirs.push(damaged);
    fs.cpSync(dir, damaged, { recursive: true });
    const file = join(damaged, "data.mdb");
    const bytes = fs.readFileSync(file);
    // Copies that lie on free pages are nobody's.
    for (let at = bytes.indexOf("kept 7"); at >= 0; at = bytes.indexOf("kept 7")) bytes[at]! ^= 4;
    fs.writeFileSync(file, bytes);
    const was = contentOf(damaged);
    await expect(compactStore(damaged, ignore)).rejects.toThrow(/is damaged: .*weft check/);
    expect(contentOf(damaged)).toEqual(was);

    writeOpen(dir, storeId, "unjournaled");
    const unclosed = contentOf(dir);
    await expect(compactStore(dir, ignore)).rejects.toThrow("was not closed in order");
    expect(contentOf(dir)).toEqual(unclosed);
    const empty = `${dir}-empty`;
    await expect(compactStore(empty, ignore)).rejects.toThrow("there is no store at");
    expect(fs.existsSync(empty)).toBe(false);
  });
});
