/**
 * The change feed into a sink: what the server tells is delivered in its order, and where it was complete is kept. Both
 * sides may fail for a while: the feed is asked again from the position that was reached, and the sink is given the
 * same once more, after waits that grow.
 */
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { readFeedLine, SinkRefusal, type FeedLine, type Sink, type ToldLine } from "./sink.ts";
import { writeState } from "./state-file.ts";

/** What the server answers to the question for a feed. */
interface OpenedFeed {
  /** 200, or why there is no feed; 0: nobody answers. */
  readonly status: number;
  readonly message: string;
  /** Pieces of its text, as they come. */
  readonly pieces: AsyncIterable<string>;
  close(): void;
}

interface DeliveryOptions {
  /** Begins a feed behind a position; undefined: where the feed begins by itself. */
  readonly open: (from: string | undefined) => Promise<OpenedFeed>;
  readonly sink: Sink;
  /** Where it goes on. */
  readonly from: string | undefined;
  /** Where that is kept; undefined: nowhere. */
  readonly stateFile: string | undefined;
  /** Else a server that does not answer ends it. */
  readonly follows: boolean;
  readonly clock: Clock;
  /** What an operator should know. */
  readonly complain: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Waits between tries double from the one to the other. */
const firstWaitMs = 250;
const lastWaitMs = 30_000;
/** The state is written so often at most: each time the disk is waited for. */
const stateMs = 200;

/** Resolves at the end of a feed that does not follow, or when it was told to stop. Fault E_STARTUP where it cannot go on. */
export async function deliverFeed(options: DeliveryOptions): Promise<void> {
  const delivery = new Delivery(options);
  try {
    await delivery.run();
  } finally {
    await delivery.keep();
    await options.sink.close();
  }
}

class Delivery {
  readonly #options: DeliveryOptions;
  /** Up to here all was delivered. */
  #position: string | undefined;
  #keptPosition: string | undefined;
  #keptAtMs = 0;
  /** Some of a commit was delivered, and not its last event. */
  #isInside = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#position = this.#keptPosition = options.from;
  }

  async run(): Promise<void> {
    await this.#begin();
    const { signal, sink, complain, follows } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      const opened = await this.#options.open(this.#position);
      const stop = (): void => opened.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        if (opened.status === 200) {
          failures = 0;
          if (await this.#read(opened)) return;
        } else if (!passing.has(opened.status) || (!follows && opened.status === 0)) {
          throw new Fault("E_STARTUP", opened.message);
        } else complain(`${opened.message.trim()}; trying again`);
      } finally {
        signal.removeEventListener("abort", stop);
        opened.close();
      }
      if (this.#isInside) await sink.rewind?.();
      this.#isInside = false;
      await wait(failures, signal);
    }
  }

  /** What is written before the first position is told can be taken away again. */
  async #begin(): Promise<void> {
    const { stateFile, sink, from } = this.#options;
    if (stateFile === undefined || sink.mark === undefined) return;
    await writeState(stateFile, { position: from, mark: await sink.mark() });
  }

  /** Whether nothing more is to be read. */
  async #read({ pieces }: OpenedFeed): Promise<boolean> {
    let rest = "";
    for await (const piece of untilCut(pieces)) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      const next = await this.#take(lines);
      if (next !== "go on") return next === "end";
    }
    return this.#options.signal.aborted;
  }

  async #take(texts: readonly string[]): Promise<"go on" | "ask again" | "end"> {
    const { clock } = this.#options;
    const lines: FeedLine[] = [];
    let reached = this.#position;
    let last: ToldLine | undefined;
    for (const text of texts) {
      const line = readFeedLine(text);
      if ("text" in line) {
        lines.push(line);
        if (line.isLast) reached = line.position;
      } else {
        last = line;
        if (line.kind !== "error") reached = line.position ?? reached;
      }
    }
    if (!(await this.#deliver(lines))) return "end";
    this.#position = reached;
    if (clock.tickMs() - this.#keptAtMs >= stateMs) await this.keep();
    await this.#putAside();
    if (last?.kind === "end") return "end";
    if (last?.kind !== "error") return "go on";
    // A login that has ended is renewed with the next question.
    if (last.code === "E_UNAUTHORIZED") return "ask again";
    throw new Fault("E_STARTUP", `${last.code ?? ""}: ${last.message ?? ""}`);
  }

  /** False where it was told to stop before. */
  async #deliver(lines: readonly FeedLine[]): Promise<boolean> {
    const { sink, complain, signal } = this.#options;
    const [latest] = lines.slice(-1);
    if (latest === undefined) return !signal.aborted;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await sink.deliver(lines);
        this.#isInside = !latest.isLast;
        return true;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (error instanceof Fault) throw error;
        if (error instanceof SinkRefusal) {
          throw new Fault("E_STARTUP", `not delivered: ${why}`, { cause: error });
        }
        complain(`not delivered: ${why}; trying again`);
        await wait(failures, signal);
      }
    }
    return false;
  }

  /** A stop at any moment finds a state that fits what there is. */
  async #putAside(): Promise<void> {
    const { sink } = this.#options;
    if (sink.isFull !== true) return;
    await this.keep();
    await sink.putAside?.();
    this.#keptPosition = undefined;
    await this.keep();
  }

  /** Durable when it resolves: what the sink has, then that it has it. */
  async keep(): Promise<void> {
    const { stateFile, sink, clock } = this.#options;
    const position = this.#position;
    if (stateFile === undefined || position === undefined || position === this.#keptPosition)
      return;
    const mark = await sink.mark?.();
    await writeState(stateFile, { position, mark });
    this.#keptPosition = position;
    this.#keptAtMs = clock.tickMs();
  }
}

/** Of the server: nobody answers, or it has too much to do. */
const passing: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

/** A connection that breaks off is an end as any other: the feed is asked again. */
async function* untilCut(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = pieces[Symbol.asyncIterator]();
  for (;;) {
    let next: IteratorResult<string>;
    try {
      next = await iterator.next();
    } catch {
      return;
    }
    if (next.done === true) return;
    yield next.value;
  }
}

function wait(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(lastWaitMs, firstWaitMs * 2 ** Math.min(failures, 20));
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
