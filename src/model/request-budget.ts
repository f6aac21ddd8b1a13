/**
 * What one request may use, from the first byte of its body to the last of its answer: time, work and memory. One object
 * is made where the request enters and goes with it; whatever loops over something that a client can make long charges
 * it. Charging makes no objects and asks no clock.
 */
import type { Cancellation } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { Fault } from "./fault.ts";
import type { RequestObserver } from "./request-observer.ts";
import { makeLimitFault, nameLimit, type Limits } from "./limits.ts";

/** The memory that all requests of a process hold; it is told in steps of `accountStep` bytes. */
interface MemoryAccount {
  /** Throws a Fault where the process has no more to give; nothing was taken then. */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** A request that holds less is not told of: most hold a few kilobytes. */
export const accountStep = 1024 * 1024;

/**
 * What long loops below the layer of execution ask: charges the work since the last look; a promise means that others
 * want to run, and is awaited before the next. Throws as a budget does.
 */
export type Look = (work: number) => Promise<void> | undefined;

interface BudgetOptions {
  readonly clock: Clock;
  readonly limits: Pick<Limits, "queryTimeoutMs" | "queryWorkMax" | "queryMemoryMax">;
  /**
   * What the client asks for in milliseconds: it can shorten the server's time, never lengthen it. 0: the server's;
   * negative: the time is over.
   */
  readonly timeoutMs?: number;
  /** Whether who asked has gone. */
  readonly signal?: Cancellation | undefined;
  readonly account?: MemoryAccount | undefined;
}

/** The budget that came with a request, or one of the server's limits for a request that came without. */
export function budgetOf(
  settings: Pick<BudgetOptions, "clock" | "limits">,
  request: Pick<BudgetOptions, "timeoutMs" | "signal"> & {
    readonly budget?: RequestBudget | undefined;
  },
): RequestBudget {
  const { timeoutMs = 0, signal, budget } = request;
  if (budget !== undefined) return budget;
  // Member by member: settings come with much that a spread would copy.
  const { clock, limits } = settings;
  return new RequestBudget({ clock, limits, timeoutMs, signal });
}

/** For what the server does of itself: counted, without bounds. */
export function makeFreeBudget(clock: Clock): RequestBudget {
  return new RequestBudget({ clock, limits: noLimits });
}

const noLimits = { queryTimeoutMs: 0, queryWorkMax: 0, queryMemoryMax: 0 };

export class RequestBudget {
  /** On the clock's tick scale; Infinity for none. */
  readonly deadlineMs: number;
  readonly signal: Cancellation | undefined;
  /** Who wants to know where the time goes; undefined: nobody, and nothing is noted. */
  observer: RequestObserver | undefined = undefined;
  /** The turns that all runs of the request take together (exec/yielder.ts); the end is undefined before the first look. */
  sliceEndMs: number | undefined = undefined;
  slices = 0;
  readonly #clock: Clock;
  readonly #isOwnDeadline: boolean;
  readonly #workMax: number;
  readonly #memoryMax: number;
  readonly #account: MemoryAccount | undefined;
  #work = 0;
  #passwords = 0;
  #bytes = 0;
  /** What the account knows of, a multiple of its step. */
  #told = 0;
  #spent: Fault | undefined;

  constructor({ clock, limits, timeoutMs = 0, signal, account }: BudgetOptions) {
    const { queryTimeoutMs, queryWorkMax, queryMemoryMax } = limits;
    const serverMs = queryTimeoutMs === 0 ? Infinity : queryTimeoutMs;
    const clientMs = timeoutMs === 0 ? Infinity : timeoutMs;
    this.#isOwnDeadline = clientMs <= serverMs;
    const ms = Math.min(serverMs, clientMs);
    this.deadlineMs = ms === Infinity ? Infinity : clock.tickMs() + ms;
    this.signal = signal;
    this.#clock = clock;
    this.#workMax = queryWorkMax === 0 ? Infinity : queryWorkMax;
    this.#memoryMax = queryMemoryMax === 0 ? Infinity : queryMemoryMax;
    this.#account = account;
  }

  /** Nodes, edges, values or members that were looked at so far. */
  get work(): number {
    return this.#work;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Why nothing more can be done for the request: time, work or memory are used up, or its sender is gone. */
  get spent(): Fault | undefined {
    return this.#spent;
  }

  /** Milliseconds that are left, never negative; Infinity for no deadline. */
  leftMs(): number {
    return Math.max(0, this.deadlineMs - this.#clock.tickMs());
  }

  /** Looked at so many nodes, edges, values or members. Throws Fault E_LIMIT. */
  charge(work: number): void {
    this.#work += work;
    if (this.#work > this.#workMax) throw this.#spend(this.#tooMuchWork());
  }

  #tooMuchWork(): Fault {
    const text = `the request looks at more than ${this.#workMax} nodes, edges and values`;
    return makeLimitFault("query-work", text);
  }

  #spend(fault: Fault): Fault {
    this.#spent ??= fault;
    return fault;
  }

  /** Has so many passwords compared. Throws Fault E_LIMIT. */
  chargePasswords(count: number, max: number): void {
    this.#passwords += count;
    if (this.#passwords <= max) return;
    const text = `the request has more than ${max} passwords compared`;
    throw this.#spend(makeLimitFault("password-checks", text));
  }

  /** For work that is known before it is done. Throws as `charge` will. */
  expect(work: number): void {
    if (this.#work + work > this.#workMax) throw this.#tooMuchWork();
  }

  /** Holds so many bytes more. Throws Fault E_LIMIT, and what the process's account throws; then nothing was taken. */
  chargeBytes(bytes: number): void {
    const held = this.#bytes + bytes;
    if (held > this.#memoryMax) {
      const text = `the request needs more than ${this.#memoryMax} bytes of memory`;
      throw this.#spend(makeLimitFault("query-memory", text));
    }
    if (held - this.#told >= accountStep) this.#tell(held);
    this.#bytes = held;
  }

  releaseBytes(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    if (this.#told - this.#bytes >= accountStep) this.#tell(this.#bytes);
  }

  #tell(held: number): void {
    if (this.#account === undefined) return;
    const known = held - (held % accountStep);
    if (known > this.#told) this.#account.take(known - this.#told);
    else this.#account.give(this.#told - known);
    this.#told = known;
  }

  /** Asks for the time and for the one who asked. Throws Fault E_CANCELLED or E_DEADLINE. */
  check(): void {
    this.checkAt(this.#clock.tickMs());
  }

  /** `check` for one who knows the time. */
  checkAt(nowMs: number): void {
    if (this.signal?.aborted === true) throw this.#spend(this.#cancelled(this.signal));
    if (nowMs > this.deadlineMs) throw this.#spend(this.#overdue());
  }

  /** Whether `check` would throw. */
  isOver(): boolean {
    return this.signal?.aborted === true || this.#clock.tickMs() > this.deadlineMs;
  }

  #cancelled({ reason }: Cancellation): Fault {
    return new Fault("E_CANCELLED", reason ?? "context canceled");
  }

  #overdue(): Fault {
    const text = "context deadline exceeded";
    return new Fault("E_DEADLINE", this.#isOwnDeadline ? text : nameLimit("query-timeout", text));
  }

  /** The request is over: gives back all that it holds. May be called again. */
  end(): void {
    this.#bytes = 0;
    if (this.#told > 0) this.#tell(0);
  }
}
