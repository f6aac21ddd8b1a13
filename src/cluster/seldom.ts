/** What would fill the log is told once in a while. */
export class Seldom {
  #isDue = true;

  do(tell: () => void): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    setTimeout(() => (this.#isDue = true), restMs).unref();
    tell();
  }
}

const restMs = 10_000;
