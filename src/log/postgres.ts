/**
 * The log in PostgreSQL, or in what speaks its protocol (reference/log 6.2). A row that can be seen is not kept: a wait
 * for the standby that was ended leaves it visible to all, and a fail-over takes it away. Kept is what was acknowledged
 * without a warning, or what lies before something that was.
 */
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { PostgresSessions, type SqlAnswer, type SessionOptions } from "./postgres/sessions.ts";
import {
  addLease,
  addPart,
  appendStatement,
  beatLease,
  giveUpLease,
  prove,
  putWish,
  readEnds,
  readLease,
  readParts,
  readWishes,
  selectRecords,
  readSums,
  removeCell,
  sweepParts,
  tables,
  takeLease,
  trimRows,
  type SqlRecord,
} from "./postgres/statements.ts";
import { asSealed, isInParts, partBytes } from "./record.ts";
import {
  LogDamaged,
  LogTrimmed,
  LogUnavailable,
  LogUnknown,
  type Appended,
  type Lease,
  type LogLease,
  type ReplicatedLog,
  type SealedRecord,
} from "./replicated-log.ts";

interface PostgresLogOptions extends SessionOptions {
  readonly clock: Clock;
  /** Logs in one database are told apart by a number; each is one store's. */
  readonly cell: number;
}

/** A log that can take itself away, as those of tests do. */
export interface PostgresLog extends ReplicatedLog {
  removeAll(): Promise<void>;
}

/** Makes the tables where there are none. Fault E_STARTUP, one line, where that cannot be or the server is not safe. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const sessions = new PostgresSessions(options);
  try {
    for (const table of tables) await makeTable(sessions, table);
    await sessions.run(addLease, [options.cell]);
  } catch (error) {
    await sessions.close();
    if (error instanceof Fault) throw error;
    throw new Fault("E_STARTUP", `the log's PostgreSQL cannot be used: ${wordsOf(error)}`, {
      cause: error,
    });
  }
  return new Log(sessions, options);
}

/** Two that make a table at once: one of them is refused, though it says "if not exists". */
async function makeTable(sessions: PostgresSessions, table: string): Promise<void> {
  try {
    await sessions.run(table);
  } catch (error) {
    if (codeOf(error) !== uniqueViolation && codeOf(error) !== duplicateTable) throw error;
    await sessions.run(table);
  }
}

const uniqueViolation = "23505";
const duplicateTable = "42P07";
const watchMs = 50;
/** Parts of a record that did not come to be within a day. */
const orphanMs = 86_400_000;

class Log implements PostgresLog {
  readonly lease: LogLease;
  readonly #sessions: PostgresSessions;
  readonly #cell: number;
  readonly #clock: Clock;
  readonly #watches = new Set<NodeJS.Timeout>();

  constructor(sessions: PostgresSessions, { cell, clock }: PostgresLogOptions) {
    this.#sessions = sessions;
    this.#cell = cell;
    this.#clock = clock;
    this.lease = makeLease((text, values) => this.#ask(text, values));
  }

  async append(records: readonly SealedRecord[]): Promise<Appended> {
    const [first, ...others] = records.map(asRow);
    if (first === undefined) return "kept";
    try {
      for (const row of [first, ...others]) await this.#addParts(row);
      const { text, values } = appendStatement(this.#cell, [first, ...others]);
      const { count, isLocal } = await this.#sessions.run(text, values);
      if (count === records.length && !isLocal) return "kept";
    } catch (error) {
      if (codeOf(error) !== uniqueViolation) throw asUnknown(error);
    }
    return this.#lookUp(records);
  }

  async #addParts({ record, parts }: SqlRecord): Promise<void> {
    const madeMs = Math.floor(this.#clock.nowMs());
    for (let n = 0; n < parts; n++) {
      const bytes = record.body.subarray(n * partBytes, (n + 1) * partBytes);
      await this.#sessions.run(addPart, [this.#cell, record.sum, n, madeMs, bytes]);
    }
  }

  /** The rows were not put in now: they are there, or others are, or what they stand behind is not. */
  async #lookUp(records: readonly SealedRecord[]): Promise<Appended> {
    const [first] = records;
    const last = records.at(-1);
    if (first === undefined || last === undefined) return "kept";
    const { rows } = await this.#sessions
      .run(readSums, [this.#cell, first.seq, last.seq])
      .catch((error: unknown) => {
        throw asUnknown(error);
      });
    const sums = new Map(rows.map(({ seq, sum }) => [Number(seq), sum as Buffer]));
    if (records.every(({ seq, sum }) => sums.get(seq)?.equals(sum) === true)) {
      await this.#prove();
      return "kept";
    }
    const isFree = records.every(({ seq }) => !sums.has(seq));
    const before = sums.get(first.seq - 1);
    // Something went between: a part that was swept, or a commit while we looked.
    if (isFree && before?.equals(first.prev) === true) throw new LogUnknown("nothing was appended");
    return "fenced";
  }

  /** What is visible is durable when something behind it is acknowledged. */
  async #prove(): Promise<void> {
    try {
      const { count, isLocal } = await this.#sessions.run(prove, [this.#cell]);
      if (count === 1 && !isLocal) return;
    } catch (error) {
      throw asUnknown(error);
    }
    throw new LogUnknown("the records are there, and perhaps on no other machine");
  }

  async read(after: number, bytesMax: number): Promise<readonly SealedRecord[]> {
    const { rows } = await this.#ask(selectRecords, [after, bytesMax]);
    const found: SealedRecord[] = [];
    for (const row of rows) {
      const seq = after + found.length + 1;
      try {
        found.push(await this.#open(row, seq));
      } catch (error) {
        // What lies before one that cannot be read is read.
        if (error instanceof LogDamaged && found.length > 0) break;
        throw error;
      }
    }
    return found;
  }

  async #open(row: SqlAnswer["rows"][number], seq: number): Promise<SealedRecord> {
    if (Number(row["seq"]) !== seq) {
      const { first } = await this.#ends();
      if (first > seq) throw new LogTrimmed(first);
      throw new LogDamaged(seq, "is missing");
    }
    let record: SealedRecord;
    try {
      record = asSealed(row["head"] as Buffer, row["body"] as Buffer);
    } catch (cause) {
      throw new LogDamaged(seq, "is damaged: its row holds no record", { cause });
    }
    if (record.seq !== seq) {
      throw new LogDamaged(seq, `is damaged: its row says that it is record ${record.seq}`);
    }
    return isInParts(record.head) ? { ...record, body: await this.#gather(record) } : record;
  }

  placeOf(seq: number): string {
    return `the row of weft_log with cell ${this.#cell} and seq ${seq}`;
  }

  async #gather({ seq, sum }: SealedRecord): Promise<Buffer> {
    const { rows } = await this.#ask(readParts, [sum]);
    if (rows.length > 0) return Buffer.concat(rows.map(({ bytes }) => bytes as Buffer));
    const { first } = await this.#ends();
    if (first > seq) throw new LogTrimmed(first);
    throw new LogDamaged(seq, "is damaged: its parts are missing");
  }

  async #ends(): Promise<{ readonly first: number; readonly last: number }> {
    const { rows } = await this.#ask(readEnds);
    return { first: Number(rows[0]?.["first"] ?? 1), last: Number(rows[0]?.["last"] ?? 0) };
  }

  async tail(): Promise<number> {
    return (await this.#ends()).last;
  }

  /** Looks again and again: notifications are not known everywhere. */
  watch(wake: () => void): () => void {
    let seen: number | undefined;
    let isAsking = false;
    const look = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      const tail = await this.tail().catch(() => seen);
      isAsking = false;
      if (tail === seen) return;
      seen = tail;
      wake();
    };
    const timer = setInterval(() => void look(), watchMs);
    timer.unref();
    this.#watches.add(timer);
    return () => {
      clearInterval(timer);
      this.#watches.delete(timer);
    };
  }

  async trim(below: number): Promise<void> {
    await this.#ask(trimRows, [below]);
    await this.#ask(sweepParts, [Math.floor(this.#clock.nowMs()) - orphanMs]);
  }

  async removeAll(): Promise<void> {
    for (const text of removeCell) await this.#ask(text);
  }

  async close(): Promise<void> {
    for (const timer of this.#watches) clearInterval(timer);
    await this.#sessions.close();
  }

  async #ask(text: string, values: readonly unknown[] = []): Promise<SqlAnswer> {
    try {
      return await this.#sessions.run(text, [this.#cell, ...values]);
    } catch (error) {
      throw new LogUnavailable(`the log cannot be reached: ${wordsOf(error)}`, { cause: error });
    }
  }
}

function makeLease(
  ask: (text: string, values?: readonly unknown[]) => Promise<SqlAnswer>,
): LogLease {
  /** false: somebody else's. Rejects where it may be gone after a fail-over. */
  const change = async (text: string, values: readonly unknown[]): Promise<boolean> => {
    const { count, isLocal } = await ask(text, values);
    if (isLocal) throw new LogUnavailable("the lease was written, and perhaps on one machine only");
    return count === 1;
  };
  return {
    async read() {
      const { rows } = await ask(readLease);
      const { term, beat, node, address, lasts } = rows[0] ?? {};
      return {
        term: Number(term ?? 0),
        beat: Number(beat ?? 0),
        node: typeof node === "string" ? node : "",
        address: typeof address === "string" ? address : "",
        lastsMs: Number(lasts ?? 0),
      };
    },
    take: (seen: Lease, { term, node, address, lastsMs }) =>
      change(takeLease, [seen.term, seen.beat, term, node, address, lastsMs]),
    beat: (term) => change(beatLease, [term]),
    giveUp: async (term) => void (await change(giveUpLease, [term])),
    wish: async ({ node, address, term, count, reaches }) =>
      void (await ask(putWish, [node, address, term, count, reaches.join(" ")])),
    async wishes() {
      const { rows } = await ask(readWishes);
      return rows.map(({ node, address, term, count, reaches }) => ({
        node: String(node),
        address: String(address),
        term: Number(term),
        count: Number(count),
        reaches: wordsIn(String(reaches)),
      }));
    },
  };
}

function asRow(record: SealedRecord): SqlRecord {
  if (!isInParts(record.head)) return { record, body: record.body, parts: 0 };
  const parts = Math.ceil(record.body.length / partBytes);
  return { record, body: Buffer.alloc(0), parts };
}

function asUnknown(error: unknown): unknown {
  if (error instanceof LogUnknown) return error;
  return new LogUnknown(`the outcome of an append is unknown: ${wordsOf(error)}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Names of machines have no blanks. */
function wordsIn(text: string): readonly string[] {
  return text.split(" ").filter((word) => word !== "");
}
