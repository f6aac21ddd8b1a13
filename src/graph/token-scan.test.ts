/**
 * Goal: scans through kept windows give what a plain model gives, at the newest commit and at older ones.
 * Method: random commits to the lists of one index, in a store with tiny chunks; after each the cache is brought up to
 * it, and random stretches are scanned both ways, stopped anywhere.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { drive } from "../base/maybe.ts";
import { indexPrefix, keyKind, readToken, tokenList } from "../codec/key.ts";
import type { Patch, Snapshot, Store } from "../store/store.ts";
import { openMemoryStore } from "../stores/open.ts";
import { runs } from "../../test/support/runs.ts";
import { RecordCache } from "./cache.ts";
import { ListReader } from "./list.ts";
import { scanLists } from "./list-scan.ts";
import type { TokenTable } from "./token-cache.ts";
import { scanWindows, stretchRange } from "./token-scan.ts";
import type { TokenStretch, TokenVisitor } from "./token-scan.ts";

const storageId = 1;
const index = 7;
const tuning = {
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

function tokenOf(number: number): Uint8Array {
  return Uint8Array.of(number >> 8, number & 255);
}

type Model = Map<number, Set<number>>;

interface Change {
  readonly token: number;
  readonly member: number;
  readonly add: boolean;
}

let sequence = 0;

async function commit(store: Store, changes: readonly Change[]): Promise<void> {
  const patches = changes.map(({ token, member, add }): Patch => ({
    kind: "member",
    list: tokenList(storageId, index, tokenOf(token)),
    member,
    add,
    facets: undefined,
    countIndex: 0,
    owner: 0,
  }));
  await store.commit({
    id: { slot: 1, floorTs: 0, sequence: ++sequence },
    startTs: 0,
    basisTs: 0,
    fence: 0,
    conflictKeys: [],
    basisKeys: [],
    patches,
    log: new Uint8Array(0),
  });
}

function change(model: Model, { token, member, add }: Change): void {
  const members = model.get(token) ?? new Set();
  if (add) members.add(member);
  else members.delete(member);
  if (members.size === 0) model.delete(token);
  else model.set(token, members);
}

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly reverse: boolean;
  readonly stop: number;
}

type Found = [number, number[]][];

function expected(model: Model, { from, to, reverse, stop }: Asked): Found {
  const all = [...model]
    .filter(([token]) => token >= from && token <= to)
    .map(([token, uids]): [number, number[]] => [token, [...uids].sort((a, b) => a - b)])
    .sort(([a], [b]) => a - b);
  return (reverse ? all.toReversed() : all).slice(0, stop);
}

function scan(snapshot: Snapshot, cache: RecordCache | undefined, asked: Asked): Found {
  const lists = new ListReader(snapshot, undefined, { cache, fillsCache: true });
  const found: Found = [];
  const visitor: TokenVisitor = {
    kind: "uids",
    visit(token, uids) {
      const number = (token[0] ?? 0) * 256 + (token[1] ?? 0);
      const last = found[found.length - 1];
      if (last?.[0] === number) last[1].push(...uids);
      else if (found.length === asked.stop) return false;
      else found.push([number, [...uids]]);
      return true;
    },
  };
  const to = tokenOf(asked.to + 1);
  const reverse = asked.reverse;
  const stretch: TokenStretch = { storageId, index, from: tokenOf(asked.from), to, reverse };
  const left = lists.cache && drive(scanWindows(lists, lists.cache, stretch, visitor));
  if (left instanceof Promise) throw new Error("a store in memory answers at once");
  if (left !== undefined) {
    const under = indexPrefix(storageId, keyKind.index, index);
    const plain = { range: stretchRange(left), reverse, under };
    void drive(
      scanLists(lists, plain, {
        kind: "uids",
        visit: (prefix, uids) => visitor.visit(readToken(prefix), uids),
      }),
    );
  }
  return found;
}

const changes = fc.array(
  fc.record({
    token: fc.oneof(fc.nat(600), fc.nat(3)),
    member: fc.integer({ min: 1, max: 60 }),
    add: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);
const asked = fc.record({
  from: fc.nat(620),
  to: fc.nat(620),
  reverse: fc.boolean(),
  stop: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(1000)),
});
const steps = fc.array(fc.record({ changes, scans: fc.array(asked, { maxLength: 6 }) }), {
  minLength: 1,
  maxLength: 8,
});

test("scans through windows agree with a plain model, now and at an older commit", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const store = openMemoryStore({ tuning });
      const cache = new RecordCache(64 * 1024 * 1024);
      const model: Model = new Map();
      const first: Change[] = Array.from({ length: 500 }, (_, i) => ({
        token: i,
        member: (i % 7) + 1,
        add: true,
      }));
      first.forEach((one) => change(model, one));
      await commit(store, first);
      // The first scans of an index only count it.
      for (let k = 0; k < 4; k++) cache.lists.tokens.table(storageId, index);
      for (const step of given) {
        const old = await store.snapshot();
        await cache.advance(store, old);
        const oldModel: Model = new Map([...model].map(([t, uids]) => [t, new Set(uids)]));
        step.scans.forEach((one) => expect(scan(old, cache, one)).toEqual(expected(model, one)));
        step.changes.forEach((one) => change(model, one));
        await commit(store, step.changes);
        const snapshot = await store.snapshot();
        await cache.advance(store, snapshot);
        for (const one of step.scans) {
          expect(scan(snapshot, cache, one)).toEqual(expected(model, one));
          expect(scan(old, cache, one)).toEqual(expected(oldModel, one));
        }
        old.close();
        snapshot.close();
      }
    }),
    { numRuns: runs(20) },
  );
});

test("windows stay within their bytes", () => {
  const bytesMax = 64 * 1024;
  const { tokens } = new RecordCache(bytesMax).lists;
  const tableNow = (): TokenTable => tokens.table(storageId, index) ?? tableNow();
  let most = 0;
  for (let i = 0; i < 200; i++) {
    tokens.add(tableNow(), {
      from: tokenOf(i * 2),
      to: tokenOf(i * 2 + 1),
      tokens: [tokenOf(i * 2)],
      offsets: Uint32Array.of(0, 100),
      uids: new Float64Array(100),
      isLong: new Uint8Array(1),
      changedAt: 1,
    });
    most = Math.max(most, tableNow().bytes);
  }
  expect(most).toBeLessThanOrEqual(bytesMax);
  expect(most).toBeGreaterThan(bytesMax / 20);
});
