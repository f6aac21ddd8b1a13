/**
 * The writer's part of a compaction beside it (`compact-online.ts`): it notes what is committed meanwhile, and at the end
 * lets the copy take the place of the data file, in a pause: here, and in the processes that read it. Until all of them
 * have it nothing is committed, so none reads what is no longer the newest state.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../base/log.ts";
import { Fault } from "../../model/fault.ts";
import type { Committer } from "../commit/committer.ts";
import { ChangedRows } from "./changed-rows.ts";
import type { Environment, OtherFile } from "./environment.ts";
import { asideName, changesName, clearAside } from "./exchange.ts";
import { dataName } from "./header.ts";
import { readMetaOf } from "./meta-pages.ts";
import { nameFile } from "./place.ts";

/** Told, before the data file is exchanged, which one comes in its place; what it gives is called when it is there. */
export type AnnounceExchange = (nextData: string) => Promise<() => Promise<void>>;

/** A process that reads the data file. */
export interface FileReader {
  /** Whether it has opened the other file, too, or is gone; false: it cannot, or takes too long. */
  prepareFile(): Promise<boolean>;
  /** Reads from the other one from now on. Resolves when it does, or is gone. */
  useFile(): Promise<void>;
  /** Nothing comes of it: it closes the other one. */
  forgetFile(): void;
}

interface CompactionParts {
  readonly dir: string;
  readonly committer: Pick<Committer, "pauseAlone" | "fail">;
  readonly environment: Environment;
  /** undefined: the store has no journal. */
  readonly exchange: ((other: OtherFile) => Promise<void>) | undefined;
  readonly announce: AnnounceExchange | undefined;
  /** Those that are linked now. */
  readonly readers: () => readonly FileReader[];
  readonly logger: Logger;
}

/** What has come of asking for the exchange. */
interface Asked {
  readonly isDone: boolean;
  /** Bytes of what was committed since the begin, all of which must be in the copy. */
  readonly bytes: number;
}

/** Whoever applies the last changes has so long; then commits go on, and it is asked anew. */
const pauseMsMax = 2000;

export class Compaction {
  readonly #parts: CompactionParts;
  #owner: object | undefined = undefined;
  #changes: ChangedRows | undefined = undefined;
  #failure: Fault | undefined = undefined;
  #goOn: () => void = () => {};
  #isPaused = false;
  #isExchanging = false;
  #isLeft = false;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /** From now on what is committed is noted. Fault E_STARTUP where there is one already, or there can be none. */
  begin(owner: object): void {
    const { dir, environment, exchange, logger } = this.#parts;
    if (exchange === undefined) {
      throw refuse("on this system a store is compacted while no server runs");
    }
    if (this.#owner !== undefined) throw refuse("it is being compacted already");
    clearAside(dir);
    const aside = join(dir, asideName);
    fs.mkdirSync(aside, { mode: 0o700 });
    this.#failure = undefined;
    this.#isLeft = false;
    this.#owner = owner;
    this.#changes = new ChangedRows(join(aside, changesName), (error) => {
      logger.warn("a compaction cannot go on", { error: String(error) });
      this.#failure = refuse(`what is written meanwhile cannot be kept: ${String(error)}`);
    });
    environment.noteChanges(this.#changes);
  }

  /** `applied`: how many bytes of the changes are in the copy, which is closed and synced. */
  async exchange(owner: object, applied: number): Promise<Asked> {
    const changes = this.#changes;
    if (this.#owner !== owner || changes === undefined) {
      throw refuse("the process that writes to the store was started anew meanwhile");
    }
    await this.#pause();
    if (this.#failure !== undefined) {
      this.#goOn();
      throw this.#failure;
    }
    if (applied < changes.bytes) return { isDone: false, bytes: changes.bytes };
    this.#isExchanging = true;
    try {
      const isDone = await this.#exchange();
      if (isDone) this.#end();
      return { isDone, bytes: changes.bytes };
    } finally {
      this.#isExchanging = false;
      if (this.#isLeft && this.#owner === owner) this.#end();
      this.#goOn();
    }
  }

  /** Who asked for it is gone. */
  cancel(owner: object): void {
    if (this.#owner !== owner) return;
    this.#isLeft = true;
    if (this.#isExchanging) return;
    this.#end();
    this.#goOn();
  }

  #end(): void {
    this.#parts.environment.noteChanges(undefined);
    this.#changes?.close();
    this.#changes = undefined;
    this.#owner = undefined;
    try {
      clearAside(this.#parts.dir);
    } catch (error) {
      this.#parts.logger.warn("what a compaction leaves cannot be removed", {
        error: String(error),
      });
    }
  }

  async #pause(): Promise<void> {
    if (this.#isPaused) return;
    const end = await this.#parts.committer.pauseAlone();
    this.#isPaused = true;
    const timer = setTimeout(() => {
      if (!this.#isExchanging) this.#goOn();
    }, pauseMsMax);
    this.#goOn = () => {
      if (!this.#isPaused) return;
      this.#isPaused = false;
      clearTimeout(timer);
      end();
    };
  }

  /** false: a process could not take part now. */
  async #exchange(): Promise<boolean> {
    const { dir, environment, committer, exchange, announce, readers } = this.#parts;
    const aside = join(dir, asideName);
    const other = environment.openOther(aside);
    const taking = readers();
    const prepared = await Promise.all(taking.map((reader) => reader.prepareFile()));
    if (exchange === undefined || !prepared.every((one) => one)) {
      for (const reader of taking) reader.forgetFile();
      await other.close();
      return false;
    }
    const commitTs = environment.read(({ ts }) => ts);
    const rows = readMetaOf(environment.dataFile)?.rows;
    if (other.commitTs !== commitTs || readMetaOf(join(aside, dataName))?.rows !== rows) {
      for (const reader of taking) reader.forgetFile();
      await other.close();
      throw new Fault("E_STORE_CORRUPT", `the copy of the store at ${dir} lacks rows`);
    }
    const announced = await announce?.(nameFile(join(aside, dataName)));
    try {
      await exchange(other);
    } catch (error) {
      // Which file is in its place is not known here: the next start looks.
      committer.fail(error);
      throw error;
    }
    await Promise.all(taking.map((reader) => reader.useFile()));
    await announced?.();
    return true;
  }
}

function refuse(reason: string): Fault {
  return new Fault("E_STARTUP", `the store cannot be compacted: ${reason}`);
}
