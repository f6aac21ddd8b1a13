/**
 * The pool of processes that run resolvers. A process runs one call at a time, so that ending it hurts nobody else; a
 * call that has not begun when its process goes is made again. Resolvers that got stuck are held to a few processes
 * for a while, so that the others always find one.
 */
import type { Clock } from "../base/clock.ts";
import { metrics } from "../base/metrics.ts";
import type { Logger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import type { LambdaCode } from "./bundle.ts";
import type { LambdaLimits, ScriptOptions } from "./limits.ts";
import { readResidentBytes } from "./memory.ts";
import type { AskAnswer, AskCall } from "./messages.ts";
import { ResolverProcess } from "./process.ts";
import type { ProcessEvents } from "./process.ts";
import { ScriptFault } from "./script-fault.ts";
import { failure } from "./wire.ts";
import type { WireAnswer } from "./wire.ts";

interface PoolOptions {
  readonly code: LambdaCode;
  readonly limits: LambdaLimits;
  readonly options: ScriptOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answerAsk: (call: AskCall, leftMs: number) => Promise<AskAnswer>;
}

export interface LambdaPool {
  /** Names of the resolvers that the script registers. */
  readonly names: readonly string[];
  /** Never rejects. */
  run(call: LambdaCall): Promise<WireAnswer>;
  /** Calls under way and those that wait are answered, then it ends. No more may come. */
  retire(): Promise<void>;
  close(): Promise<void>;
  /** Ends all processes and waits for none. */
  kill(): void;
}

interface LambdaCall {
  readonly resolver: string;
  /** JSON, as it came. */
  readonly body: string;
  /** What the call asks for has this time, or less; Infinity for no bound. */
  readonly leftMs: number;
  /** The caller takes failures of single parents (`PartialAnswer`). */
  readonly isPartial: boolean;
}

/** Resolves when the script is loaded. Throws E_STARTUP when it cannot be. */
export async function openPool(options: PoolOptions): Promise<LambdaPool> {
  const pool = new Pool(options);
  try {
    const names = await pool.open();
    return {
      names,
      run: (call) => pool.run(call),
      retire: () => pool.retire(),
      close: () => pool.close(),
      kill: () => pool.kill(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** How often processes are looked at while any computes. */
const watchMsMax = 50;
/** Busy this long without a pause: another process may start in its place, and its resolver is under suspicion. */
const stallMsMax = 500;
const suspicionMs = 60_000;
/** For a script to load. */
const loadMs = 10_000;
/** An extra process that nobody needed this long goes. */
const spareMs = 10_000;
/** A call that never begins is made again, so often. */
const triesMax = 3;
/** After a process that could not load the script. */
const restMs = 1_000;

const callSeconds = metrics.histograms(
  "weft_lambda_call_seconds",
  "Time of calls of resolvers, with their waiting",
  "resolver",
);
const callFailures = metrics.counter(
  "weft_lambda_failures_total",
  "Calls of resolvers that failed",
);

interface Call {
  readonly id: number;
  readonly resolver: string;
  readonly body: string;
  readonly isPartial: boolean;
  readonly queuedMs: number;
  /** Of the request that it is made for, on the clock's tick scale. */
  readonly deadlineMs: number;
  tries: number;
  readonly resolve: (answer: WireAnswer) => void;
}

class Pool {
  readonly #options: PoolOptions;
  readonly #stallMs: number;
  readonly #watchMs: number;
  readonly #processes = new Map<ResolverProcess, Call | undefined>();
  readonly #idleSince = new Map<ResolverProcess, number>();
  /** Resolver → until when it is held to few processes. */
  readonly #suspects = new Map<string, number>();
  #queue: Call[] = [];
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #restUntilMs = 0;
  #isClosed = false;
  #opened: { resolve(names: readonly string[]): void; reject(error: Error): void } | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#watchMs = Math.min(watchMsMax, options.limits.blockMs / 8);
    this.#stallMs = Math.min(stallMsMax, options.limits.blockMs / 2);
    metrics.gauge("weft_lambda_processes", "Processes of resolvers", () => this.#processes.size);
    metrics.gauge(
      "weft_lambda_calls_waiting",
      "Calls that wait for a process",
      () => this.#queue.length,
    );
  }

  open(): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      this.#opened = { resolve, reject };
      this.#start();
      this.#watch();
    });
  }

  run({ resolver, body, leftMs, isPartial }: LambdaCall): Promise<WireAnswer> {
    if (this.#queue.length >= this.#options.limits.waitingMax || this.#isClosed) {
      return Promise.resolve(failure(503, `${resolver} was not run: too many calls are waiting.`));
    }
    return new Promise((settle) => {
      const queuedMs = this.#options.clock.tickMs();
      const resolve = (answer: WireAnswer): void => {
        callSeconds.of(resolver).observe((this.#options.clock.tickMs() - queuedMs) / 1000);
        if (answer.status >= 300) callFailures.count++;
        settle(answer);
      };
      const deadlineMs = queuedMs + leftMs;
      const id = ++this.#lastId;
      const call = { id, resolver, body, isPartial, queuedMs, deadlineMs };
      this.#queue.push({ ...call, tries: 0, resolve });
      this.#schedule();
    });
  }

  kill(): void {
    this.#isClosed = true;
    for (const one of this.#processes.keys()) one.kill("the lambda server is ending");
  }

  async retire(): Promise<void> {
    while (this.#queue.length > 0 || [...this.#processes.values()].some((one) => one !== undefined))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await this.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const call of this.#queue.splice(0)) {
      call.resolve(failure(503, `${call.resolver} was not run: the lambda server is ending.`));
    }
    this.kill();
    while (this.#processes.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  // -------------------------------------------------------------------------------------------------------------
  // Who runs what

  #schedule(): void {
    if (this.#queue.length === 0 || this.#isClosed) return;
    const idle: ResolverProcess[] = [];
    for (const [one, call] of this.#processes) {
      if (call === undefined && one.isReady && one.pingMs === undefined) idle.push(one);
    }
    const waiting: Call[] = [];
    let wanted = 0;
    let isHeld = false;
    for (const call of this.#queue) {
      if (this.#isHeldBack(call.resolver)) {
        isHeld = true;
        waiting.push(call);
      } else {
        const one = idle.pop();
        if (one !== undefined) this.#give(one, call);
        else {
          wanted++;
          waiting.push(call);
        }
      }
    }
    this.#queue = waiting;
    // Where resolvers get stuck the next process is ready when one is ended.
    if (isHeld && idle.length === 0) wanted = Math.max(wanted, 1);
    this.#grow(wanted);
    if (this.#timer === undefined) this.#watch();
  }

  #give(one: ResolverProcess, call: Call): void {
    this.#processes.set(one, call);
    this.#idleSince.delete(one);
    call.tries++;
    one.call(call);
  }

  /** A suspect has half of the processes that may compute; one at least. */
  #isHeldBack(resolver: string): boolean {
    if (this.#suspects.size === 0 || !this.#suspects.has(resolver)) return false;
    let count = 0;
    for (const call of this.#processes.values()) if (call?.resolver === resolver) count++;
    return count >= Math.max(1, this.#options.limits.running >> 1);
  }

  /** As many processes as compute, or soon will: those that wait or are stuck do not count. */
  #grow(wanted: number): void {
    const { clock, limits } = this.#options;
    if (wanted === 0 || clock.tickMs() < this.#restUntilMs) return;
    let computing = 0;
    let starting = 0;
    for (const [one, call] of this.#processes) {
      if (!one.isReady) starting++;
      else if (call !== undefined && one.asks === 0 && !this.#isStuck(one)) computing++;
    }
    for (let missing = wanted - starting; missing > 0; missing--) {
      if (this.#processes.size >= limits.processesMax) return;
      if (computing + starting >= limits.running) return;
      this.#start();
      starting++;
    }
  }

  #isStuck(one: ResolverProcess): boolean {
    return one.pingMs !== undefined && this.#options.clock.tickMs() - one.pingMs > this.#stallMs;
  }

  #start(): void {
    this.#processes.set(new ResolverProcess({ ...this.#options, tell: this.#events }), undefined);
  }

  readonly #events: ProcessEvents = {
    ready: (one, names) => {
      this.#idleSince.set(one, this.#options.clock.tickMs());
      this.#opened?.resolve(names);
      this.#opened = undefined;
      this.#schedule();
    },
    done: (one, status, body) => {
      const call = this.#processes.get(one);
      this.#processes.set(one, undefined);
      this.#idleSince.set(one, this.#options.clock.tickMs());
      one.callId = undefined;
      call?.resolve({ status, body });
      this.#schedule();
    },
    waits: () => this.#schedule(),
    ended: (one, reason) => this.#bury(one, reason),
  };

  #bury(one: ResolverProcess, reason: string): void {
    const call = this.#processes.get(one);
    this.#processes.delete(one);
    this.#idleSince.delete(one);
    if (this.#isClosed) {
      call?.resolve(failure(503, `${call.resolver} was ended: the lambda server is ending.`));
      return;
    }
    if (!one.isReady) this.#failToStart(one, reason);
    if (call !== undefined) {
      if (!one.hasBegun && call.tries < triesMax) this.#queue.unshift(call);
      else {
        this.#options.logger.warn("a resolver was ended", { resolver: call.resolver, reason });
        this.#suspects.set(call.resolver, this.#options.clock.tickMs() + suspicionMs);
        call.resolve(failure(500, `${call.resolver} was ended: ${reason}.`));
      }
    }
    this.#schedule();
  }

  /** At the first start everything ends; later, those that wait are told and the next start takes its time. */
  #failToStart({ brokenAt: place }: ResolverProcess, reason: string): void {
    if (this.#opened !== undefined) {
      const { name, places } = this.#options.code;
      this.#opened.reject(
        place === undefined
          ? new Fault("E_STARTUP", `${name}: ${reason}`)
          : new ScriptFault([
              { text: reason.split("\n", 1).join(), place, lineText: places.lineAt(place) },
            ]),
      );
      this.#opened = undefined;
      return;
    }
    this.#options.logger.error("a process of resolvers cannot start", { reason });
    this.#restUntilMs = this.#options.clock.tickMs() + restMs;
    for (const one of this.#processes.keys()) if (one.isReady) return;
    for (const call of this.#queue.splice(0)) {
      call.resolve(failure(500, `${call.resolver} was not run: no process can be started.`));
    }
  }

  // -------------------------------------------------------------------------------------------------------------
  // Limits

  /** Looks at every process again and again, as long as there is anything to see. */
  #watch(): void {
    this.#timer = setTimeout(() => {
      void this.#look().then(() => {
        this.#timer = undefined;
        if (!this.#isClosed && this.#isActive()) this.#watch();
      });
    }, this.#watchMs);
  }

  #isActive(): boolean {
    if (this.#queue.length > 0 || this.#processes.size > this.#options.limits.running) return true;
    for (const [one, call] of this.#processes) if (call !== undefined || !one.isReady) return true;
    return false;
  }

  async #look(): Promise<void> {
    const nowMs = this.#options.clock.tickMs();
    for (const [one, call] of this.#processes) this.#judgeTime(one, call, nowMs);
    await this.#judgeMemory();
    this.#expire(nowMs);
    this.#endSpares(nowMs);
    this.#schedule();
  }

  #judgeTime(one: ResolverProcess, call: Call | undefined, nowMs: number): void {
    const { blockMs, wallMs } = this.#options.limits;
    if (!one.isReady) {
      if (nowMs - one.startMs > loadMs) {
        one.kill(`the script did not load within ${printMs(loadMs)}`);
      }
      return;
    }
    if (one.pingMs !== undefined) {
      const blockedMs = nowMs - one.pingMs;
      if (blockedMs > this.#stallMs && call !== undefined) this.#suspect(one, call, nowMs);
      if (blockedMs > blockMs) one.kill(`it did not pause for ${printMs(blockMs)}`);
    }
    if (call === undefined) return;
    const ageMs = nowMs - one.callStartMs;
    if (ageMs > wallMs) one.kill(`it took longer than ${printMs(wallMs)}`);
    else if (one.pingMs === undefined && ageMs >= this.#watchMs) one.ping();
  }

  /** What was left running by an earlier call is not this one's fault: it begins elsewhere. */
  #suspect(one: ResolverProcess, call: Call, nowMs: number): void {
    if (!one.hasBegun) one.kill("it was stuck before the call began");
    else this.#suspects.set(call.resolver, Math.max(this.#suspects.get(call.resolver) ?? 0, nowMs));
  }

  async #judgeMemory(): Promise<void> {
    const max = this.#options.limits.memoryBytesMax;
    const byPid = new Map<number, ResolverProcess>();
    for (const one of this.#processes.keys()) if (one.pid !== undefined) byPid.set(one.pid, one);
    for (const [pid, bytes] of await readResidentBytes([...byPid.keys()])) {
      const one = byPid.get(pid);
      if (one === undefined) continue;
      if (bytes > max) one.kill(`it used more than ${max >> 20} MB of memory`);
      else if (bytes > max * 0.75 && one.isReady && this.#processes.get(one) === undefined) {
        one.kill("its memory is used up by earlier calls");
      }
    }
  }

  #expire(nowMs: number): void {
    const { waitMs } = this.#options.limits;
    for (const [resolver, untilMs] of this.#suspects) {
      if (untilMs + this.#watchMs * 2 < nowMs) this.#suspects.delete(resolver);
    }
    if (this.#queue.every((call) => nowMs - call.queuedMs <= waitMs)) return;
    const late = this.#queue.filter((call) => nowMs - call.queuedMs > waitMs);
    this.#queue = this.#queue.filter((call) => nowMs - call.queuedMs <= waitMs);
    for (const call of late) {
      const message = `${call.resolver} was not run: no process was free for ${printMs(waitMs)}.`;
      call.resolve(failure(503, message));
    }
  }

  #endSpares(nowMs: number): void {
    let surplus = this.#processes.size - this.#options.limits.running;
    for (const [one, sinceMs] of this.#idleSince) {
      if (surplus <= 0) return;
      if (nowMs - sinceMs < spareMs) continue;
      surplus--;
      one.kill("it is not needed");
    }
  }
}

function printMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
