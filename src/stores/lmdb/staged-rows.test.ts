import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checksumBytes, checksumOf } from "./checksum.ts";
import { openDatabase, type Database } from "./database.ts";
import { removed, StagedRows } from "./staged-rows.ts";

let dir = "";
let db: Database;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "weft-staged-"));
  db = openDatabase(dir, { readOnly: false, noSync: true });
});
afterAll(async () => {
  await db.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Keys of few bytes, so that they meet. */
const key = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 });
const step = fc.record({ key, value: fc.option(fc.integer({ min: 0, max: 255 })) });
const steps = fc.array(step, { maxLength: 30 });
type Step = { readonly key: number[]; readonly value: number | null };

const source = {
  get db() {
    return db;
  },
  options: undefined,
  trust: { isVerified: false, isOrdered: false },
};

function storedOf({ key: at, value }: Step): Uint8Array {
  const stored = Buffer.alloc(1 + checksumBytes, value ?? 0);
  stored.writeUInt32LE(checksumOf(Uint8Array.from(at), stored, 1), 1);
  return stored;
}

const textOf = (bytes: Iterable<number>): string => [...bytes].join(".");

function replaceAll(rows: readonly Step[]): void {
  db.transactionSync(() => {
    for (let a = 1; a <= 3; a++)
      for (let b = 0; b <= 3; b++)
        for (let c = 0; c <= 3; c++) db.remove(Uint8Array.from([a, b, c].filter((n) => n > 0)));
    for (const row of rows) {
      if (row.value === null) db.remove(Uint8Array.from(row.key));
      else db.put(Uint8Array.from(row.key), storedOf(row));
    }
  });
}

function stage(staged: StagedRows, rows: readonly Step[]): void {
  for (const row of rows) {
    if (row.value === null) staged.remove(Uint8Array.from(row.key));
    else staged.put(Uint8Array.from(row.key), 5).set(storedOf(row));
  }
}

/** What stands under each key, as text, in the order of keys. */
function modelOf(rows: readonly Step[]): [string, number][] {
  const model = new Map<string, { key: number[]; value: number | null }>();
  for (const row of rows) model.set(textOf(row.key), row);
  return [...model.values()]
    .filter((row) => row.value !== null)
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
    .map((row) => [textOf(row.key), row.value ?? 0]);
}

describe("staged rows", () => {
  it("are seen above the committed ones by scans in both directions, and stop where asked", () => {
    fc.assert(
      fc.property(
        steps,
        steps,
        fc.tuple(key, key),
        fc.record({ reverse: fc.boolean(), limit: fc.integer({ min: 1, max: 40 }) }),
        (before, now, [low, high], { reverse, limit }) => {
          replaceAll(before);
          const staged = new StagedRows();
          stage(staged, now);
          const seen: [string, number][] = [];
          const range = { start: Uint8Array.from(low), end: Uint8Array.from(high), reverse };
          staged.scan(source, range, (at, stored) => {
            seen.push([textOf(at), stored[0] ?? -1]);
            return seen.length < limit;
          });
          const inside = modelOf([...before, ...now]).filter(([text]) => {
            const at = Buffer.from(text.split(".").map(Number));
            return (
              Buffer.compare(at, Buffer.from(low)) >= 0 && Buffer.compare(at, Buffer.from(high)) < 0
            );
          });
          if (reverse) inside.reverse();
          expect(seen).toEqual(inside.slice(0, limit));
        },
      ),
    );
  });

  it("give the last word on a key, also one longer than the room there was", () => {
    const staged = new StagedRows();
    const at = (n: number): Uint8Array => Uint8Array.from([n]);
    expect(staged.get(at(1))).toBe(undefined);
    staged.put(at(1), 5).fill(7);
    staged.put(at(2), 300_000).fill(8);
    staged.put(at(1), 6).fill(9);
    staged.remove(at(3));
    expect(staged.get(at(1))).toEqual(new Uint8Array(6).fill(9));
    expect(staged.get(at(3))).toBe(removed);
    const visited: [number, number][] = [];
    staged.visit((found, stored) => visited.push([found[0] ?? -1, stored?.length ?? -1]));
    expect(visited).toEqual([
      [1, 6],
      [2, 300_000],
      [3, -1],
    ]);
    staged.clear(false);
    expect(staged.isEmpty).toBe(true);
    expect(staged.get(at(3))).toBe(undefined);
  });
});
