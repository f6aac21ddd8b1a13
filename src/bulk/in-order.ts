/** Results of work that is under way together, taken in the order in which it was begun. */
import { must } from "../base/assert.ts";

export class InOrder<Result> {
  readonly #underWayMax: number;
  readonly #take: (result: Result) => void;
  readonly #underWay: Promise<Result>[] = [];

  constructor(underWayMax: number, take: (result: Result) => void) {
    this.#underWayMax = underWayMax;
    this.#take = take;
  }

  /** Resolves when there is room for more. Rejects with what earlier work rejected with. */
  async add(work: Promise<Result>): Promise<void> {
    // Looked at when its turn comes.
    work.catch(() => {});
    this.#underWay.push(work);
    while (this.#underWay.length > this.#underWayMax) await this.#next();
  }

  async end(): Promise<void> {
    while (this.#underWay.length > 0) await this.#next();
  }

  async #next(): Promise<void> {
    this.#take(await must(this.#underWay.shift(), "work is under way"));
  }
}
