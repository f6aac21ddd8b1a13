/**
 * Slices of work that may begin: one in each round of the event loop, so that whatever else came in waits for one of
 * them and not for all.
 */
export class Rounds {
  readonly #ready: (() => void)[] = [];

  /** Whether slices wait. */
  get isBusy(): boolean {
    return this.#ready.length > 0;
  }

  /** Calls `begin` when its round has come. */
  later(begin: () => void): void {
    if (this.#ready.push(begin) === 1) setImmediate(this.#beginNext);
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.later(resolve));
  }

  readonly #beginNext = (): void => {
    const first = this.#ready.shift();
    if (this.#ready.length > 0) setImmediate(this.#beginNext);
    first?.();
  };
}
