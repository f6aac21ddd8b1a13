/** So many at a time; the others wait in their order. */
export class Turns {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running++;
    // The one who ends hands its turn over.
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
