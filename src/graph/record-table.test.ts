import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../test/support/runs.ts";
import { RecordTable } from "./record-table.ts";
import { NodeRecord } from "./record.ts";

const uid = fc.oneof(
  fc.integer({ min: 1, max: 60 }),
  fc.integer({ min: 0x7fffffe0, max: 0x80000020 }),
  fc.integer({ min: Number.MAX_SAFE_INTEGER - 40, max: Number.MAX_SAFE_INTEGER }),
);

it("is a map from uids to records", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(uid, fc.boolean())), (steps) => {
      const table = new RecordTable();
      const model = new Map<number, NodeRecord>();
      for (const [at, isPut] of steps) {
        const record = new NodeRecord(undefined, 0);
        if (isPut) {
          table.set(at, record);
          model.set(at, record);
        } else {
          table.delete(at);
          model.delete(at);
        }
        for (const [asked] of steps) expect(table.get(asked)).toBe(model.get(asked));
      }
    }),
    { numRuns: runs(200) },
  );
});

it("tells what it takes for a page once", () => {
  const table = new RecordTable();
  expect(table.isEmpty).toBe(true);
  const first = table.set(16, new NodeRecord(undefined, 0));
  expect(first).toBeGreaterThan(0);
  expect(table.isEmpty).toBe(false);
  for (let neighbour = 17; neighbour < 32; neighbour++) {
    expect(table.set(neighbour, new NodeRecord(undefined, 0))).toBe(0);
  }
  expect(table.set(32, new NodeRecord(undefined, 0))).toBe(first);
});
