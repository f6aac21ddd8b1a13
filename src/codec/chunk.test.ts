import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  appendToChunk,
  chunkCount,
  chunkFacets,
  chunkFirst,
  chunkLast,
  chunkMembers,
  decodeHead,
  encodeChunk,
  encodeHead,
  encodePlainChunk,
  growChunk,
  isHead,
  listCount,
  noChunkFacets,
  openChunkOf,
} from "./chunk.ts";

const gap = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: 2 ** 31 }),
  fc.integer({ min: 1, max: 2 ** 45 }),
);
const facet = fc.option(fc.uint8Array({ minLength: 1, maxLength: 200 }), { nil: undefined });
const members = fc.array(fc.tuple(gap, facet), { minLength: 1, maxLength: 60 });

function lay(pairs: readonly (readonly [number, Uint8Array | undefined])[], from = 0) {
  const uids = new Float64Array(pairs.length);
  const facets = new Map<number, Uint8Array>();
  let uid = from;
  pairs.forEach(([step, bytes], place) => {
    uid += step;
    uids[place] = uid;
    if (bytes !== undefined) facets.set(place, bytes);
  });
  return { uids, facets };
}

describe("chunks", () => {
  it("decode to what was encoded", () => {
    fc.assert(
      fc.property(members, (pairs) => {
        const { uids, facets } = lay(pairs);
        const row = encodeChunk(uids, facets);
        expect([...chunkMembers(row)]).toEqual([...uids]);
        expect(chunkFacets(row)).toEqual(facets);
        expect([chunkCount(row), listCount(row), isHead(row)]).toEqual([
          uids.length,
          uids.length,
          false,
        ]);
        expect([chunkFirst(row), chunkLast(row)]).toEqual([uids[0], uids.at(-1)]);
      }),
    );
  });

  it("without facets are written behind other bytes, and grow there", () => {
    fc.assert(
      fc.property(members, members, fc.uint8Array({ maxLength: 9 }), (old, added, front) => {
        const first = lay(old);
        const second = lay(added, first.uids.at(-1));
        const plain = encodePlainChunk([...first.uids], front.length);
        expect(plain.slice(front.length)).toEqual(encodeChunk(first.uids, noChunkFacets));
        const row = encodeChunk(first.uids, first.facets);
        const placed = Uint8Array.of(...front, ...row);
        expect(growChunk(placed, front.length, [...second.uids])).toEqual(
          Uint8Array.of(...front, ...appendToChunk(row, second.uids, noChunkFacets)),
        );
      }),
    );
  });

  it("grow by appending to what encoding all gives", () => {
    fc.assert(
      fc.property(members, members, (old, added) => {
        const first = lay(old);
        const second = lay(added, first.uids.at(-1));
        const grown = appendToChunk(
          encodeChunk(first.uids, first.facets),
          second.uids,
          second.facets,
        );
        const all = lay([...old, ...added]);
        expect(Buffer.compare(grown, encodeChunk(all.uids, all.facets))).toBe(0);
      }),
    );
  });

  it("have heads with exact counts", () => {
    const head = { count: 2 ** 40, chunks: 7, tail: 2 ** 53 - 1 };
    const row = encodeHead(head);
    expect(isHead(row)).toBe(true);
    expect(decodeHead(row)).toEqual(head);
    expect(listCount(row)).toBe(2 ** 40);
    expect(openChunkOf(row)).toBeUndefined();
    const open = encodeChunk(Float64Array.of(5, 9), new Map());
    const longer = encodeHead(head, open);
    expect(decodeHead(longer)).toEqual(head);
    expect(openChunkOf(longer)).toEqual(open);
  });
});
