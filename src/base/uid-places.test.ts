import fc from "fast-check";
import { expect, test } from "vitest";
import { UidPlaces } from "./uid-places.ts";
import { runs } from "../../test/support/runs.ts";

test("uids are numbered in the order in which they come", () => {
  const uid = fc.oneof(
    fc.integer({ min: 1, max: 5000 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.integer({ min: 1, max: 0x1fffff }).map((high) => high * 0x100000000),
  );
  fc.assert(
    fc.property(fc.array(uid, { maxLength: 3000, size: "max" }), (uids) => {
      const places = new UidPlaces();
      const plain = new Map<number, number>();
      for (const each of uids) {
        expect(places.find(each)).toBe(plain.get(each) ?? -1);
        if (!plain.has(each)) plain.set(each, plain.size);
        expect(places.add(each)).toBe(plain.get(each));
      }
      expect(places.size).toBe(plain.size);
    }),
    { numRuns: runs(40) },
  );
});
