import { expect, it } from "vitest";
import { decodeCell, encodeCell } from "../codec/cell.ts";
import { encodeCells, encodePart } from "../codec/record.ts";
import type { Snapshot, Store } from "../store/store.ts";
import { RecordCache } from "./cache.ts";
import { NodeRecord } from "./record.ts";

const name = encodeCells(new Map([["", encodeCell({ kind: "string", text: "Ada" })]]));
const part = encodePart([{ predicate: 1, bytes: name }]);

/** A snapshot at which nothing is new. */
const store = {} as Store;
const snapshot = { ts: 0 } as Snapshot;

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
  const before = cache.account.bytes;
  expect(before).toBeGreaterThan(12 * part.length);
  for (const record of records) record.entry(1);
  for (const record of records) record.entry(1);
  expect(cache.account.bytes).toBe(records.reduce((sum, record) => sum + record.weight, 0));
  expect(cache.account.bytes).toBeGreaterThan(5000);
  void cache.advance(store, snapshot);
  expect(cache.account.bytes).toBe(0);
});

it("values that lie in rows of their own count with their bytes", () => {
  const cache = new RecordCache(10_000);
  const [record] = fill(cache, 1, 1);
  const cell = encodeCell({ kind: "string", text: "wide ".repeat(1000) });
  record!.setCells(2, [decodeCell(cell)], cell.length);
  expect(record!.weight).toBeGreaterThan(5000);
  expect(cache.account.bytes).toBe(record!.weight);
});

it("what was used last stays, the rest goes", () => {
  const cache = new RecordCache(10_000);
  const [first] = fill(cache, 1, 1);
  for (let round = 1; round < 20; round++) {
    fill(cache, round * 100, 10);
    expect(cache.get(1, 1, 0)).toBe(first);
    expect(cache.account.bytes).toBeLessThanOrEqual(5000);
  }
  expect(cache.get(1, 100, 0)).toBeUndefined();
});
