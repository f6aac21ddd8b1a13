/** The first record of a log: it says whose log it is, and from which commit on it tells (reference/log 7.4). */
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { chainStart, type ChainPoint } from "../log/chain.ts";
import { readHead } from "../log/record.ts";
import {
  LogDamaged,
  LogTrimmed,
  type ReplicatedLog,
  type SealedRecord,
} from "../log/replicated-log.ts";
import { LogLost, LogShipper } from "../log/shipper.ts";
import { rowFormats } from "./replica.ts";

export interface LogHistory {
  /** Of all machines' stores: 32 hex digits. */
  readonly storeId: string;
  /** Whether a machine without a store can be made from the log alone. */
  readonly isWhole: boolean;
  /** The oldest record that is kept. */
  readonly first: number;
}

/** undefined: nobody has begun it. Rejects as the log does. */
export async function findHistory(log: ReplicatedLog): Promise<LogHistory | undefined> {
  for (let first = 1; ;) {
    try {
      const [record] = await log.read(first - 1, 1);
      if (record === undefined) break;
      const { kind, lastTs } = readHead(record);
      const isWhole = first === 1 && kind === "begin" && lastTs === 0;
      return { storeId: storeOf(record), isWhole, first };
    } catch (error) {
      if (error instanceof LogDamaged) break;
      if (!(error instanceof LogTrimmed)) throw error;
      ({ first } = error);
    }
  }
  // The oldest cannot be read, or there is none: all are of one store.
  const tail = await log.tail();
  const [newest] = tail === 0 ? [] : await log.read(tail - 1, 1);
  return newest && { storeId: storeOf(newest), isWhole: false, first: 1 };
}

function storeOf(record: SealedRecord): string {
  return Buffer.from(readHead(record).history).toString("hex");
}

interface Founding {
  readonly storeId: string;
  /** The newest commit that the store has, which the log does not tell of; 0 for a new one. */
  readonly lastTs: number;
  readonly clock: Clock;
}

/**
 * Begins a log. Resolves with the place of its first record, which the store that it is begun with notes. Fault E_STARTUP
 * where somebody has begun it, or that is not known.
 */
export async function foundLog(
  log: ReplicatedLog,
  { storeId, lastTs, clock }: Founding,
): Promise<ChainPoint> {
  if ((await log.tail()) > 0) throw begun();
  const shipper = new LogShipper(log, chainStart, {
    history: Buffer.from(storeId, "hex"),
    term: 1,
    rowFormat: Math.max(...rowFormats),
    clock,
    pause: async (tries) => tries < triesMax,
  });
  try {
    return await shipper.ship({ kind: "begin", lastTs });
  } catch (error) {
    if (error instanceof LogLost) throw begun();
    throw error;
  }
}

const triesMax = 20;

function begun(): Fault {
  return new Fault("E_STARTUP", "the log has been begun already: it is a store's");
}
