import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  gallop,
  hasMember,
  intersect,
  intersectAll,
  lowerBound,
  sortUnique,
  subtract,
  union,
  unionAll,
} from "./sorted.ts";

const members = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
const many = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 900 });
const set = fc.oneof(members, many).map((values) => toSet(values));

function toSet(values: Iterable<number>): Float64Array {
  return Float64Array.from(new Set(values)).sort();
}

describe("sorted sets agree with Set", () => {
  it("intersect, union, subtract", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const inB = new Set(b);
        expect([...intersect(a, b)]).toEqual([...a].filter((uid) => inB.has(uid)));
        expect([...union(a, b)]).toEqual([...toSet([...a, ...b])]);
        expect([...subtract(a, b)]).toEqual([...a].filter((uid) => !inB.has(uid)));
      }),
    );
  });

  it("many at once", () => {
    fc.assert(
      fc.property(fc.array(set, { maxLength: 12 }), (sets) => {
        expect([...unionAll(sets)]).toEqual([...toSet(sets.flatMap((one) => [...one]))]);
        const [first = new Float64Array(0), ...rest] = sets;
        const common = [...first].filter((uid) => rest.every((one) => one.includes(uid)));
        expect([...intersectAll(sets)]).toEqual(common);
      }),
    );
  });

  it("places", () => {
    fc.assert(
      fc.property(set, fc.integer({ min: -1, max: 5001 }), (a, value) => {
        const place = [...a].filter((uid) => uid < value).length;
        expect(lowerBound(a, value)).toBe(place);
        expect(gallop(a, value, 0)).toBe(place);
        expect(gallop(a, value, place >> 1)).toBe(place);
        expect(hasMember(a, value)).toBe(a.includes(value));
      }),
    );
  });

  it("sortUnique", () => {
    fc.assert(
      fc.property(many, (values) => {
        expect([...sortUnique(Float64Array.from(values))]).toEqual([...toSet(values)]);
      }),
    );
  });
});
