import { expect, it } from "vitest";
import { decodeCell, encodeCell } from "../codec/cell.ts";
import { encodeCells, encodePart } from "../codec/record.ts";
import type { Snapshot, Store, TouchVisitor } from "../store/store.ts";
import { RecordCache } from "./cache.ts";
import { NodeRecord } from "./record.ts";

const name = encodeCells(new Map([["", encodeCell({ kind: "string", text: "Ada" })]]));
const part = encodePart([{ predicate: 1, bytes: name }]);

/** A snapshot at which nothing is new. */
const store = {} as Store;
const snapshot = { ts: 0 } as Snapshot;

function get(cache: RecordCache, uid: number): NodeRecord | undefined {
  const records: NodeRecord[] = [];
  const missing = cache.find({ storageId: 1, ts: 0 }, Float64Array.of(uid), records);
  expect(missing).toEqual(records[0] === undefined ? [0] : []);
  return records[0];
}

function fill(cache: RecordCache, from: number, count: number): NodeRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const record = new NodeRecord(part, 0, cache.account);
    cache.set(1, from + i, record);
    return record;
  });
}

it("what is decoded counts as what is kept", () => {
  const cache = new RecordCache(10_000);
  const records = fill(cache, 1, 12);
  const weigh = () => records.reduce((sum, record) => sum + record.weight, 0);
  const before = cache.account.bytes - weigh();
  // The page that they share.
  expect(before).toBeGreaterThan(0);
  for (const record of records) record.entry(1);
  for (const record of records) record.entry(1);
  expect(cache.account.bytes).toBe(before + weigh());
  expect(cache.account.bytes).toBeGreaterThan(5000);
  void cache.advance(store, snapshot);
  expect(cache.account.bytes).toBe(0);
});

it("values that lie in rows of their own count with their bytes", () => {
  const cache = new RecordCache(10_000);
  const [record] = fill(cache, 1, 1);
  const before = cache.account.bytes - record!.weight;
  const cell = encodeCell({ kind: "string", text: "wide ".repeat(1000) });
  record!.setCells(2, [decodeCell(cell)], cell.length);
  expect(record!.weight).toBeGreaterThan(5000);
  expect(cache.account.bytes).toBe(before + record!.weight);
});

it("what was used last stays, the rest goes", () => {
  const cache = new RecordCache(10_000);
  const [first] = fill(cache, 1, 1);
  for (let round = 1; round < 20; round++) {
    fill(cache, round * 100, 10);
    expect(get(cache, 1)).toBe(first);
    expect(cache.account.bytes).toBeLessThanOrEqual(5000);
  }
  expect(get(cache, 100)).toBeUndefined();
});

it("finds what it has among others, in both generations", () => {
  const cache = new RecordCache(40_000);
  const kept = fill(cache, 10, 12);
  const asked = Float64Array.of(9, 10, 21, 22, 15, 2 ** 40, 15);
  const find = () => {
    const records: NodeRecord[] = [];
    return { missing: cache.find({ storageId: 1, ts: 0 }, asked, records), records };
  };
  const expected: NodeRecord[] = [];
  for (const i of [1, 2, 4, 6]) expected[i] = kept[asked[i]! - 10]!;
  expect(find()).toEqual({ missing: [0, 3, 5], records: expected });
  // Fills the younger generation until it becomes the older one.
  for (let from = 1000; cache.account.bytes > 0; from++) fill(cache, from, 1);
  expect(find()).toEqual({ missing: [0, 3, 5], records: expected });
  expect(cache.find({ storageId: 2, ts: 0 }, asked, [])).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

it("a commit too large to be read for its sake empties it, and nothing of the commit is visited", () => {
  const cache = new RecordCache(10_000);
  fill(cache, 1, 12);
  const asked: boolean[] = [];
  const log: Pick<Store, "walkLog"> = {
    walkLog: (_snapshot, _from, visitor) => {
      for (const [i, bytes] of [200, 2 * 1024 * 1024, 200].entries()) {
        asked.push(visitor.begin(i + 1, bytes));
      }
      return true;
    },
  };
  void cache.advance(log, { ts: 3 } as Snapshot);
  expect(asked).toEqual([true, false, false]);
  expect(cache.number).toBe(3);
  expect(cache.account.bytes).toBe(0);
  expect(get(cache, 1)).toBeUndefined();
});

it("with nothing in it knows of what number on nothing changed, and of what it passed over that it does not", () => {
  const cache = new RecordCache(10_000);
  const log = new Map<number, { bytes: number; isEmpty: boolean }>();
  const reading = {
    walkLog({ ts }: Snapshot, from: number, visitor: TouchVisitor): boolean {
      for (let at = from + 1; at <= ts; at++) {
        const { bytes, isEmpty } = log.get(at) ?? { bytes: 50, isEmpty: true };
        if (visitor.begin(at, bytes) && !isEmpty) visitor.record(1, 1, 1, true);
      }
      return true;
    },
  };
  const changedAt = (ts: number): number => {
    void cache.advance(reading, { ts } as Snapshot);
    expect(cache.number).toBe(ts);
    return cache.changedAt;
  };
  expect(changedAt(5)).toBe(0);
  log.set(6, { bytes: 50, isEmpty: false });
  expect(changedAt(6)).toBe(6);
  expect(changedAt(6 + 128)).toBe(6);
  log.set(150, { bytes: 50, isEmpty: false });
  expect(changedAt(160)).toBe(150);
  for (const at of [170, 171, 172]) log.set(at, { bytes: 400_000, isEmpty: true });
  expect(changedAt(171)).toBe(150);
  expect(changedAt(172)).toBe(150);
  for (const at of [180, 181, 182]) log.set(at, { bytes: 400_000, isEmpty: true });
  expect(changedAt(190)).toBe(190);
  expect(changedAt(2000)).toBe(2000);
});
