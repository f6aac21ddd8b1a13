import { assert } from "./assert.ts";

/**
 * A result that an embedded store gives at once and a network store gives later.
 * What every small request passes, or does for each row, writes `const r = f(); const v = r instanceof Promise ? await r
 * : r`: awaiting what is already there costs 150 ns a level instead of 23, an await per row 18 times the work. All else
 * awaits. `test/golden/late.test.ts` holds both ways to the same bytes.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on at once with what is there, later with what is not. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  proceed: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then((later) => proceed(later)) : proceed(value);
}

/**
 * Runs steps that may have to wait: each yielded promise is awaited, anything else goes on at once. Sequential work
 * over a store is written once this way and stays synchronous on an embedded one (about 100 ns a step).
 */
export function drive<T>(steps: Steps<T>): MaybePromise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value instanceof Promise) return driveLater(steps, step.value);
  }
}

/** Work that `drive` runs: yields what it waits for, returns its result. */
export type Steps<T> = Generator<MaybePromise<unknown>, T, void>;

/** Runs steps that never wait. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    assert(!(step.value instanceof Promise), "these steps do not wait");
  }
}

async function driveLater<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  let waited = first;
  for (;;) {
    let step: IteratorResult<MaybePromise<unknown>, T>;
    try {
      await waited;
      step = steps.next();
    } catch (error) {
      step = steps.throw(error);
    }
    while (step.done !== true && !(step.value instanceof Promise)) step = steps.next();
    if (step.done === true) return step.value;
    waited = step.value as Promise<unknown>;
  }
}
