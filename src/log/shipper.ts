/**
 * A leader's end of the log (reference/log 4): seals records in order, sends them, and tells when one is kept. Knows
 * nothing of what they carry. Once anything was refused it ends: somebody else leads.
 */
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { metrics } from "../base/metrics.ts";
import type { ChainPoint } from "./chain.ts";
import {
  packBody,
  sealLogRecord,
  type PackedBody,
  type RecordBody,
  type RecordHead,
} from "./record.ts";
import type { Appended, ReplicatedLog, SealedRecord } from "./replicated-log.ts";

const appendSeconds = metrics.histogram(
  "weft_log_append_seconds",
  "Time in which records of the replicated log were kept",
);
const appendUnknowns = metrics.counter(
  "weft_log_appends_unknown_total",
  "Appends to the replicated log whose outcome could not be told at once",
);

/** What a record says beside what the shipper knows. */
interface Shipment extends Partial<RecordBody> {
  readonly kind: RecordHead["kind"];
  readonly firstTs?: number;
  readonly lastTs?: number;
  /** Which form rows have from it on. */
  readonly rowFormat?: number;
}

export interface ShipperOptions {
  readonly history: Uint8Array;
  readonly term: number;
  readonly rowFormat: number;
  readonly clock: Clock;
  /** Waits before the outcome of a call is asked for again, whose tries so far it is told; false: not any more. */
  readonly pause: (tries: number) => Promise<boolean>;
  /**
   * Calls of `append` that may be under way. More than one only where the log takes a record whose predecessor is not
   * there yet. Default 1.
   */
  readonly flightsMax?: number;
}

/**
 * The record may be in the log, or not: whoever reads the log behind its next leader's first record knows. Where
 * `wasSent` is false it is not, and never will be.
 */
export class LogLost extends Error {
  override readonly name = "LogLost";
  readonly wasSent: boolean;

  constructor(wasSent: boolean, cause?: unknown) {
    super("this node does not lead any more", { cause });
    this.wasSent = wasSent;
  }
}

interface Waiting {
  readonly shipment: Shipment;
  /** undefined while it is packed. */
  body: PackedBody | undefined;
  readonly resolve: (point: ChainPoint) => void;
  readonly reject: (error: unknown) => void;
}

interface Packed {
  readonly waiting: Waiting;
  readonly body: PackedBody;
}

/** Records of one call of `append`, and their bytes, as far as they go. */
const batchMax = 16;
const batchBytesMax = 4 * 1024 * 1024;

export class LogShipper {
  readonly #log: ReplicatedLog;
  readonly #options: ShipperOptions;
  #point: ChainPoint;
  #durable: number;
  #rowFormat: number;
  #queue: Waiting[] = [];
  #flights = 0;
  /** Resolves when all that was sent is kept. */
  #landed: Promise<void> = Promise.resolve();
  #lost: LogLost | undefined;
  #onLost: () => void = () => {};
  #onKept: (seq: number) => void = () => {};

  /** `point`: how far this leader has read; all of it is applied. */
  constructor(log: ReplicatedLog, point: ChainPoint, options: ShipperOptions) {
    this.#log = log;
    this.#point = point;
    this.#durable = 0;
    this.#rowFormat = options.rowFormat;
    this.#options = options;
  }

  /** All up to it is kept. */
  get durable(): number {
    return this.#durable;
  }

  /** The last record that was sealed. */
  get point(): ChainPoint {
    return this.#point;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Called when more is kept, before whoever waits for it is told. */
  onKept(listener: (seq: number) => void): void {
    this.#onKept = listener;
  }

  /** Called once, when this node is known not to lead. */
  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  /**
   * The place of the record, when it and all before it are kept. Rejects with `LogLost`, or with the fault of
   * `packBody`. The bytes are given away.
   */
  async ship(shipment: Shipment): Promise<ChainPoint> {
    if (this.#lost !== undefined) throw new LogLost(false, this.#lost);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { shipment, body: undefined, resolve, reject };
      this.#queue.push(waiting);
      void this.#pack(waiting);
    });
  }

  /** Nothing is sent any more; what was sent may still be kept. */
  stop(cause?: unknown): void {
    this.#lose(new LogLost(true, cause));
  }

  /** Never rejects. Records are sent as they were shipped, however long each is packed. */
  async #pack(waiting: Waiting): Promise<void> {
    const { keys = noBytes, rows = noBytes } = waiting.shipment;
    try {
      waiting.body = await packBody({ keys, rows });
    } catch (error) {
      this.#queue = this.#queue.filter((other) => other !== waiting);
      waiting.reject(error);
    }
    this.#depart();
  }

  #depart(): void {
    const flightsMax = this.#options.flightsMax ?? 1;
    while (this.#flights < flightsMax) {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      const records = batch.map(({ waiting, body }) => this.#seal(waiting.shipment, body));
      const before = this.#landed;
      this.#flights++;
      this.#landed = this.#fly(batch, records, before);
    }
  }

  /** From the front of the queue, as far as it is packed. */
  #takeBatch(): readonly Packed[] {
    const batch: Packed[] = [];
    let bytes = 0;
    for (const waiting of this.#queue) {
      const { body } = waiting;
      if (body === undefined || batch.length >= batchMax) break;
      bytes += body.bytes.length;
      if (batch.length > 0 && bytes > batchBytesMax) break;
      batch.push({ waiting, body });
    }
    this.#queue.splice(0, batch.length);
    return batch;
  }

  #seal({ kind, firstTs = 0, lastTs = 0, ...more }: Shipment, body: PackedBody): SealedRecord {
    const { history, term, clock } = this.#options;
    const { seq, sum } = this.#point;
    this.#rowFormat = more.rowFormat ?? this.#rowFormat;
    const rowFormat = this.#rowFormat;
    const fields = { history, seq: seq + 1, term, kind, rowFormat, prev: sum, firstTs, lastTs };
    const wallMs = Math.max(0, Math.floor(clock.nowMs()));
    const record = sealLogRecord({ ...fields, durable: this.#durable, wallMs }, body);
    this.#point = { seq: record.seq, sum: record.sum, term };
    return record;
  }

  /** Never rejects. */
  async #fly(
    batch: readonly Packed[],
    records: readonly SealedRecord[],
    before: Promise<void>,
  ): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.tickMs();
    const appended = await this.#append(records);
    // Nothing is answered before all that it stands behind is kept.
    await before;
    this.#flights--;
    if (appended !== "kept" || this.#lost !== undefined) {
      const lost = new LogLost(true);
      for (const { waiting } of batch) waiting.reject(lost);
      this.#lose(lost);
      return;
    }
    appendSeconds.observe((clock.tickMs() - startMs) / 1000);
    for (const [i, { waiting }] of batch.entries()) {
      const { seq, sum } = must(records[i], "each was sealed");
      this.#durable = seq;
      waiting.resolve({ seq, sum, term: this.#options.term });
    }
    this.#onKept(this.#durable);
    this.#depart();
  }

  /** Sends the same bytes until it is known what came of them; undefined: it was stopped before. */
  async #append(records: readonly SealedRecord[]): Promise<Appended | undefined> {
    for (let tries = 1; this.#lost === undefined; tries++) {
      try {
        return await this.#log.append(records);
      } catch {
        appendUnknowns.count++;
        if (!(await this.#options.pause(tries))) return undefined;
      }
    }
    return undefined;
  }

  #lose(lost: LogLost): void {
    if (this.#lost !== undefined) return;
    this.#lost = lost;
    const queue = this.#queue;
    this.#queue = [];
    for (const { reject } of queue) reject(new LogLost(false, lost));
    this.#onLost();
  }
}

const noBytes: Uint8Array = new Uint8Array(0);
