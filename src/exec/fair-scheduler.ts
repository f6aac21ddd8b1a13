/**
 * Long requests take turns: at most a few of them run at a time in a process, the others wait, so that a small request
 * waits for one slice of each that runs and not of each there is (reference/dql 5.3).
 */
import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { RequestBudget } from "../model/request-budget.ts";
import { SolePieces } from "./pieces.ts";
import { Rounds } from "./rounds.ts";

export interface FairScheduler {
  /**
   * After a slice of work: resolves when the next may begin, and when the request's time is over or its sender gone. The
   * budget stands for the request: what many runs of it do is one turn.
   */
  next(request: RequestBudget): Promise<void>;
  /** A run of the request has ended, and with it the turn that it had. Slices stay counted: another may follow. */
  end(request: RequestBudget): void;
  /**
   * For work that cannot be cut into slices, as the preparation of a large document: one such piece at a time (see
   * `Pieces`).
   */
  alone<T>(budget: RequestBudget, work: () => T): MaybePromise<T>;
  /** A slice for what the server does of itself, among those of requests: one of them all in a round of the event loop. */
  turn(): Promise<void>;
  /** Whether slices wait for their place: who begins now should soon let others run. */
  readonly isBusy: boolean;
}

/** Characters of a document, or of the body that carries it, from which its preparation is no small matter. */
export const largeDocument = 8 * 1024;

/** Slices after which a request counts as long. */
const shortSlices = 5;

/** Slices after which one that runs gives way to those that wait: no two requests hold up all others. */
const slicesInTurn = 50;

/** How often those that wait are asked whether their time is over, and those that run whether they do. */
const lookEveryMs = 50;
/** One that has asked for no slice for so long waits for something else: a password's hash, another process. */
const restMs = 250;

interface Waiting {
  readonly request: RequestBudget;
  readonly resolve: () => void;
}

interface Turn {
  slices: number;
  /** When it asked for its slice. */
  askedMs: number;
}

export function makeFairScheduler(clock: Clock, runningMax = 2): FairScheduler {
  const running = new Map<RequestBudget, Turn>();
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  const pieces = new SolePieces(clock);
  const rounds = new Rounds();

  const look = (): void => {
    const over = waiting.filter(({ request }) => request.isOver());
    if (over.length > 0) waiting = waiting.filter((one) => !over.includes(one));
    for (const { resolve } of over) resolve();
    // Who rests has no turn: it stands behind those that wait when it goes on.
    const nowMs = clock.tickMs();
    for (const [request, { askedMs }] of running) {
      if (nowMs - askedMs <= restMs || waiting.length === 0) continue;
      running.delete(request);
      letIn();
    }
    if (waiting.length === 0) stopLooking();
  };
  const stopLooking = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const wait = (request: RequestBudget): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ request, resolve });
      timer ??= setInterval(look, lookEveryMs);
    });
  const letIn = (): void => {
    const first = waiting.shift();
    if (first === undefined) return;
    running.set(first.request, { slices: 0, askedMs: clock.tickMs() });
    rounds.later(first.resolve);
    if (waiting.length === 0) stopLooking();
  };

  return {
    get isBusy() {
      return rounds.isBusy;
    },
    next(request) {
      const count = ++request.slices;
      const inTurn = running.get(request);
      if (inTurn !== undefined) {
        if (inTurn.slices < slicesInTurn || waiting.length === 0) {
          inTurn.slices++;
          inTurn.askedMs = clock.tickMs();
          return rounds.next();
        }
        running.delete(request);
        const turn = wait(request);
        letIn();
        return turn;
      }
      if (count <= shortSlices) return rounds.next();
      if (running.size < runningMax) {
        running.set(request, { slices: 0, askedMs: clock.tickMs() });
        return rounds.next();
      }
      return wait(request);
    },
    end(request) {
      if (running.delete(request)) letIn();
    },
    alone: (budget, work) => pieces.run(budget, work),
    turn: () => rounds.next(),
  };
}
