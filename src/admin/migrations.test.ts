import { beforeEach, describe, expect, it } from "vitest";
import { Migrations, type MigrationReport } from "./migrations.ts";

const rows = new Map<string, Uint8Array>();
let nowMs = 0;
let storageId = 1;
let migrations: Migrations;

beforeEach(() => {
  rows.clear();
  nowMs = 1_000_000;
  storageId = 1;
  migrations = new Migrations({
    rows: {
      read: (name) => rows.get(name),
      list: () => rows,
      write: (name, value, expected) => {
        if (rows.get(name) !== expected || value === undefined) return Promise.resolve(false);
        rows.set(name, value);
        return Promise.resolve(true);
      },
    },
    storageIdOf: () => Promise.resolve(storageId),
    nowMs: () => nowMs,
  });
});

const report = (name: string, wish: Partial<MigrationReport> = {}) =>
  migrations.report(0, {
    name,
    hash: "h",
    direction: "up",
    runner: "a",
    step: 0,
    state: "running",
    ...wish,
  });
const applied = async () => (await migrations.read(0)).applied.map(({ name }) => name);

describe("the journal of migrations", () => {
  it("knows what was applied, in order, and what was taken back", async () => {
    for (const name of ["0001-a", "0002-b"]) {
      await report(name);
      await report(name, { step: 4, state: "done" });
    }
    expect(await applied()).toEqual(["0001-a", "0002-b"]);
    await expect(report("0001-a")).rejects.toThrow("migration 0001-a is applied already");
    await expect(report("0001-a", { direction: "down" })).rejects.toThrow("applied last");
    await report("0002-b", { direction: "down" });
    await report("0002-b", { direction: "down", step: 2, state: "done" });
    expect(await applied()).toEqual(["0001-a"]);
  });

  it("has one runner at a time, until that is silent for a minute, or stopped", async () => {
    await report("0001-a", { step: 1 });
    await expect(report("0001-a", { runner: "b" })).rejects.toThrow("run by another runner");
    await expect(report("0002-b", { runner: "b" })).rejects.toThrow("0001-a was begun (up)");
    await expect(report("0001-a", { step: 0 })).rejects.toThrow("step 0 of migration 0001-a");
    nowMs += 60_000;
    await report("0001-a", { runner: "b", step: 1 });
    await expect(report("0001-a", { runner: "a", step: 1 })).rejects.toThrow("another runner");
    await report("0001-a", { runner: "b", step: 2, state: "stopped" });
    expect((await migrations.read(0)).running).toMatchObject({ runner: "b", step: 2 });
    await report("0001-a", { runner: "c", direction: "down" });
    await report("0001-a", { runner: "c", direction: "down", step: 2, state: "done" });
    expect(await migrations.read(0)).toEqual({ applied: [], running: undefined });
  });

  it("lets one of two that begin at once begin", async () => {
    const begun = await Promise.allSettled(
      ["a", "b", "c"].map((runner) => report("0001-a", { runner })),
    );
    expect(begun.map(({ status }) => status).toSorted()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
    ]);
  });

  it("is of one namespace, and empty once all was dropped", async () => {
    await report("0001-a", { state: "done" });
    expect((await migrations.read(7)).applied).toEqual([]);
    storageId = 2;
    expect(await applied()).toEqual([]);
    await report("0001-a", { state: "done" });
    expect(await applied()).toEqual(["0001-a"]);
  });
});
