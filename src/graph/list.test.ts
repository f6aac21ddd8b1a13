/** Lists of one and of many chunks under every bound, with and without a delta, against plain arrays. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { presenceList, tokenList } from "../codec/key.ts";
import { openMemoryStore } from "../stores/open.ts";
import type { Patch, Store } from "../store/store.ts";
import { drive } from "../base/maybe.ts";
import { ListReader } from "./list.ts";
import { scanLists } from "./list-scan.ts";
import { Overlay } from "./overlay.ts";
import type { ListBounds } from "./reader.ts";
import { runs } from "../../test/support/runs.ts";

const tiny = {
  chunkBytesAim: 32,
  chunkBytesMax: 48,
  openBytesMax: 30,
  partBytesMax: 400,
  cellBytesMax: 64,
  shortEdgesMax: 3,
  shortEdgeBytesMax: 64,
  shortEdgesBack: 2,
  shortEdgeBytesBack: 32,
};

const list = tokenList(1, 7, Uint8Array.of(1));

async function fill(members: readonly number[], prefix = list): Promise<Store> {
  const store = openMemoryStore({ tuning: tiny });
  await add(store, members, prefix);
  return store;
}

async function add(store: Store, members: readonly number[], prefix: Uint8Array): Promise<void> {
  const patches = members.map((member): Patch => ({
    kind: "member",
    list: prefix,
    member,
    add: true,
    facets: undefined,
    countIndex: 0,
    owner: 0,
  }));
  await store.commit({
    id: { slot: 1, floorTs: 0, sequence: members.length * 1000 + (prefix[9] ?? 0) },
    startTs: 0,
    basisTs: 0,
    fence: 0,
    conflictKeys: [],
    basisKeys: [],
    patches,
    log: new Uint8Array(0),
  });
}

const members = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 80 });
const bounds: fc.Arbitrary<ListBounds> = fc
  .record(
    {
      after: fc.integer({ min: 0, max: 420 }),
      skip: fc.integer({ min: 0, max: 90 }),
      limit: fc.integer({ min: 0, max: 90 }),
      reverse: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map((given) => given as ListBounds);

function cut(all: readonly number[], given: ListBounds): number[] {
  let kept = all.filter((uid) => uid > (given.after ?? 0)).toSorted((a, b) => a - b);
  if (given.reverse === true) kept = kept.toReversed();
  kept = kept.slice(given.skip ?? 0).slice(0, given.limit ?? Infinity);
  return kept.toSorted((a, b) => a - b);
}

test("rows, walks, counts and intersections agree with a plain array", async () => {
  await fc.assert(
    fc.asyncProperty(members, members, members, bounds, async (stored, added, removed, given) => {
      const store = await fill(stored);
      const overlay = new Overlay();
      for (const uid of removed) overlay.setMember(list, uid, undefined);
      for (const uid of added) overlay.setMember(list, uid, new Uint8Array(0));
      const merged = [...new Set([...stored.filter((uid) => !removed.includes(uid)), ...added])];
      const snapshot = await store.snapshot();
      for (const [reader, all] of [
        [new ListReader(snapshot, undefined), stored],
        [new ListReader(snapshot, overlay), merged],
      ] as const) {
        const wanted = cut(all, given);
        const [row] = await reader.readRows([list], given);
        expect([...row!.uids]).toEqual(wanted);
        const walked: number[] = [];
        await reader.walk(list, given, (uids) => {
          if (given.reverse === true) walked.unshift(...uids);
          else walked.push(...uids);
          return true;
        });
        expect(walked).toEqual(wanted);
        expect([...(await reader.countRows([list]))]).toEqual([all.length]);
        const probe = Float64Array.from(added.concat(removed)).sort();
        const unique = probe.filter((uid, i) => uid !== probe[i - 1]);
        const few = unique.slice(0, 2);
        for (const uids of [unique, few]) {
          expect([...(await reader.intersect(list, uids))]).toEqual(
            [...uids].filter((uid) => all.includes(uid)),
          );
        }
      }
    }),
    { numRuns: runs(300) },
  );
});

test("scans give every list of an id once, in both directions, long ones in blocks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(members, { minLength: 1, maxLength: 6 }),
      fc.array(members, { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      async (stored, changed, reverse) => {
        const store = openMemoryStore({ tuning: tiny });
        const overlay = new Overlay();
        const wanted = new Map<number, Set<number>>();
        for (const [i, uids] of stored.entries()) {
          await add(store, uids, tokenList(1, 7, Uint8Array.of(i + 1)));
          wanted.set(i, new Set(uids));
        }
        for (const [i, uids] of changed.entries()) {
          for (const uid of uids.slice(0, 5)) {
            const has = wanted.get(i)?.has(uid) === true;
            overlay.setMember(
              tokenList(1, 7, Uint8Array.of(i + 1)),
              uid,
              has ? undefined : new Uint8Array(0),
            );
            if (has) wanted.get(i)?.delete(uid);
            else wanted.set(i, (wanted.get(i) ?? new Set()).add(uid));
          }
        }
        const reader = new ListReader(await store.snapshot(), overlay);
        const under = tokenList(1, 7, new Uint8Array(0)).subarray(0, 9);
        const scan = { range: { start: under, end: Uint8Array.of(...under, 255) }, reverse, under };
        const order: number[] = [];
        const found = new Map<number, number[]>();
        const tokenOf = (prefix: Uint8Array): number => prefix[9]! - 1;
        await drive(
          scanLists(reader, scan, {
            kind: "uids",
            visit: (prefix, uids) => {
              const token = tokenOf(prefix);
              if (order[order.length - 1] !== token) order.push(token);
              found.set(token, [...(found.get(token) ?? []), ...uids]);
              return true;
            },
          }),
        );
        const tokens = [...wanted.keys()].filter((i) => wanted.get(i)!.size > 0);
        tokens.sort((a, b) => (reverse ? b - a : a - b));
        expect(order).toEqual(tokens);
        for (const token of tokens) {
          expect(found.get(token)).toEqual([...wanted.get(token)!].toSorted((a, b) => a - b));
        }
        const counts: [number, number][] = [];
        await drive(
          scanLists(reader, scan, {
            kind: "counts",
            visit: (prefix, count) => {
              counts.push([tokenOf(prefix), count]);
              return true;
            },
          }),
        );
        expect(counts).toEqual(tokens.map((token) => [token, wanted.get(token)!.size]));
      },
    ),
    { numRuns: runs(150) },
  );
});

test("a walk that is stopped reads no further", async () => {
  const store = await fill(
    Array.from({ length: 300 }, (_, i) => i + 1),
    presenceList(1, 3),
  );
  const reader = new ListReader(await store.snapshot(), undefined);
  let blocks = 0;
  await reader.walk(presenceList(1, 3), {}, () => ++blocks < 2);
  expect(blocks).toBe(2);
});
