/**
 * The root queries of a document of many: one reads and is written after the other, in the turns of its request. All at
 * once, each would work until its first look at the time, and hold its columns until the last of them is done.
 */
import type { Clock } from "../../base/clock.ts";
import type { FairScheduler } from "../../exec/fair-scheduler.ts";
import { makeYielder } from "../../exec/yielder.ts";
import type { Yielder } from "../../exec/yielder.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { ReadyRoot } from "./handle-roots.ts";

/** So few are begun beside each other: those that wait for another machine then wait together. */
const rootsAtOnce = 16;

/** What a root costs beside what it reads, in rows. */
const rootWork = 64;

interface LaneOptions {
  readonly clock: Clock;
  readonly scheduler?: FairScheduler | undefined;
  readonly budget: RequestBudget;
}

export class RootLane {
  readonly #yielder: Yielder;
  readonly #scheduler: FairScheduler | undefined;
  readonly #isAlone: boolean;
  #last: Promise<unknown> = Promise.resolve();

  /** `isAlone`: nobody but the roots in it uses the request's memory. */
  constructor(options: LaneOptions, isAlone: boolean) {
    this.#yielder = makeYielder(options);
    this.#scheduler = options.scheduler;
    this.#isAlone = isAlone;
  }

  /**
   * Runs `work` when those before it are done; undefined where the request came to its end meanwhile, which the one that
   * met it has told. `bytesLeft`: what a root keeps of the memory that it took; undefined: all. Throws as the budget does
   * for the first that meets its end, and as `work` does.
   */
  run<T>(
    work: () => Promise<T>,
    bytesLeft?: (done: T) => number,
  ): Promise<{ readonly done: T } | undefined> {
    const ran = this.#last.then(() => this.#begin(work, bytesLeft));
    this.#last = ran.catch(() => undefined);
    return ran;
  }

  async #begin<T>(
    work: () => Promise<T>,
    bytesLeft: ((done: T) => number) | undefined,
  ): Promise<{ readonly done: T } | undefined> {
    const { budget } = this.#yielder;
    if (budget.spent !== undefined) return undefined;
    try {
      const pause = this.#yielder.check(rootWork);
      if (pause !== undefined) await pause;
      const before = budget.bytes;
      const done = await work();
      if (this.#isAlone && bytesLeft !== undefined) {
        budget.releaseBytes(budget.bytes - before);
        budget.chargeBytes(bytesLeft(done));
      }
      return { done };
    } finally {
      this.#scheduler?.end(budget);
    }
  }
}

/** For the roots of a request; undefined where they are few. */
export function openLane(roots: readonly ReadyRoot[], options: LaneOptions): RootLane | undefined {
  if (roots.length <= rootsAtOnce) return undefined;
  return new RootLane(options, roots.every(keepsNothing));
}

/** Resolvers and services work beside the lane. */
function keepsNothing(root: ReadyRoot): boolean {
  if (root.kind === "query") return !root.ready.planned.hasLambda;
  return root.kind !== "lambda" && root.kind !== "request";
}
