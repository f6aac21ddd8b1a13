import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConflictMap, KeyGroup } from "./conflict-map.ts";

const key = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc
    .integer({ min: 0, max: 9000 })
    .map((number) => String.fromCharCode(0, 0, 0, 255, 7, 0, number >> 8, number & 255)),
);

describe("conflict keys", () => {
  it("are known with their newest commit, as in a Map, down to the horizon", () => {
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 3000 }),
        fc.integer({ min: 2, max: 400 }),
        (keys, max) => {
          const map = new ConflictMap(5, max);
          const twin = new Map<string, number>();
          keys.forEach((one, i) => {
            map.record(one, 10 + i);
            twin.set(one, 10 + i);
          });
          for (const [one, commitTs] of twin) {
            const found = map.lastCommit(one);
            expect(found === commitTs || (found === undefined && commitTs <= map.horizon)).toBe(
              true,
            );
          }
          const known = [...twin.keys()].filter((one) => map.lastCommit(one) !== undefined);
          expect(known.length).toBeGreaterThanOrEqual(Math.min(twin.size, Math.floor(max / 2)));
          expect(known.length).toBeLessThanOrEqual(max + 1);
        },
      ),
    );
  });

  it("that were never written are not known", () => {
    const map = new ConflictMap(3, 10);
    expect(map.lastCommit("x")).toBeUndefined();
    expect(map.horizon).toBe(3);
  });

  it("of groups are judged as those of a Map, once they are recorded too", () => {
    const change = fc.record({
      keys: fc.array(key, { maxLength: 12 }),
      age: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 40 }), (groups) => {
        const map = new ConflictMap(0, 100_000);
        const twin = new Map<string, number>();
        const group = new KeyGroup();
        let commitTs = 1;
        for (const changes of groups) {
          for (const { keys, age } of changes) {
            const startTs = Math.max(0, commitTs - age);
            const isTouched = keys.some((one) => (twin.get(one) ?? 0) > startTs);
            expect(map.isTouched(keys, startTs, group)).toBe(isTouched);
            if (isTouched) continue;
            commitTs++;
            group.note(keys, commitTs);
            for (const one of keys) twin.set(one, commitTs);
          }
          map.recordGroup(group);
          group.clear();
        }
        for (const [one, ts] of twin) expect(map.lastCommit(one)).toBe(ts);
      }),
    );
  });
});
