/** The data file as the writer opens it: brought back if the machine stopped, and with its journal. */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../base/log.ts";
import { Fault } from "../../model/fault.ts";
import { Checkpoints, defaultPolicy, type CheckpointPolicy } from "./checkpoints.ts";
import type { EngineJournal } from "./engine.ts";
import { Environment, type Pin } from "./environment.ts";
import { dataName, syncDirectory } from "./header.ts";
import { distrusted, Journal } from "./journal.ts";
import { nameRun, readBootId } from "./machine.ts";
import { findLoss, removeJournal, replayJournal, restoreBase, type Loss } from "./recovery.ts";

export interface OpeningOptions {
  readonly dir: string;
  /** Whether it was closed in order: then a journal that still lies there is over. */
  readonly isClean: boolean;
  readonly logger: Logger;
  /** Only for tests: nothing is synced and there is no journal. */
  readonly noSync?: boolean;
  readonly journal?: JournalOptions;
  /** A sync of the data file failed: nothing may be written any more. */
  readonly onFailure: (error: unknown) => void;
}

export interface JournalOptions {
  /** Only for tests: the run of the machine. */
  readonly bootId?: string;
  readonly policy?: CheckpointPolicy;
}

export interface Opened {
  readonly environment: Environment;
  /** undefined: LMDB syncs each commit itself. */
  readonly journal: EngineJournal | undefined;
  /** The data file is whole when it resolves; `removeJournal` may follow. */
  close(): Promise<void>;
}

export function openForWriting(options: OpeningOptions): Opened {
  const { dir, logger } = options;
  const dataPath = join(dir, dataName);
  const bootId = options.journal?.bootId ?? readBootId();
  const loss = options.isClean ? undefined : findLoss(dir, dataPath, bootId);
  if (loss !== undefined) {
    if (loss.base.machine === distrusted) assertAlone(dir);
    restoreBase(dataPath, loss);
  }
  const isJournaled = options.noSync !== true && bootId !== undefined;
  const environment = new Environment({ dir, noSync: isJournaled || options.noSync === true });
  const pin = loss === undefined ? undefined : replay(environment, dir, { loss, logger });
  if (!isJournaled) {
    pin?.release();
    if (options.noSync !== true) removeJournal(dir);
    return { environment, journal: undefined, close: () => environment.close() };
  }
  syncFile(dataPath);
  removeJournal(dir);
  syncDirectory(dir);
  const journal = new Journal(dir, nameRun(dataPath, bootId));
  const policy = options.journal?.policy ?? defaultPolicy;
  const { onFailure } = options;
  const checkpoints = new Checkpoints({ environment, journal, dataPath, policy, onFailure });
  syncDirectory(dir);
  pin?.release();
  return {
    environment,
    journal: joinJournal(journal, checkpoints),
    close: async () => {
      await checkpoints.close();
      await environment.close();
      journal.close();
    },
  };
}

/** The base stays pinned while the records are committed again: a second stop of the machine goes back to it. */
function replay(
  environment: Environment,
  dir: string,
  { loss, logger }: { readonly loss: Loss; readonly logger: Logger },
): Pin {
  const pin = environment.pin();
  const transactions = replayJournal(environment, dir, loss);
  logger.info("the machine stopped while the store was open; it is as it was acknowledged", {
    transactions,
  });
  return pin;
}

function syncFile(path: string): void {
  const file = fs.openSync(path, "r+");
  try {
    fs.fdatasyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** After a failed sync processes of this run may still live: pages under the eyes of a reader are not exchanged. */
function assertAlone(dir: string): void {
  const environment = new Environment({ dir, readOnly: true });
  const isRead = environment.hasOtherReaders();
  void environment.close();
  if (isRead) {
    throw new Fault(
      "E_STARTUP",
      `cannot open the store at ${dir}: it must be recovered, and other processes still read it`,
    );
  }
}

function joinJournal(journal: Journal, checkpoints: Checkpoints): EngineJournal {
  return {
    get isWriting() {
      return journal.isWriting;
    },
    write: (rows) => journal.write(rows),
    writeNow: (rows) => journal.writeNow(rows),
    committed: () => {
      journal.keep();
      checkpoints.note();
    },
    takeBack: () => journal.takeBack(),
  };
}
