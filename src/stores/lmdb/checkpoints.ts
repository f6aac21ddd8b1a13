/**
 * When the data file is synced, so that the journal can begin anew: after so many bytes, transactions or so much time.
 * The sync runs aside, and the journal goes on in its other file. Between two bases nothing that the sound base reaches
 * may be overwritten: a read transaction pins it. The price is pages: what is replaced since the base is not reused
 * before the next one (some tens of megabytes under full load, given back afterwards).
 */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import { Fault } from "../../model/fault.ts";
import type { Environment, Pin } from "./environment.ts";
import type { Journal } from "./journal.ts";

export interface CheckpointPolicy {
  readonly bytesMax: number;
  readonly transactionsMax: number;
  readonly ageMsMax: number;
}

export const defaultPolicy: CheckpointPolicy = {
  bytesMax: 4 * 1024 * 1024,
  transactionsMax: 256,
  ageMsMax: 1000,
};

/** So many times `bytesMax` in a file whose base is still not sound: the disk is slow, writing waits for it. */
const patience = 8;

interface CheckpointParts {
  readonly environment: Pick<Environment, "pin" | "pageBytes">;
  readonly journal: Journal;
  readonly dataPath: string;
  readonly policy: CheckpointPolicy;
  /** A sync failed: what the file holds is not known any more, the process must end. */
  readonly onFailure: (error: unknown) => void;
}

export class Checkpoints {
  private readonly parts: CheckpointParts;
  private readonly file: number;
  /** Holds the sound base. */
  private pin: Pin;
  /** Holds the pending one. */
  private nextPin: Pin | undefined = undefined;
  private timer: NodeJS.Timeout | undefined = undefined;
  /** More than one only when the writer did not wait for the first (`finishNow`). */
  private readonly syncs = new Set<Promise<void>>();
  /** Of the first sync that failed: a later one would tell of no error. */
  private failure: unknown = undefined;
  private isClosed = false;

  /** What is there must be on the disk: it becomes the first base. */
  constructor(parts: CheckpointParts) {
    this.parts = parts;
    const { environment, journal, dataPath } = parts;
    this.file = fs.openSync(dataPath, "r+");
    this.pin = environment.pin();
    journal.turn(this.readMetas());
    journal.settle();
  }

  /** A transaction was committed. */
  note(): void {
    const { journal, policy } = this.parts;
    if (journal.isTurning) {
      if (journal.bytes >= policy.bytesMax * patience) this.finishNow();
    } else if (journal.bytes >= policy.bytesMax || journal.count >= policy.transactionsMax) {
      this.start();
    } else {
      this.startLater();
    }
  }

  /** After it the data file is whole without the journal. Throws what made a sync fail, this one or one before. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await Promise.all(this.syncs);
    try {
      if (this.failure !== undefined) throw this.failure;
      fs.fdatasyncSync(this.file);
    } catch (error) {
      this.parts.journal.distrust();
      throw error;
    } finally {
      fs.closeSync(this.file);
    }
    this.nextPin?.release();
    this.pin.release();
  }

  private startLater(): void {
    if (this.isClosed) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (!this.parts.journal.isTurning) this.start();
    }, this.parts.policy.ageMsMax).unref();
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { environment, journal } = this.parts;
    if (!journal.isQuiet) {
      this.startLater();
      return;
    }
    const pin = environment.pin();
    try {
      journal.turn(this.readMetas());
    } catch (error) {
      pin.release();
      // No room for the other file: the one in use goes on for as long as there is some.
      if (error instanceof Fault) this.startLater();
      else this.fail(error);
      return;
    }
    this.nextPin = pin;
    const sync = new Promise<void>((resolve) => {
      fs.fdatasync(this.file, (error) => {
        this.syncs.delete(sync);
        this.synced(pin, error);
        resolve();
      });
    });
    this.syncs.add(sync);
  }

  private synced(pin: Pin, error: unknown): void {
    if (error !== null) this.fail(error);
    else if (this.nextPin === pin) this.settle();
  }

  private finishNow(): void {
    try {
      fs.fdatasyncSync(this.file);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.settle();
  }

  private settle(): void {
    const { journal } = this.parts;
    try {
      journal.settle();
    } catch (error) {
      this.fail(error);
      return;
    }
    this.pin.release();
    this.pin = must(this.nextPin, "a checkpoint has its pin");
    this.nextPin = undefined;
    if (journal.count > 0) this.startLater();
  }

  /** What was acknowledged is in the journal. */
  private fail(error: unknown): void {
    this.failure ??= error;
    try {
      this.parts.journal.distrust();
    } finally {
      this.parts.onFailure(error);
    }
  }

  private readMetas(): Buffer {
    const metas = Buffer.alloc(2 * this.parts.environment.pageBytes);
    fs.readSync(this.file, metas, 0, metas.length, 0);
    return metas;
  }
}
