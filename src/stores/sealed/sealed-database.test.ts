import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareBytes, toHex } from "../../base/bytes.ts";
import { openDatabase, walkRows, type Database } from "../lmdb/database.ts";
import { SealedDatabase } from "./sealed-database.ts";
import { StoreCipher } from "./store-cipher.ts";

let dir: string;
let database: Database | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weft-sealed-"));
});

afterEach(async () => {
  await database?.close();
  database = undefined;
  rmSync(dir, { recursive: true, force: true });
});

function open(cipher: StoreCipher, readOnly = false): Database {
  return new SealedDatabase(openDatabase(dir, { readOnly, noSync: true }), cipher);
}

/** Numbers below `max` that look scattered, the same ones in each run. */
function makeNumbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}

interface Model {
  readonly rows: Map<string, Uint8Array>;
}

function sorted({ rows }: Model): [Uint8Array, Uint8Array][] {
  return [...rows]
    .map(([key, value]) => [Buffer.from(key, "hex"), value] as [Uint8Array, Uint8Array])
    .sort(([a], [b]) => compareBytes(a, b));
}

function readAll(from: Database, range: object): string[] {
  const transaction = from.useReadTransaction();
  const found: string[] = [];
  const bounds = { start: new Uint8Array([0]), end: new Uint8Array(8).fill(255), ...range };
  walkRows({ db: from, options: { transaction } }, bounds, (key, value) => {
    found.push(`${toHex(key)}=${value.length}:${value[0] ?? ""}`);
    return true;
  });
  transaction.done();
  return found;
}

function show(rows: readonly [Uint8Array, Uint8Array][]): string[] {
  return rows.map(([key, value]) => `${toHex(key)}=${value.length}:${value[0] ?? ""}`);
}

function step(db: Database, model: Model, pick: (max: number) => number): void {
  db.transactionSync(() => {
    for (let n = 1 + pick(60); n > 0; n--) {
      const key = Buffer.alloc(2 + pick(3) * 9, 7);
      key.writeUInt16BE(pick(900), 0);
      const name = toHex(key);
      if (pick(3) === 0) {
        db.remove(key);
        model.rows.delete(name);
        continue;
      }
      const size = pick(20) === 0 ? 2000 + pick(40_000) : pick(400);
      const value = new Uint8Array(size).fill(pick(256));
      db.put(key, value);
      model.rows.set(name, value);
    }
  });
}

describe("rows in sealed blocks", () => {
  it("are those that were put, in order, in each state", () => {
    const db = (database = open(new StoreCipher([randomBytes(32)])));
    const model: Model = { rows: new Map() };
    const pick = makeNumbers(5);
    for (let round = 0; round < 150; round++) {
      step(db, model, pick);
      if (round % 10 !== 0) continue;
      const rows = sorted(model);
      db.resetReadTxn();
      expect(readAll(db, {})).toEqual(show(rows));
      expect(readAll(db, { reverse: true })).toEqual(show(rows.toReversed()));
      const [low, high] = [rows[Math.floor(rows.length / 3)]![0], rows.at(-2)![0]];
      const inside = rows.filter(
        ([key]) => compareBytes(key, low) >= 0 && compareBytes(key, high) < 0,
      );
      expect(readAll(db, { start: low, end: high })).toEqual(show(inside));
      expect(readAll(db, { start: low, end: high, reverse: true })).toEqual(
        show(inside.toReversed()),
      );
    }
    expect(model.rows.size).toBeGreaterThan(500);
  });

  it("are found one by one, and what is not there is not", () => {
    const db = (database = open(new StoreCipher([randomBytes(32)])));
    const model: Model = { rows: new Map() };
    const pick = makeNumbers(9);
    for (let round = 0; round < 60; round++) step(db, model, pick);
    db.resetReadTxn();
    for (let i = 0; i < 900; i++) {
      const key = Buffer.alloc(2 + (i % 3) * 9, 7);
      key.writeUInt16BE(i, 0);
      const found = db.getBinaryFast(key);
      const expected = model.rows.get(toHex(key));
      expect(found?.length).toBe(expected?.length);
      if (expected !== undefined) expect(db.lastSize).toBe(expected.length);
    }
  });

  it("can all be removed again", () => {
    const db = (database = open(new StoreCipher([randomBytes(32)])));
    const keys = Array.from({ length: 3000 }, (_, i) => Buffer.from(`key ${i}`));
    db.transactionSync(() => {
      for (const key of keys) db.put(key, Buffer.alloc(100, 1));
    });
    expect(readAll(db, {})).toHaveLength(3000);
    db.transactionSync(() => {
      for (const key of keys) db.remove(key);
    });
    db.resetReadTxn();
    expect(readAll(db, {})).toEqual([]);
    db.transactionSync(() => db.put(keys[0]!, Buffer.alloc(3, 2)));
    db.resetReadTxn();
    expect(readAll(db, {})).toEqual([`${toHex(keys[0]!)}=3:2`]);
  });

  it("stay as they were in a state that is still read, and what fails leaves nothing", () => {
    const db = (database = open(new StoreCipher([randomBytes(32)])));
    const key = Buffer.from("one");
    db.transactionSync(() => db.put(key, Buffer.from([1, 0])));
    db.resetReadTxn();
    const before = db.useReadTransaction();
    expect(db.getBinaryFast(key, { transaction: before })?.[0]).toBe(1);
    db.transactionSync(() => db.put(key, Buffer.from([2, 0])));
    db.resetReadTxn();
    expect(() =>
      db.transactionSync(() => {
        db.put(key, Buffer.from([3, 0]));
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(db.getBinaryFast(key, { transaction: before })?.[0]).toBe(1);
    expect(db.getBinaryFast(key)?.[0]).toBe(2);
    before.done();
  });

  it("are nowhere in the file, neither keys nor values, and another key opens none", async () => {
    const key = randomBytes(32);
    const db = open(new StoreCipher([key]));
    const text = Buffer.from("a word that nobody may read");
    db.transactionSync(() => {
      for (let i = 0; i < 500; i++) db.put(Buffer.concat([text, Buffer.from([i >> 8, i])]), text);
    });
    await db.close();
    expect(readFileSync(join(dir, "data.mdb")).includes("nobody may")).toBe(false);
    const other = open(new StoreCipher([randomBytes(32)]));
    expect(() => readAll(other, {})).toThrow("the stored block 0 is damaged");
    await other.close();
    const same = (database = open(new StoreCipher([key])));
    expect(readAll(same, {})).toHaveLength(500);
  });
});
