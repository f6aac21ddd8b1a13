/**
 * One of several machines over one log (reference/log 4 and 5): it follows, applying each record to its own store, until
 * it takes the lead; then what its store writes goes to the log first. In: a log, an opened store. Never here: who is to
 * lead, and when.
 */
import { assert, must } from "../base/assert.ts";
import { equalBytes } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { chainStart, LogChain, type ChainPoint } from "../log/chain.ts";
import { LogFollower, type FollowedRecord } from "../log/follower.ts";
import { openBody, readHead, type RecordHead } from "../log/record.ts";
import {
  LogDamaged,
  LogTrimmed,
  type ReplicatedLog,
  type SealedRecord,
} from "../log/replicated-log.ts";
import { LogLost, type LogShipper } from "../log/shipper.ts";
import { takeOver, type TakenOver } from "../log/take-over.ts";
import type { LeadingStore, NodeStore, RowShipper } from "../stores/open.ts";
import { decodePosition, encodePosition } from "./position.ts";

interface ReplicaOptions {
  readonly log: ReplicatedLog;
  /** As `takeOver` waits between two tries whose outcome is unknown; false: it gives the lead up. */
  readonly pause: (tries: number) => Promise<boolean>;
  readonly clock: Clock;
  /** Forms of rows that this machine reads and writes; default: those of this version. */
  readonly formats?: readonly number[];
}

/** The form of rows in records: as the journal of the store's format 5 has them (reference/storage 8.5). */
const rowFormat = 5;

/** Those that this version reads and writes. */
export const rowFormats: readonly number[] = [rowFormat];

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #node: NodeStore;
  readonly #history: Buffer;
  #follower: LogFollower | undefined;
  #shipper: LogShipper | undefined;
  #markedSeq = 0;
  /** Of the newest record that was met; it never falls. */
  #format: number;
  #onDigest: (seq: number) => void = () => {};

  private constructor(
    node: NodeStore,
    { point, format }: { readonly point: ChainPoint; readonly format: number },
    options: ReplicaOptions,
  ) {
    this.#format = format;
    this.#node = node;
    this.#options = options;
    this.#history = Buffer.from(node.storeId, "hex");
    this.#follower = new LogFollower(options.log, this.#history, point);
  }

  /** Rejects as the log does, and with E_LOG where the store holds what the log does not have. */
  static async open(node: NodeStore, options: ReplicaOptions): Promise<Replica> {
    const { position } = node;
    if (position === undefined) refuseFilled(node);
    const point = position === undefined ? chainStart : decodePosition(position);
    const history = Buffer.from(node.storeId, "hex");
    await refuseOther(options.log, history, point);
    const { formats = rowFormats } = options;
    const newest = await readNewest(options.log, history);
    if (newest !== undefined) checkRowFormat(newest, formats);
    const format = newest?.rowFormat ?? Math.max(...formats);
    return new Replica(node, { point, format }, options);
  }

  /** The form that rows have in the log now. */
  get format(): number {
    return this.#format;
  }

  get #formats(): readonly number[] {
    return this.#options.formats ?? rowFormats;
  }

  #noteFormat(head: RecordHead): void {
    checkRowFormat(head, this.#formats);
    this.#format = Math.max(this.#format, head.rowFormat);
  }

  /** How far the log is applied. */
  get point(): ChainPoint {
    return this.#shipper?.point ?? this.#following.point;
  }

  /** All up to it is kept, says the leader. */
  tell(kept: number): void {
    this.#follower?.tell(kept);
  }

  get #following(): LogFollower {
    if (this.#follower === undefined) throw new Fault("E_LOG", "this machine follows no more");
    return this.#follower;
  }

  /**
   * Applies what is known to be kept, as far as one read of the log goes; false: there was nothing. Rejects as the log
   * does, and with E_LOG for a record that cannot be applied: then nothing of what was read is, and it is read again.
   */
  async follow(): Promise<boolean> {
    const follower = this.#following;
    const from = follower.point;
    const records = await follower.next();
    if (follower.voids > 0) await refuseOther(this.#options.log, this.#history, from);
    if (records.length === 0) return false;
    let applied = from;
    try {
      const end = records.findIndex(({ head }) => !this.#formats.includes(head.rowFormat));
      const readable = end === -1 ? records : records.slice(0, end);
      for (const run of cutAtDigests(readable)) applied = await this.#apply(run);
      for (const { head } of records) this.#noteFormat(head);
    } catch (error) {
      this.#follower = new LogFollower(this.#options.log, this.#history, applied);
      throw error;
    }
    return true;
  }

  /**
   * Faults E_LOG where the log is not what this machine has applied, and `LogDamaged` for the record behind that, where it
   * is kept and cannot be read: to be called when it has been waited for. `kept`: all up to it is, says the leader.
   */
  async explainStall(kept: number): Promise<void> {
    const { log } = this.#options;
    const { point } = this.#following;
    await refuseOther(log, this.#history, point);
    const next = point.seq + 1;
    if (kept < next && (await log.tail()) < next) return;
    const [record] = await log.read(point.seq, 1);
    if (record === undefined) throw new LogDamaged(next, "is missing");
    const isBehind = new LogChain(this.#history, point).accept(record) !== undefined;
    if (isBehind) await openBody(record, readHead(record));
    else throw new LogDamaged(next, `is damaged: it does not stand behind record ${point.seq}`);
  }

  /** In one transaction; the place of the last. */
  async #apply(run: readonly FollowedRecord[]): Promise<ChainPoint> {
    const last = must(run.at(-1), "a run holds records");
    const written = run.filter(({ head }) => head.kind === "rows");
    await this.#node.whenWritable();
    this.#node.apply(written, encodePosition(last.point));
    if (last.head.kind === "digest") this.#onDigest(last.head.seq);
    return last.point;
  }

  /** Told of each record that asks for a digest, when all before it is applied, and nothing behind it. */
  onDigest(listener: (seq: number) => void): void {
    this.#onDigest = listener;
  }

  /**
   * Takes the lead: reads and applies all that the log has, and puts its begin behind it. undefined: another machine was
   * first, and this one goes on following. Once it leads it never follows again: when the lead is lost, the store is
   * ended (its `onFatal`), and opened anew.
   */
  async lead(onLost: () => void): Promise<LeadingStore | undefined> {
    // What is read below is held in memory until it is applied.
    while (await this.follow());
    const { log, pause, clock } = this.#options;
    const { point } = this.#following;
    // A store that has no room takes no lead: its begin would depose another machine for nothing.
    await this.#node.whenWritable();
    this.#node.apply([], encodePosition(point));
    const options = {
      history: this.#history,
      term: 1,
      rowFormat: this.#format,
      clock,
      pause,
      check: (head: RecordHead) => this.#noteFormat(head),
    };
    const taken = await takeOver(log, point, options);
    if (taken === undefined) return undefined;
    try {
      return await this.#beginToLead(taken, onLost);
    } catch (error) {
      taken.shipper.stop();
      throw error;
    }
  }

  async #beginToLead(taken: TakenOver, onLost: () => void): Promise<LeadingStore> {
    const { shipper } = taken;
    await this.#applyTaken(taken);
    this.#follower = undefined;
    this.#shipper = shipper;
    shipper.onLost(onLost);
    return this.#node.lead(shipRows(shipper));
  }

  /** Kept with the begin: they are applied one by one, since none of them may be large. */
  async #applyTaken({ records, point }: TakenOver): Promise<void> {
    let applied = this.#following.point;
    try {
      for (const { head, record, point: reached } of records) {
        const body = await openBody(record, head);
        await this.#node.whenWritable();
        this.#node.apply(head.kind === "rows" ? [body] : [], encodePosition(reached));
        applied = reached;
      }
      await this.#node.whenWritable();
      this.#node.apply([], encodePosition(point));
    } catch (error) {
      // It goes on following behind what it has.
      this.#follower = new LogFollower(this.#options.log, this.#history, applied);
      throw error;
    }
  }

  /** Of the leader: told of each record that is kept. */
  onKept(listener: (seq: number) => void): void {
    assert(this.#shipper !== undefined, "only the leader ships");
    this.#shipper.onKept(listener);
  }

  /** Nothing is shipped any more. What was under way may be in the log. */
  resign(): void {
    this.#shipper?.stop();
  }

  /** Of the leader: rows have another form from the record on that says so. Whoever does not read it stops there. */
  async raiseFormat(format: number): Promise<void> {
    assert(this.#shipper !== undefined, "only the leader raises it");
    await this.#shipper.ship({ kind: "format", rowFormat: format });
    this.#format = Math.max(this.#format, format);
  }

  /** Of the leader: has all machines digest their rows as of the record, whose number it gives. */
  async askForDigests(): Promise<number> {
    assert(this.#shipper !== undefined, "only the leader asks");
    const { seq } = await this.#shipper.ship({ kind: "digest" });
    return seq;
  }

  /**
   * Of the leader, before the log is trimmed: its store notes how far the log goes, also where the last records of it
   * had no rows. Otherwise it would stand at a record that is gone.
   */
  async notePlace(): Promise<void> {
    assert(this.#shipper !== undefined, "only the leader notes it so");
    const goOn = await this.#node.pause();
    try {
      this.#node.note(encodePosition(await this.#shipper.ship({ kind: "barrier" })));
    } finally {
      goOn();
    }
  }

  /** Tells whoever only reads the log that all is kept, unless nothing came since it was told last. */
  async markKept(): Promise<void> {
    const { durable = 0 } = this.#shipper ?? {};
    if (durable <= this.#markedSeq) return;
    await this.mark();
    this.#markedSeq = this.#shipper?.durable ?? durable;
  }

  /** Tells followers that all is kept. */
  async mark(): Promise<void> {
    assert(this.#shipper !== undefined, "only the leader marks");
    await this.#shipper.ship({ kind: "barrier" });
  }
}

/** Each run but the last ends with a record that asks for a digest. */
function cutAtDigests(records: readonly FollowedRecord[]): readonly (readonly FollowedRecord[])[] {
  const runs: FollowedRecord[][] = [];
  let run: FollowedRecord[] = [];
  for (const record of records) {
    if (run.length === 0) runs.push(run);
    run.push(record);
    if (record.head.kind === "digest") run = [];
  }
  return runs;
}

/** Its rows came from somewhere else than the log. */
function refuseFilled(node: NodeStore): void {
  const snapshot = node.snapshot();
  const { ts } = snapshot;
  snapshot.close();
  if (ts > 0)
    throw new Fault(
      "E_LOG",
      "the store holds commits that came from no log: it was repaired, or begun alone; without its directory this machine is given a snapshot",
    );
}

/** The log of another store; or one that lacks what this store has applied, since a fail-over of its engine took it. */
async function refuseOther(log: ReplicatedLog, history: Buffer, point: ChainPoint): Promise<void> {
  const { seq, sum } = point;
  const record = await readOne(log, Math.max(seq, 1));
  // Whether the next one stands behind it is seen when that is read.
  if (record === "unreadable") return;
  if (record !== undefined && !equalBytes(readHead(record).history, history)) {
    throw new Fault("E_LOG", "the log is that of another store");
  }
  if (seq === 0 || (record !== undefined && equalBytes(record.sum, sum))) return;
  const next = record === undefined ? undefined : await readOne(log, seq + 1);
  // It is damaged, and the one that was there is what the others go on with.
  if (typeof next === "object" && equalBytes(next.prev, sum)) return;
  throw new Fault(
    "E_LOG",
    `the store has applied record ${seq}, and the log ${record === undefined ? "does not have it" : "has another one there"}: bring the log back as it was; only where it is right as it is, this machine has to be made anew`,
  );
}

/** unreadable: it is trimmed, and it alone, or damaged, or missing between others. undefined: the log ends before it. */
async function readOne(
  log: ReplicatedLog,
  seq: number,
): Promise<SealedRecord | "unreadable" | undefined> {
  try {
    const [record] = await log.read(seq - 1, 1);
    if (record !== undefined) return record;
  } catch (error) {
    const isKnown = error instanceof LogTrimmed && error.first === seq + 1;
    if (isKnown || error instanceof LogDamaged) return "unreadable";
    throw error;
  }
  return (await log.tail()) > seq ? "unreadable" : undefined;
}

/** undefined: there is none, or it is of another history, which is told elsewhere. */
async function readNewest(log: ReplicatedLog, history: Buffer): Promise<RecordHead | undefined> {
  const tail = await log.tail();
  const record = tail === 0 ? undefined : await readOne(log, tail);
  if (record === undefined || record === "unreadable") return undefined;
  const head = readHead(record);
  return equalBytes(head.history, history) ? head : undefined;
}

function checkRowFormat(
  { rowFormat: format, seq }: Pick<RecordHead, "rowFormat" | "seq">,
  formats: readonly number[],
): void {
  if (formats.includes(format)) return;
  throw new Fault("E_LOG", `the rows of record ${seq} have ${explainFormat(format, formats)}`);
}

export function explainFormat(format: number, formats: readonly number[]): string {
  return `format ${format}, and this machine reads ${formats.join(" and ")}: the machines were finalized for a newer version, start that one`;
}

function shipRows(shipper: LogShipper): RowShipper {
  return {
    async ship({ keys, rows, firstTs, lastTs }) {
      try {
        return encodePosition(await shipper.ship({ kind: "rows", keys, rows, firstTs, lastTs }));
      } catch (error) {
        throw asFault(error);
      }
    },
  };
}

function asFault(error: unknown): unknown {
  if (!(error instanceof LogLost)) return error;
  return error.wasSent
    ? new Fault("E_OUTCOME_UNKNOWN", "the outcome of the transaction is unknown: the lead was lost")
    : new Fault("E_STORE_UNAVAILABLE", "the store is not available: the lead was lost");
}
