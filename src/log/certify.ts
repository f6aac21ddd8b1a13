/**
 * Whether an engine keeps what the log asks of it (reference/log 1): the contract, then writes under changing leaders
 * for a while, in which whoever runs it may kill what he likes. All in a log of its own, which goes away again.
 */
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { makeSeededRandom } from "../base/random.ts";
import { chainStart, LogChain } from "./chain.ts";
import { describeLog } from "./contract.ts";
import { judgeNext, LogFollower } from "./follower.ts";
import { openBody, type RecordBody } from "./record.ts";
import type { ReplicatedLog } from "./replicated-log.ts";
import type { ScratchLog } from "./open.ts";
import { LogLost, type LogShipper } from "./shipper.ts";
import { takeOver } from "./take-over.ts";

interface CertifyOptions {
  readonly open: () => ScratchLog;
  readonly clock: Clock;
  /** How long it writes. */
  readonly forMs: number;
  /** Told of each part when it is over; `fault`: what was wrong. */
  readonly onPart: (name: string, fault: string | undefined) => void;
}

/** How the writes went. */
export interface LoadReport {
  readonly acknowledged: number;
  readonly leaders: number;
  /** Writes whose outcome their leader did not learn. */
  readonly unknown: number;
  /** Milliseconds of a write: the median, and 99 of 100. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time in which nothing was acknowledged. */
  readonly gapMs: number;
}

interface Part {
  readonly name: string;
  readonly body: () => Promise<void>;
}

/** Rejects with what `connect` of the log does; all else is told as a part's fault. */
export async function certify(options: CertifyOptions): Promise<LoadReport | undefined> {
  // Reached and safe at all: one line says what is not.
  const first = options.open();
  await (await first.connect()).close();
  await first.remove();
  for (const { name, body } of contractParts(options.open)) {
    await tell(options, name, body);
  }
  const load = new Load(options);
  let report: LoadReport | undefined;
  const writes = "keeps what it acknowledged under changing leaders";
  await tell(options, writes, async () => (report = await load.run()));
  return report;
}

async function tell(
  { onPart }: CertifyOptions,
  name: string,
  body: () => Promise<unknown>,
): Promise<void> {
  try {
    await body();
    onPart(name, undefined);
  } catch (error) {
    onPart(name, error instanceof Error ? error.message : JSON.stringify(error));
  }
}

function contractParts(open: () => ScratchLog): readonly Part[] {
  const parts: Part[] = [];
  describeLog(
    {
      describe: (_name, body) => body(),
      it: (name, body) => void parts.push({ name, body }),
    },
    {
      name: "",
      random: makeSeededRandom,
      rounds: 5,
      steps: 250,
      async open() {
        const scratch = open();
        const logs: ReplicatedLog[] = [];
        return {
          async connect() {
            const log = await scratch.connect();
            logs.push(log);
            return log;
          },
          async close() {
            await Promise.all(logs.map((log) => log.close()));
            await scratch.remove();
          },
        };
      },
    },
  );
  return parts;
}

const lanes = 4;
/** A leader leads so long before another takes over from it. */
const termMs = 3000;
/** So long an engine may be away at the end before it is given up. */
const graceMs = 120_000;
const history = Buffer.from("a log to certify");

/** Four writers over whoever leads, and one that follows. */
class Load {
  readonly #options: CertifyOptions;
  readonly #acknowledged: string[] = [];
  readonly #followed: string[] = [];
  readonly #tookMs: number[] = [];
  #shipper: LogShipper | undefined;
  #leaders = 0;
  #unknown = 0;
  #lastMs = 0;
  #gapMs = 0;
  #untilMs = 0;
  #next = 0;
  #lastSeq = Infinity;

  constructor(options: CertifyOptions) {
    this.#options = options;
  }

  get #nowMs(): number {
    return this.#options.clock.tickMs();
  }

  async run(): Promise<LoadReport> {
    const scratch = this.#options.open();
    const logs = [await scratch.connect(), await scratch.connect(), await scratch.connect()];
    const [one, other, reader] = logs;
    try {
      this.#lastMs = this.#nowMs;
      this.#untilMs = this.#nowMs + this.#options.forMs;
      const leading = this.#lead([must(one, "of three"), must(other, "of three")]);
      const writing = Array.from({ length: lanes }, () => this.#write());
      const following = this.#follow(must(reader, "of three"));
      await Promise.all([leading, ...writing]);
      await this.#compare(must(one, "of three"), following);
      return this.#report();
    } finally {
      await Promise.all(logs.map((log) => log.close()));
      await scratch.remove();
    }
  }

  get #isOver(): boolean {
    return this.#nowMs >= this.#untilMs;
  }

  readonly #pause = async (): Promise<boolean> => {
    await wait(100);
    return this.#nowMs < this.#untilMs + graceMs;
  };

  /** By turns; the one before learns of it by what it is refused. */
  async #lead(nodes: readonly ReplicatedLog[]): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const log = must(nodes[turn % nodes.length], "there are nodes");
      const taken = await this.#takeOver(log);
      if (taken === undefined) continue;
      this.#leaders++;
      this.#shipper = taken;
      await wait(Math.max(0, Math.min(termMs, this.#untilMs - this.#nowMs)));
    }
  }

  async #takeOver(log: ReplicatedLog): Promise<LogShipper | undefined> {
    const { clock } = this.#options;
    const options = { history, term: 1, rowFormat: 1, clock, pause: this.#pause };
    try {
      return (await takeOver(log, chainStart, options))?.shipper;
    } catch {
      // It cannot be read now.
      await wait(100);
      return undefined;
    }
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const shipper = this.#shipper;
      if (shipper === undefined || shipper.isLost) {
        await wait(5);
        continue;
      }
      const text = `write ${this.#next++}`;
      const begunMs = this.#nowMs;
      try {
        const { seq } = await shipper.ship({ kind: "rows", rows: Buffer.from(text) });
        this.#acknowledged.push(`${seq}:${text}`);
        this.#tookMs.push(this.#nowMs - begunMs);
        this.#gapMs = Math.max(this.#gapMs, this.#nowMs - this.#lastMs);
        this.#lastMs = this.#nowMs;
      } catch (error) {
        if (!(error instanceof LogLost)) throw error;
        this.#unknown++;
      }
    }
  }

  /** Until the log's last record, which is known when the writes are over. */
  async #follow(log: ReplicatedLog): Promise<void> {
    const follower = new LogFollower(log, history, chainStart);
    while (follower.point.seq < this.#lastSeq) {
      const records = await follower.next().catch(() => []);
      for (const record of records) this.#followed.push(...textOf(record.head, record));
      if (records.length === 0) await wait(20);
    }
  }

  async #compare(log: ReplicatedLog, following: Promise<void>): Promise<void> {
    const shipper = await this.#takeOverLast(log);
    // The second says of the first that it is kept.
    const { seq } = await shipper.ship({ kind: "barrier" });
    await shipper.ship({ kind: "barrier" });
    this.#lastSeq = seq;
    await following;
    const found = await readTexts(log);
    const there = new Set(found);
    const lost = this.#acknowledged.filter((entry) => !there.has(entry));
    if (lost.length > 0) throw new Error(`${lost.length} acknowledged writes are lost: ${lost[0]}`);
    const texts = new Set(found.map((entry) => entry.slice(entry.indexOf(":"))));
    if (texts.size < found.length) throw new Error("a write is there twice");
    if (this.#followed.join() !== found.join()) {
      throw new Error("who followed has applied what is not in the log");
    }
    if (this.#acknowledged.length === 0) throw new Error("nothing was acknowledged");
  }

  async #takeOverLast(log: ReplicatedLog): Promise<LogShipper> {
    while (this.#nowMs < this.#untilMs + graceMs) {
      const shipper = await this.#takeOver(log);
      if (shipper !== undefined) return shipper;
    }
    throw new Error(`the engine did not answer for ${graceMs / 1000} seconds`);
  }

  #report(): LoadReport {
    const sorted = this.#tookMs.toSorted((a, b) => a - b);
    const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
    return {
      acknowledged: this.#acknowledged.length,
      leaders: this.#leaders,
      unknown: this.#unknown,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      gapMs: this.#gapMs,
    };
  }
}

async function readTexts(log: ReplicatedLog): Promise<readonly string[]> {
  const chain = new LogChain(history, chainStart);
  const found: string[] = [];
  for (;;) {
    const records = await judgeNext(log, chain, 1_000_000);
    if (records === undefined) return found;
    for (const { head, record } of records)
      found.push(...textOf(head, await openBody(record, head)));
  }
}

function textOf(head: { kind: string; seq: number }, { rows }: RecordBody): readonly string[] {
  return head.kind === "rows" ? [`${head.seq}:${Buffer.from(rows).toString()}`] : [];
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
