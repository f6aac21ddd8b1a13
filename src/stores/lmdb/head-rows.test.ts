import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { decodeHead, encodeHead, isHead } from "../../codec/chunk.ts";
import {
  chunkKey,
  countList,
  keyKind,
  longList,
  presenceList,
  readKind,
  recordKey,
  tokenList,
} from "../../codec/key.ts";
import { readWholeList } from "../../store/contract/read-whole.ts";
import { makeChange } from "../../store/contract.ts";
import type { Patch } from "../../store/store.ts";
import { checkStore } from "../check.ts";
import { openReadOnly, openWriter, type Writer } from "../lmdb.ts";
import { Environment } from "./environment.ts";
import { formatVersion, readHeader, writeClosed } from "./header.ts";
import { transact } from "../key-value.ts";
import { headRowKey, isStub, liesApart, listKeyOf, stubRow } from "./head-rows.ts";

const dirs: string[] = [];

function makeDir(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), "weft-heads-"));
  dirs.push(dir);
  return dir;
}

afterEach(() => {
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

function open(dir: string): Promise<Writer> {
  return openWriter({
    dir,
    logger: silentLogger,
    clock: systemClock,
  });
}

const words = tokenList(1, 7, new Uint8Array([97]));
const short = tokenList(1, 7, new Uint8Array([98]));
const counts = countList(1, 8, 2);

function members(list: Uint8Array, uids: readonly number[], add = true): Patch[] {
  return uids.map((member) => ({
    kind: "member",
    list,
    member,
    add,
    facets: undefined,
    countIndex: 0,
    owner: 0,
  }));
}

function spaced(count: number, step: number): number[] {
  return Array.from({ length: count }, (_, i) => i * step + 1);
}

async function listOf(writer: Writer, prefix: Uint8Array): Promise<number[]> {
  const snapshot = await writer.store.snapshot();
  try {
    return [...(await readWholeList(snapshot, prefix)).keys()];
  } finally {
    snapshot.close();
  }
}

/** Problems that `weft check` tells, and how many heads lie apart. */
async function look(dir: string): Promise<{ problems: string[]; apart: number }> {
  const store = await openReadOnly(dir);
  const problems: string[] = [];
  let apart = 0;
  const snapshot = store.snapshot();
  void snapshot.scan({ start: new Uint8Array(1), end: new Uint8Array(8).fill(255) }, (key) => {
    if (readKind(key) === keyKind.head) apart++;
    return true;
  });
  snapshot.close();
  const report = ({ problem }: { problem: string }): number => problems.push(problem);
  await checkStore({ open: () => store.snapshot(), report, sliceRows: 2 });
  await store.close();
  return { problems, apart };
}

describe("keys of heads", () => {
  it("lie in a range of their own and lead back", () => {
    for (const list of [words, counts, presenceList(1, 3)]) {
      const key = chunkKey(list, 0);
      expect(readKind(headRowKey(key))).toBe(keyKind.head);
      expect(listKeyOf(headRowKey(key))).toEqual(key);
      expect(isStub(key, stubRow)).toBe(true);
      expect(isStub(chunkKey(list, 9), stubRow)).toBe(false);
    }
    const head = encodeHead({ count: 9, chunks: 2, tail: 5 });
    expect(liesApart(chunkKey(words, 0), head)).toBe(true);
    expect(liesApart(chunkKey(longList(1, 2, 3), 0), head)).toBe(false);
    expect(liesApart(recordKey(1, 5), head)).toBe(false);
  });
});

describe("a store of format 2", () => {
  it("is read as it is, and its heads move when they are written again", async () => {
    const dir = makeDir();
    const bytes = gunzipSync(fs.readFileSync(join(import.meta.dirname, "format-2.store.gz")));
    fs.writeFileSync(join(dir, "weft.store"), bytes.subarray(0, 43));
    fs.writeFileSync(join(dir, "data.mdb"), bytes.subarray(43));
    expect(await look(dir)).toEqual({ problems: [], apart: 0 });
    const long = [...spaced(2000, 300), 600_001, 600_002, 600_003, 600_004];
    const counted = [...spaced(1500, 200), 400_001, 400_002, 400_003, 400_004];
    const first = await open(dir);
    expect(await listOf(first, words)).toEqual(long);
    await first.store.commit(makeChange({ patches: members(words, [2, 700_000]) }));
    expect(await listOf(first, words)).toEqual([1, 2, ...long.slice(1), 700_000]);
    expect(await listOf(first, counts)).toEqual(counted);
    expect(await listOf(first, short)).toEqual([5]);
    await first.close();
    expect(fs.readFileSync(join(dir, "weft.store")).readUInt32LE(11)).toBe(formatVersion);
    expect(await look(dir)).toEqual({ problems: [], apart: 1 });
    const second = await open(dir);
    await second.store.commit(makeChange({ patches: members(counts, [400_005]) }));
    expect(await listOf(second, counts)).toEqual([...counted, 400_005]);
    await second.close();
    expect(await look(dir)).toEqual({ problems: [], apart: 2 });
  });
});

describe("heads apart", () => {
  it("come with a list's second chunk and go with its last but one", async () => {
    const dir = makeDir();
    const uids = spaced(3000, 300);
    const change = async (patches: Patch[]): Promise<void> => {
      const writer = await open(dir);
      await writer.store.commit(makeChange({ patches }));
      await writer.close();
    };
    await change(members(words, uids.slice(0, 10)));
    expect(await look(dir)).toEqual({ problems: [], apart: 0 });
    await change(members(words, uids));
    expect(await look(dir)).toEqual({ problems: [], apart: 1 });
    await change(members(words, uids.slice(5), false));
    expect(await look(dir)).toEqual({ problems: [], apart: 0 });
    await change(members(words, uids));
    await change(members(words, uids, false));
    expect(await look(dir)).toEqual({ problems: [], apart: 0 });
  });

  it("are swept with their index and with their storage", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    const uids = spaced(3000, 300);
    const patches = [...members(words, uids), ...members(counts, uids)];
    await writer.store.commit(makeChange({ patches }));
    const index = { kind: "index", storageId: 1, index: 7, limit: 2 } as const;
    while (!(await writer.store.sweep(index)).done);
    expect((await look(dir)).apart).toBe(1);
    expect(await listOf(writer, counts)).toEqual(uids);
    const storage = { kind: "storage", storageId: 1, limit: 2 } as const;
    while (!(await writer.store.sweep(storage)).done);
    expect(await look(dir)).toEqual({ problems: [], apart: 0 });
    await writer.close();
  });

  it("are not what a failed transaction put", async () => {
    const environment = new Environment({ dir: makeDir(), noSync: true });
    const engine = environment.writeEngine();
    const key = chunkKey(words, 0);
    const put = (count: number, fails: boolean): void =>
      transact(engine, (kv) => {
        kv.put(key, encodeHead({ count, chunks: 2, tail: 5 }));
        if (fails) throw new Error("no");
      });
    const counted = (): number | undefined =>
      transact(engine, (kv) => {
        const row = kv.get(key);
        return row === undefined || !isHead(row) ? undefined : decodeHead(row).count;
      });
    expect(() => put(1, true)).toThrow("no");
    expect(counted()).toBe(undefined);
    put(2, false);
    expect(() => put(3, true)).toThrow("no");
    expect(counted()).toBe(2);
    await environment.close();
  });

  it("that are missing, or that no list names, are told", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    const patches = [...members(words, spaced(3000, 300)), ...members(counts, spaced(3000, 300))];
    await writer.store.commit(makeChange({ patches }));
    await writer.close();
    const environment = new Environment({ dir });
    transact(environment.writeEngine(), (kv) => {
      kv.remove(headRowKey(chunkKey(words, 0)));
      kv.put(headRowKey(chunkKey(short, 0)), encodeHead({ count: 9, chunks: 2, tail: 5 }));
    });
    await environment.close();
    writeClosed(dir, readHeader(dir).storeId);
    const again = await open(dir);
    await expect(listOf(again, words)).rejects.toThrow("is damaged");
    const [patch] = members(words, [4]);
    await expect(again.store.commit(makeChange({ patches: [patch!] }))).rejects.toThrow("damaged");
    await again.close();
    const store = await openReadOnly(dir);
    const problems: string[] = [];
    const report = ({ problem }: { problem: string }): number => problems.push(problem);
    await checkStore({ open: () => store.snapshot(), report });
    await store.close();
    expect(problems).toContain("its head is missing");
    expect(problems).toContain("a head that no list names");
  });
});
