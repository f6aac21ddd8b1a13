/**
 * The reading end of the log (reference/log 5): gives each valid record once, in order, when it is known to be kept.
 * What is visible but not known to be kept may vanish with the engine's own fail-over: it is read again each time.
 */
import { LogChain, type ChainPoint } from "./chain.ts";
import { openBody, type DecodedHead, type RecordBody } from "./record.ts";
import type { ReplicatedLog, SealedRecord } from "./replicated-log.ts";

/** A valid record, and how far the log is judged with it. */
export interface JudgedRecord {
  readonly head: DecodedHead;
  readonly record: SealedRecord;
  readonly point: ChainPoint;
}

/** A valid and kept record. */
export interface FollowedRecord extends RecordBody {
  readonly head: DecodedHead;
  readonly point: ChainPoint;
}

export class LogFollower {
  readonly #log: ReplicatedLog;
  readonly #history: Uint8Array;
  #point: ChainPoint;
  #kept = 0;
  #voids = 0;
  #bytesMax = batchBytes;

  /** `point`: how far this node has applied the log. */
  constructor(log: ReplicatedLog, history: Uint8Array, point: ChainPoint) {
    this.#log = log;
    this.#history = history;
    this.#point = point;
  }

  /** The last record that was given. */
  get point(): ChainPoint {
    return this.#point;
  }

  /** Void records that the last call met. */
  get voids(): number {
    return this.#voids;
  }

  /** The leader says that all up to it is kept. */
  tell(kept: number): void {
    this.#kept = Math.max(this.#kept, kept);
  }

  /**
   * The next records, none where nothing more is known to be kept. Rejects as `ReplicatedLog.read` and `openBody` do,
   * and then stays where it was.
   */
  async next(): Promise<readonly FollowedRecord[]> {
    const chain = new LogChain(this.#history, this.#point);
    const judged = (await judgeNext(this.#log, chain, this.#bytesMax)) ?? [];
    this.#voids = chain.point.seq - this.#point.seq - judged.length;
    for (const { head } of judged) this.tell(head.durable);
    const kept = judged.filter(({ head }) => head.seq <= this.#kept);
    this.#bytesMax = kept.length > 0 ? batchBytes : this.#widen(judged);
    const given: FollowedRecord[] = [];
    for (const { head, record, point } of kept) {
      given.push({ head, point, ...(await openBody(record, head)) });
    }
    this.#point = kept.at(-1)?.point ?? this.#point;
    return given;
  }

  /** A large record may hide the one that says that it is kept. */
  #widen(judged: readonly JudgedRecord[]): number {
    const bytes = judged.reduce((sum, { record }) => sum + record.body.length, 0);
    return bytes < this.#bytesMax / 2 ? batchBytes : Math.min(this.#bytesMax * 2, batchBytesMax);
  }
}

const batchBytes = 4 * 1024 * 1024;
/** Some of the largest records. */
const batchBytesMax = 4 * 1024 * 1024 * 1024;

/** Judges what is behind the chain's point, which moves; undefined: there is nothing. */
export async function judgeNext(
  log: ReplicatedLog,
  chain: LogChain,
  bytesMax: number,
): Promise<readonly JudgedRecord[] | undefined> {
  const records = await log.read(chain.point.seq, bytesMax);
  if (records.length === 0) return undefined;
  const judged: JudgedRecord[] = [];
  for (const record of records) {
    const head = chain.accept(record);
    if (head !== undefined) judged.push({ head, record, point: chain.point });
  }
  return judged;
}
