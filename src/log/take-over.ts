/**
 * How a node becomes the leader (reference/log 4): it reads all that is there, puts its begin behind it, and leads when
 * that is kept: then so is everything before it, and nothing of an older leader can come between.
 */
import { LogChain, type ChainPoint } from "./chain.ts";
import { judgeNext, type JudgedRecord } from "./follower.ts";
import type { RecordHead } from "./record.ts";
import type { ReplicatedLog } from "./replicated-log.ts";
import { LogLost, LogShipper, type ShipperOptions } from "./shipper.ts";

export interface TakenOver {
  readonly shipper: LogShipper;
  /** Valid and kept, behind the point that was given: to be applied before anything is judged. */
  readonly records: readonly JudgedRecord[];
  /** The begin. */
  readonly point: ChainPoint;
}

interface TakeOverOptions extends ShipperOptions {
  /** Throws for a record that this node cannot apply: then it does not lead. */
  readonly check?: (head: RecordHead) => void;
}

/**
 * `point`: how far this node has applied the log. The term is the given one, or above that of the log's last record;
 * the form of rows is that of the last record behind the point, or the given one. undefined: another node was first.
 */
export async function takeOver(
  log: ReplicatedLog,
  point: ChainPoint,
  options: TakeOverOptions,
): Promise<TakenOver | undefined> {
  const chain = new LogChain(options.history, point);
  const records = await readToEnd(log, chain);
  for (const { head } of records) options.check?.(head);
  const term = Math.max(options.term, chain.point.term + 1);
  const rowFormat = records.at(-1)?.head.rowFormat ?? options.rowFormat;
  const shipper = new LogShipper(log, chain.point, { ...options, term, rowFormat });
  try {
    return { shipper, records, point: await shipper.ship({ kind: "begin" }) };
  } catch (error) {
    if (error instanceof LogLost) return undefined;
    throw error;
  }
}

async function readToEnd(log: ReplicatedLog, chain: LogChain): Promise<readonly JudgedRecord[]> {
  const found: JudgedRecord[] = [];
  // What comes later is met by the begin, whose number is taken then.
  for (const tail = await log.tail(); chain.point.seq < tail;) {
    const records = await judgeNext(log, chain, batchBytes);
    if (records === undefined) break;
    found.push(...records);
  }
  return found;
}

const batchBytes = 8 * 1024 * 1024;
