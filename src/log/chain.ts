/**
 * Which records of the log count (reference/log 3). Everybody who reads the log from the same place comes to the same
 * judgement, whoever wrote into it: what a deposed leader still had under way is void.
 */
import { equalBytes } from "../base/bytes.ts";
import { noSum, readHead, type DecodedHead } from "./record.ts";
import { LogDamaged, type SealedRecord } from "./replicated-log.ts";

/** How far the log was judged. */
export interface ChainPoint {
  /** Of the last record that was judged, valid or void. */
  readonly seq: number;
  /** Of the last valid one. */
  readonly sum: Uint8Array;
  readonly term: number;
}

/** Before the first record. */
export const chainStart: ChainPoint = { seq: 0, sum: noSum, term: 0 };

export class LogChain {
  readonly history: Uint8Array;
  #point: ChainPoint;

  constructor(history: Uint8Array, point: ChainPoint) {
    this.history = history;
    this.#point = point;
  }

  get point(): ChainPoint {
    return this.#point;
  }

  /**
   * The next record's head; undefined for a void one, whose number is spent. Fault E_LOG for a record that this version
   * cannot read, and where one is missing: then the point stays.
   */
  accept(record: SealedRecord): DecodedHead | undefined {
    const { seq, sum, term } = this.#point;
    if (record.seq !== seq + 1) {
      throw new LogDamaged(seq + 1, `is missing: ${record.seq} follows`);
    }
    const head = readHead(record);
    const isValid =
      equalBytes(head.history, this.history) &&
      equalBytes(head.prev, sum) &&
      (head.kind === "begin" ? head.term > term : head.term === term);
    this.#point = isValid
      ? { seq: record.seq, sum: record.sum, term: head.term }
      : { seq: record.seq, sum, term };
    return isValid ? head : undefined;
  }
}
