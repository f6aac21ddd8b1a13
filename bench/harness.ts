/** Benches: one file for each hot file, same name. They run with small numbers as a test (`smoke.test.ts`). */

export interface Bench {
  readonly name: string;
  /** How many things one call of `run` does; the result is told for each. */
  readonly count: number;
  readonly run: () => unknown;
}

/** Makes the benches of a file for a size: a thousand in the smoke test, more by hand. */
export type BenchFile = (size: number) => readonly Bench[];

export interface Measured {
  readonly name: string;
  /** Nanoseconds for one of `count`: the best of the rounds, which chance disturbs least. */
  readonly nanoseconds: number;
}

export function measure(bench: Bench, rounds: number): Measured {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    bench.run();
    best = Math.min(best, performance.now() - start);
  }
  return { name: bench.name, nanoseconds: (best * 1e6) / bench.count };
}
