import type * as nodeFs from "node:fs";
import { mkdtempSync, rmSync, writeFileSync, type NoParamCallback } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { Checkpoints, type CheckpointPolicy } from "./checkpoints.ts";
import type { Pin } from "./environment.ts";
import { Journal } from "./journal.ts";
import { RowWriter } from "./journal-format.ts";
import { namePlace, type Witness } from "./machine.ts";
import { findLoss, type Loss } from "./recovery.ts";

/** A disk whose syncs aside end when the test says so; undefined: the real one. */
const disk = vi.hoisted(() => ({ answers: undefined as NoParamCallback[] | undefined }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof nodeFs>();
  return {
    ...fs,
    fdatasync(file: number, done: NoParamCallback): void {
      if (disk.answers === undefined) fs.fdatasync(file, done);
      else disk.answers.push(done);
    },
  };
});

let dir = "";

function lossOf(dataPath: string, witness: Witness): Loss | undefined {
  return findLoss(dir, dataPath, { witness, expected: "journal" });
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weft-checkpoints-"));
});
afterEach(() => {
  disk.answers = undefined;
  rmSync(dir, { recursive: true, force: true });
});

/** Stands for the environment: numbers its pins, and tells which are held. */
class Pins {
  readonly pageBytes = 4096;
  readonly held = new Set<number>();
  private made = 0;

  pin(): Pin {
    const number = ++this.made;
    this.held.add(number);
    return { release: () => this.held.delete(number) };
  }
}

function commit(journal: Journal): void {
  const rows = new RowWriter();
  rows.add(Uint8Array.from([1]), undefined);
  journal.writeNow(rows);
  journal.keep();
}

const policy = { bytesMax: 1_000_000, transactionsMax: 2, ageMsMax: 60_000 };
const tight = { bytesMax: 40, transactionsMax: 1, ageMsMax: 60_000 };

/** Checkpoints over files of their own, with what they are made of. */
function begin(options: { dataPath?: string; policy?: CheckpointPolicy } = {}) {
  const dataPath = options.dataPath ?? join(dir, "data.mdb");
  if (options.dataPath === undefined) writeFileSync(dataPath, Buffer.alloc(8192));
  const journal = new Journal(dir, `run ${namePlace(dataPath, "boot")}`, systemClock);
  const environment = new Pins();
  const onFailure = vi.fn<(error: unknown) => void>();
  const parts = { environment, journal, dataPath, policy: options.policy ?? policy, onFailure };
  return { ...parts, checkpoints: new Checkpoints(parts) };
}

/** Syncs aside wait for the test from now on. */
function holdSyncs(): NoParamCallback[] {
  disk.answers = [];
  return disk.answers;
}

describe("checkpoints", () => {
  it("hold a base until the next one is sound", async () => {
    const { checkpoints, environment, journal, dataPath, onFailure } = begin();
    expect([...environment.held]).toEqual([1]);
    commit(journal);
    checkpoints.note();
    expect(journal.isTurning).toBe(false);
    commit(journal);
    checkpoints.note();
    expect(journal.isTurning).toBe(true);
    expect([...environment.held]).toEqual([1, 2]);
    expect(journal.count).toBe(0);
    await vi.waitFor(() => expect(journal.isTurning).toBe(false));
    expect([...environment.held]).toEqual([2]);
    expect(lossOf(dataPath, { run: "run", bootId: "boot" })).toBe(undefined);
    expect(lossOf(dataPath, { run: "run", bootId: "another" })?.half.base.recordsBefore).toBe(2);
    // A new run trusts nothing that was not synced; one that only reads may.
    expect(lossOf(dataPath, { run: "next", bootId: "boot" })).toBeDefined();
    expect(lossOf(dataPath, { bootId: "boot" })).toBe(undefined);
    await checkpoints.close();
    await journal.close();
    expect(environment.held.size).toBe(0);
    expect(onFailure).not.toHaveBeenCalled();
  });

  it("wait for a slow disk only when the journal has grown far beyond its bound", async () => {
    const { checkpoints, journal } = begin({ policy: tight });
    commit(journal);
    checkpoints.note();
    // The sync's answer cannot come before this task ends.
    while (journal.bytes < 8 * tight.bytesMax) {
      expect(journal.isTurning).toBe(true);
      commit(journal);
      checkpoints.note();
    }
    expect(journal.isTurning).toBe(false);
    await checkpoints.close();
    await journal.close();
  });

  it("that fail end the writer, and the next start trusts the base and the journal alone", async () => {
    // A device that can be read and written, and not synced.
    const dataPath = "/dev/zero";
    const { checkpoints, journal, onFailure } = begin({ dataPath });
    expect(lossOf(dataPath, { run: "run", bootId: "boot" })).toBe(undefined);
    commit(journal);
    commit(journal);
    checkpoints.note();
    await vi.waitFor(() => expect(onFailure).toHaveBeenCalledOnce());
    expect(lossOf(dataPath, { run: "run", bootId: "boot" })?.half.base.epoch).toBe(1);
    await journal.close();
  });

  it("that fail while the store is being closed are not forgotten", async () => {
    const { checkpoints, journal, dataPath } = begin();
    const answers = holdSyncs();
    commit(journal);
    commit(journal);
    checkpoints.note();
    const closing = checkpoints.close();
    answers[0]!(new Error("EIO"));
    await expect(closing).rejects.toThrow("EIO");
    expect(lossOf(dataPath, { run: "run", bootId: "boot" })?.half.base.epoch).toBe(1);
    await journal.close();
  });

  it("are all waited for, also those that came too late", async () => {
    const { checkpoints, journal, onFailure } = begin({ policy: tight });
    const answers = holdSyncs();
    const goOn = (): void => {
      commit(journal);
      checkpoints.note();
    };
    // The first sync takes too long, the writer does it itself; then a second begins.
    while (answers.length < 2) goOn();
    answers[0]!(null);
    let isClosed = false;
    const closing = checkpoints.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    answers[1]!(null);
    await closing;
    expect(onFailure).not.toHaveBeenCalled();
    await journal.close();
  });
});
