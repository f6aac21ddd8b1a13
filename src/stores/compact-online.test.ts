import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { encodeUtf8 } from "../base/bytes.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { metaKey } from "../codec/key.ts";
import { makeChange } from "../store/contract.ts";
import type { Patch, Store } from "../store/store.ts";
import { compactBesideServer, hasWriter } from "./compact-online.ts";
import { connectStore, openReadOnly, openWriter, type Writer } from "./lmdb.ts";
import { readHeader } from "./lmdb/header.ts";
import { LinkClient } from "./lmdb/link-client.ts";
import { encodeNumbers, frameKind } from "./lmdb/link-protocol.ts";
import { makeUserKey } from "./sealed/user-key.ts";
import { openStoredRows } from "./stored-rows.ts";

const dirs: string[] = [];
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

const kept = Array.from({ length: 40 }, (_, i) => `kept ${i}`);

/** Most of what its file holds was deleted. */
async function makeOpenStore(options: Partial<Parameters<typeof openWriter>[0]> = {}): Promise<{
  readonly dir: string;
  readonly writer: Writer;
}> {
  const dir = fs.mkdtempSync(join(tmpdir(), "weft-compact-"));
  dirs.push(dir);
  const writer = await openWriter({
    dir,
    logger: silentLogger,
    clock: systemClock,
    claimWaitMs: 0,
    retention: { ageMsMax: 1, bytesMax: 1 },
    ...options,
  });
  open.push(writer);
  const large = Array.from({ length: 400 }, (_, i) => `large ${i}`);
  await putAll(writer.store, large, () => "x".repeat(9000));
  await putAll(writer.store, kept, (name) => name);
  await putAll(writer.store, large, () => undefined);
  return { dir, writer };
}

async function putAll(
  store: Store,
  names: readonly string[],
  valueOf: (name: string) => string | undefined,
): Promise<void> {
  await Promise.all(names.map((name) => put(store, name, valueOf(name))));
}

async function put(store: Store, name: string, value: string | undefined): Promise<void> {
  const patch: Patch = {
    kind: "meta",
    key: metaKey(1, name),
    value: value === undefined ? undefined : encodeUtf8(value),
    expected: "any",
  };
  await store.commit(makeChange({ patches: [patch] }));
}

async function readAll(store: Pick<Store, "snapshot">, names: readonly string[]): Promise<unknown> {
  const snapshot = await store.snapshot();
  const found: (string | undefined)[] = [];
  await snapshot.readMany(
    names.map((name) => metaKey(1, name)),
    (i, row) => (found[i] = row === undefined ? undefined : Buffer.from(row).toString()),
  );
  snapshot.close();
  return found;
}

function dataBytesOf(dir: string): number {
  return fs.statSync(join(dir, "data.mdb")).size;
}

const quiet = { onProgress(): void {} };

describe("weft compact beside a writer", () => {
  it.each([
    ["of a plain store", undefined],
    ["of an encrypted one", makeUserKey(Buffer.alloc(32, 7))],
  ])(
    "gives room %s back; readers go on, and what is committed meanwhile is there",
    async (_what, encryption) => {
      const { dir, writer } = await makeOpenStore({ encryption });
      const { store } = writer;
      const reader = await connectStore({ dir, ...(encryption && { encryption }) });
      open.push(reader);
      const { storeId } = readHeader(dir);
      const before = dataBytesOf(dir);
      const older = await store.snapshot();
      let isOver = false;
      const written: string[] = [];
      const load = async (): Promise<void> => {
        for (let i = 0; !isOver; i++) {
          await put(store, `meanwhile ${i}`, `meanwhile ${i}`);
          written.push(`meanwhile ${i}`);
        }
      };
      const loads = load();
      expect(await hasWriter(dir)).toBe(true);
      const { bytesBefore, bytesAfter, rows } = await compactBesideServer(dir, quiet);
      isOver = true;
      await loads;
      expect(bytesBefore).toBeGreaterThanOrEqual(before);
      expect(bytesAfter).toBeLessThan(before * 0.6);
      expect(rows).toBeGreaterThan(0);
      expect(written.length).toBeGreaterThan(0);
      expect(fs.readdirSync(dir)).not.toContain("compact.new");
      expect(await readAll({ snapshot: () => older }, kept)).toEqual(kept);
      for (const one of [store, reader]) {
        expect(await readAll(one, [...kept, ...written])).toEqual([...kept, ...written]);
      }
      await put(store, "later", "1");
      expect(await readAll(reader, ["later"])).toEqual(["1"]);
      // Once more, and closed in order.
      await compactBesideServer(dir, quiet);
      await put(store, "later", "2");
      for (const one of open.splice(0).reverse()) await one.close();
      expect(readHeader(dir)).toMatchObject({ storeId, state: "closed" });
      const closed = await openReadOnly(dir, encryption && { encryption });
      expect(await readAll(closed, [...kept, ...written, "later"])).toEqual([
        ...kept,
        ...written,
        "2",
      ]);
      const problems: string[] = [];
      closed.verify((problem) => problems.push(problem));
      expect(problems).toEqual([]);
      await closed.close();
    },
  );

  it("changes nothing where the store is damaged, and lets the writer go on", async () => {
    const { dir, writer } = await makeOpenStore();
    const path = join(dir, "data.mdb");
    const bytes = fs.readFileSync(path);
    const file = fs.openSync(path, "r+");
    for (let at = bytes.indexOf("kept 7"); at >= 0; at = bytes.indexOf("kept 7", at + 1)) {
      fs.writeSync(file, "kapt", at);
    }
    fs.closeSync(file);
    const { ino } = fs.statSync(path);
    await expect(compactBesideServer(dir, quiet)).rejects.toThrow(/is damaged: .*weft check/);
    await put(writer.store, "later", "1");
    expect(await readAll(writer.store, ["later", "kept 8"])).toEqual(["1", "kept 8"]);
    expect(fs.statSync(path).ino).toBe(ino);
    await whenGone(join(dir, "compact.new"));
  });

  it("ends at once where the writer does", async () => {
    const { dir, writer } = await makeOpenStore();
    const long = Array.from({ length: 8 }, (_, i) => `long ${i}`);
    await putAll(writer.store, long, () => "x".repeat(900_000));
    const shares: number[] = [];
    const ended = {
      onProgress: async (share: number) => {
        shares.push(share);
        await writer.close();
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    };
    const why = /that writes to the store has ended meanwhile; the store is as it was$/;
    await expect(compactBesideServer(dir, ended)).rejects.toThrow(why);
    expect(shares).toHaveLength(1);
    expect(shares[0]).toBeLessThan(1);
    open.splice(0);
  });

  it("says so where a writer that began has cleared what it had made", async () => {
    const { dir } = await makeOpenStore();
    const cleared = {
      onProgress: () => fs.rmSync(join(dir, "compact.new", "changes"), { force: true }),
    };
    await expect(compactBesideServer(dir, cleared)).rejects.toThrow(/was started anew meanwhile$/);
  });

  it("leaves those who read the old file page by page on it", async () => {
    const { dir, writer } = await makeOpenStore();
    const rows = await openStoredRows(dir);
    open.push(rows);
    let count = 0;
    expect(rows.read(1000, () => count++)).toBe(true);
    await compactBesideServer(dir, quiet);
    // Their pages would be others in the new file.
    for (let i = 0; i < 300; i++) await put(writer.store, `later ${i % 50}`, "x".repeat(i));
    while (rows.read(1000, () => count++));
    const before = writer.store.describe();
    expect(rows.commitTs).toBeLessThan((await before).commitTs);
    expect(count).toBeGreaterThan(kept.length);
  });

  it("is one at a time; what one has left that ended is no hindrance", async () => {
    const { dir, writer } = await makeOpenStore();
    const { storeId } = readHeader(dir);
    const client = new LinkClient({ dir, storeId, waitMs: 5000, onNotice() {} });
    await client.askNumbers(frameKind.compactBegin, encodeNumbers());
    await put(writer.store, "noted", "1");
    expect(fs.statSync(join(dir, "compact.new", "changes")).size).toBeGreaterThan(0);
    await expect(compactBesideServer(dir, quiet)).rejects.toThrow("is being compacted already");
    client.close();
    await whenGone(join(dir, "compact.new"));
    await compactBesideServer(dir, quiet);
    expect(await readAll(writer.store, ["noted", ...kept])).toEqual(["1", ...kept]);
  });

  it("does not exchange the file where the copy lacks something", async () => {
    const { dir, writer } = await makeOpenStore();
    const { storeId } = readHeader(dir);
    const client = new LinkClient({ dir, storeId, waitMs: 5000, onNotice() {} });
    open.push({ close: async () => client.close() });
    await client.askNumbers(frameKind.compactBegin, encodeNumbers());
    await put(writer.store, "noted", "1");
    const ask = (applied: number): Promise<readonly number[]> =>
      client.askNumbers(frameKind.compactExchange, encodeNumbers(applied));
    const [isDone, bytes] = await ask(0);
    expect(isDone).toBe(0);
    // It says that it has all, and has nothing.
    await expect(ask(bytes!)).rejects.toThrow("lacks rows");
    await put(writer.store, "later", "1");
    expect(await readAll(writer.store, ["noted", "later"])).toEqual(["1", "1"]);
  });
});

async function whenGone(path: string): Promise<void> {
  await expect.poll(() => fs.existsSync(path), { timeout: 5000 }).toBe(false);
}
