import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap, selectFirst } from "./heap.ts";

const isBefore = (a: number, b: number): boolean => a < b;

describe("heap", () => {
  it("gives what it holds in order", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (values) => {
        const heap = new Heap(isBefore);
        for (const value of values) heap.push(value);
        expect(heap.drain()).toEqual(values.toSorted((a, b) => a - b));
      }),
    );
  });

  it("selects the first ones", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.nat(20), (values, count) => {
        const wanted = values.toSorted((a, b) => a - b).slice(0, count);
        expect(selectFirst(values, count, isBefore)).toEqual(wanted);
      }),
    );
  });
});
