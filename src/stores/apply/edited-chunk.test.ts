import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyBytes } from "../../base/bytes.ts";
import { encodeChunk } from "../../codec/chunk.ts";
import { EditedChunk } from "./edited-chunk.ts";

const uid = fc.integer({ min: 1, max: 60 });
const facets = fc.oneof(
  { weight: 4, arbitrary: fc.constant(emptyBytes) },
  fc.uint8Array({ minLength: 1, maxLength: 4 }),
);
const edit = fc.tuple(uid, fc.option(facets, { nil: undefined, freq: 4 }));

function encodeAll(members: ReadonlyMap<number, Uint8Array>): Uint8Array | undefined {
  if (members.size === 0) return undefined;
  const uids = Float64Array.from(members.keys()).sort();
  const held = new Map<number, Uint8Array>();
  uids.forEach((one, place) => {
    const bytes = members.get(one)!;
    if (bytes.length > 0) held.set(place, bytes);
  });
  return encodeChunk(uids, held);
}

describe("an edited chunk", () => {
  it("is what a Map of its members would be", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(uid, facets), { maxLength: 8 }),
        fc.oneof(
          fc.array(edit, { maxLength: 30 }),
          // What nearly all changes do: new members, ascending.
          fc
            .array(fc.tuple(uid, fc.constant(emptyBytes)), { maxLength: 30 })
            .map((edits) => edits.sort(([a], [b]) => a - b)),
        ),
        fc.integer({ min: 0, max: 3 }),
        (stored, edits, front) => {
          const twin = new Map(stored);
          const row = encodeAll(twin);
          const chunk =
            row === undefined
              ? new EditedChunk(undefined)
              : new EditedChunk(Uint8Array.of(...new Uint8Array(front), ...row), front);
          const last = Math.max(-1, ...twin.keys());
          for (const [one, value] of edits) {
            expect(chunk.find(one)).toEqual(twin.get(one));
            expect(chunk.edit(one, value)).toEqual(twin.get(one));
            if (value === undefined) twin.delete(one);
            else twin.set(one, value);
            expect(chunk.count).toBe(twin.size);
          }
          const expected = encodeAll(twin);
          const { uids, facets: held } = chunk.members();
          expect(
            encodeAll(new Map([...uids].map((one, i) => [one, held.get(i) ?? emptyBytes]))),
          ).toEqual(expected);
          if (chunk.isPlain) expect(held.size).toBe(0);
          const encoded = chunk.encode(front);
          expect(encoded?.slice(front)).toEqual(expected);
          if (encoded !== undefined)
            expect(encoded.length - front).toBeLessThanOrEqual(chunk.sizeMax);
          if (chunk.isAppend)
            expect([...twin.keys()].filter((one) => one <= last).length).toBe(
              stored.length === 0 ? 0 : new Set(stored.map(([one]) => one)).size,
            );
        },
      ),
    );
  });
});
