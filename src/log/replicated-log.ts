/**
 * Port: a replicated log, which an engine outside of the process keeps (reference/log 1). In: sealed records, each at
 * its number. Out: the same bytes, in the order of their numbers, to everybody. What a record says is not looked at by
 * an adapter; who leads is not known to it. All safety rests on one promise: a number is given once, and what was
 * answered as kept stays.
 */

import { Fault } from "../model/fault.ts";

/** A record as it goes over the wire; none of it changes any more. */
export interface SealedRecord {
  /** From 1 on, without gaps. */
  readonly seq: number;
  /** SHA-256 of the head, which names the body's. No two records have the same. */
  readonly sum: Buffer;
  /** `sum` of the record that it stands behind; zeros at 1. */
  readonly prev: Buffer;
  readonly head: Buffer;
  readonly body: Buffer;
}

/**
 * kept: all of them are there, durable, and so is everything before them. fenced: somebody else has the number of one
 * of them, or what it stands behind is not there: who sent them does not lead. Whether any of them is there is not said.
 */
export type Appended = "kept" | "fenced";

/** Who appends, as far as anybody knows: it decides who tries, never what is kept. */
export interface Lease {
  /** Grows with each holder; 0: there was none. */
  readonly term: number;
  /** Grows while the holder lives; -1: given up. */
  readonly beat: number;
  readonly node: string;
  /** HOST:PORT; empty before the first. */
  readonly address: string;
  /** Without a beat for so long others may take it: the holder says it, and trusts it for less. */
  readonly lastsMs: number;
}

/** A machine that reaches the log, and not the leader, asks that another one lead (reference/log 7.3). */
export interface LeadWish {
  readonly node: string;
  /** HOST:PORT. */
  readonly address: string;
  /** Of the leader that it does not reach. */
  readonly term: number;
  /** Grows while it asks. */
  readonly count: number;
  /** Names of machines that it reaches. */
  readonly reaches: readonly string[];
}

export interface LogLease {
  read(): Promise<Lease>;
  /** `term`: above the seen one. false: it was not as seen any more, and nothing has changed. */
  take(seen: Lease, mine: Omit<Lease, "beat">): Promise<boolean>;
  /** false: somebody else holds it. */
  beat(term: number): Promise<boolean>;
  /** Of the holder: the next may take it at once. */
  giveUp(term: number): Promise<void>;
  /** One for each machine: the newest. */
  wish(wish: LeadWish): Promise<void>;
  wishes(): Promise<readonly LeadWish[]>;
}

/** All calls reject with `LogUnavailable` where the engine cannot be reached; nothing is known to have changed. */
export interface ReplicatedLog {
  /**
   * Numbers follow each other, and so do `prev` and `sum`. Rejects with `LogUnknown` where the outcome cannot be told:
   * then nothing but the same bytes may be sent at these numbers, until they are answered. Sent again, they are "kept"
   * only where they are as durable as if they had been answered at first.
   */
  append(records: readonly SealedRecord[]): Promise<Appended>;
  /**
   * What is visible behind `after`, in order, without gaps: some `bytesMax` bytes, at least one record where there is
   * one. Visible is not durable: it may vanish again unless it was answered as kept. Rejects with `LogTrimmed`, and with
   * `LogDamaged` where the first of them cannot be read.
   */
  read(after: number, bytesMax: number): Promise<readonly SealedRecord[]>;
  /** The newest number, as of a moment during the call; 0 where nothing was ever appended. */
  tail(): Promise<number>;
  /** `wake` is called some time after records were appended; perhaps late, more often, or not at all. */
  watch(wake: () => void): () => void;
  /** Where its engine keeps a record, for whoever looks after it. */
  placeOf(seq: number): string;
  /** Forgets what is below a number; the newest record stays. */
  trim(below: number): Promise<void>;
  readonly lease: LogLease;
  close(): Promise<void>;
}

/** The records may be kept, or not, or be kept later. */
export class LogUnknown extends Error {
  override readonly name = "LogUnknown";
}

/** The engine cannot be reached, or cannot do it now. */
export class LogUnavailable extends Error {
  override readonly name = "LogUnavailable";
}

/** There is no log where it should be. It may be back later, as it was: none is begun in its place. */
export class LogAbsent extends LogUnavailable {}

/** A record is not there, or not as it was sealed, though what is behind it is kept. Whoever needs it cannot go on. */
export class LogDamaged extends Fault {
  readonly seq: number;

  /** `how`: as "is missing". */
  constructor(seq: number, how: string, options?: { cause?: unknown }) {
    super("E_LOG", `record ${seq} of the log ${how}`, options);
    this.seq = seq;
  }
}

/** What is asked for is not kept any more. */
export class LogTrimmed extends Error {
  override readonly name = "LogTrimmed";
  /** The oldest number that is there. */
  readonly first: number;

  constructor(first: number) {
    super(`the log begins at ${first}`);
    this.first = first;
  }
}
