/** The data file as the writer opens it: brought back if it was not closed in order, and with its journal. */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { Fault } from "../../model/fault.ts";
import { Checkpoints, defaultPolicy, type CheckpointPolicy } from "./checkpoints.ts";
import type { EngineJournal } from "./engine.ts";
import { Environment, type OtherFile, type Pin } from "./environment.ts";
import { exchangeFiles } from "./exchange.ts";
import { dataName, syncDirectory, writeClosed, writeOpen } from "./header.ts";
import type { StoreHeader } from "./inspect.ts";
import { Journal } from "./journal.ts";
import { isMapped, namePlace, readBootId, type Witness } from "./machine.ts";
import {
  distrustJournal,
  planRecovery,
  removeJournal,
  replayRecords,
  restoreBase,
  type RecoveryPlan,
} from "./recovery.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import { verifyPages } from "./verify.ts";

interface OpeningOptions {
  readonly dir: string;
  readonly header: StoreHeader;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Only for tests: nothing is synced and there is no journal. */
  readonly noSync?: boolean;
  readonly journal: RunJournalOptions;
  /** For how long readers of the run before are waited for. */
  readonly readersWaitMs: number;
  /** A sync of the data file failed: nothing may be written any more. */
  readonly onFailure: (error: unknown) => void;
  /** Of a store that is encrypted. */
  readonly cipher: StoreCipher | undefined;
}

export interface JournalOptions extends Witness {
  readonly policy?: CheckpointPolicy;
  /** Only for tests: whether the disk is taken for a slow one. Default: as it is. */
  readonly isSlow?: boolean;
}

export type RunJournalOptions = JournalOptions & { readonly run: string };

interface Opened {
  readonly environment: Environment;
  /** undefined: LMDB syncs each commit itself. */
  readonly journal: EngineJournal | undefined;
  /**
   * The file of the folder beside it takes the place of the data file: it holds the same rows and is synced as a whole.
   * In a pause. What it throws ends the process: the next start takes whichever file is there. undefined: without a
   * journal there is none of it.
   */
  readonly exchange: ((other: OtherFile) => Promise<void>) | undefined;
  /** The data file is whole when it resolves; `removeJournal` may follow. */
  close(): Promise<void>;
}

/**
 * When it resolves, the header says that the store is open. Fault E_STORE_CORRUPT where something is damaged: nothing
 * was written then.
 */
export async function openForWriting(options: OpeningOptions): Promise<Opened> {
  const { dir, logger, header } = options;
  const { storeId, loss } = header;
  const dataPath = join(dir, dataName);
  const bootId = options.journal.bootId ?? readBootId();
  const plan = loss === undefined ? undefined : planRecovery(dir, dataPath, loss, options.cipher);
  if (plan !== undefined) {
    if (bootId !== undefined) await waitForReaders(dir, options.readersWaitMs);
    restoreBase(dataPath, plan);
  }
  const verified = verifyPages(dir, dataPath);
  const isJournaled = options.noSync !== true && bootId !== undefined;
  const noSync = isJournaled || options.noSync === true;
  const environment = new Environment({ dir, noSync, cipher: options.cipher });
  environment.trust.isVerified = verified.isWhole;
  environment.trust.isOrdered = verified.isOrdered;
  for (const problem of verified.damagedRows) environment.noteDamage(problem, logger);
  const pin = plan === undefined ? undefined : replay(environment, plan, logger);
  if (options.noSync === true) {
    pin?.release();
    writeOpen(dir, storeId, "unjournaled");
    return unjournaled(environment);
  }
  syncData(dir);
  if (!isJournaled) {
    pin?.release();
    writeOpen(dir, storeId, "unjournaled");
    removeJournal(dir);
    return unjournaled(environment);
  }
  // No stop finds a header that asks for a journal and none that can be there.
  writeClosed(dir, storeId);
  removeJournal(dir);
  syncDirectory(dir);
  const begin = (): Journaling => beginJournal(environment, options, bootId);
  let journaling = begin();
  pin?.release();
  return {
    environment,
    journal: joinJournal(() => journaling, options.journal.isSlow),
    exchange: async (other) => {
      await journaling.checkpoints.close();
      await journaling.journal.close();
      exchangeFiles(dir, storeId);
      other.use();
      journaling = begin();
    },
    close: async () => {
      await journaling.checkpoints.close();
      await environment.close();
      await journaling.journal.close();
    },
  };
}

function unjournaled(environment: Environment): Opened {
  return {
    environment,
    journal: undefined,
    exchange: undefined,
    close: () => environment.close(),
  };
}

/** Of one data file. */
interface Journaling {
  readonly journal: Journal;
  readonly checkpoints: Checkpoints;
}

/** The data file is whole and synced, and there is no journal. */
function beginJournal(
  environment: Environment,
  { dir, header, clock, cipher, journal: wish, onFailure }: OpeningOptions,
  bootId: string,
): Journaling {
  const dataPath = join(dir, dataName);
  const journal = new Journal(dir, `${wish.run} ${namePlace(dataPath, bootId)}`, clock, cipher);
  const policy = wish.policy ?? defaultPolicy;
  const checkpoints = new Checkpoints({ environment, journal, dataPath, policy, onFailure });
  syncDirectory(dir);
  writeOpen(dir, header.storeId, "journaled");
  return { journal, checkpoints };
}

/** The base stays pinned while the records are committed again: a second stop of the machine goes back to it. */
function replay(environment: Environment, { records }: RecoveryPlan, logger: Logger): Pin {
  const pin = environment.pin();
  replayRecords(environment, records);
  logger.warn("the store was not closed in order; it is as it was acknowledged", {
    transactions: records.length,
  });
  return pin;
}

/** All that was written to the data file, whoever wrote it, is on the disk. */
function syncData(dir: string): void {
  const file = fs.openSync(join(dir, dataName), "r+");
  try {
    fs.fdatasyncSync(file);
  } catch (error) {
    // A second sync would tell of no error.
    distrustJournal(dir);
    throw error;
  } finally {
    fs.closeSync(file);
  }
}

/** Pages under the eyes of a reader are not exchanged. Those of the run before are about to end. */
async function waitForReaders(dir: string, waitMs: number): Promise<void> {
  for (let waited = 0; isMapped(join(dir, dataName)); waited += retryMs) {
    if (waited >= waitMs) {
      throw new Fault(
        "E_STARTUP",
        `cannot open the store at ${dir}: it must be recovered, and other processes still read it`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

const retryMs = 40;

function joinJournal(newest: () => Journaling, isSlow: boolean | undefined): EngineJournal {
  return {
    isSlow: () => isSlow ?? newest().journal.isSlow(),
    get isWriting() {
      return newest().journal.isWriting;
    },
    write: (rows) => newest().journal.write(rows),
    writeNow: (rows) => newest().journal.writeNow(rows),
    committed: () => {
      const { journal, checkpoints } = newest();
      journal.keep();
      checkpoints.note();
    },
    takeBack: () => newest().journal.takeBack(),
  };
}
