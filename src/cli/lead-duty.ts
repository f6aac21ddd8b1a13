/** What one process of all machines does: builds indexes, clears what was dropped. It is one of the machine that leads. */
import type { Duty } from "../engine/duty.ts";

export class LeadDuty implements Duty {
  /** Whether this process does it where its machine leads. */
  readonly #isFirst: boolean;
  readonly #listeners: ((isOn: boolean) => void)[] = [];
  #leads = false;

  constructor(isFirst: boolean) {
    this.#isFirst = isFirst;
  }

  get isOn(): boolean {
    return this.#leads && this.#isFirst;
  }

  onTurn(listener: (isOn: boolean) => void): void {
    this.#listeners.push(listener);
  }

  turn(leads: boolean): void {
    if (leads === this.#leads) return;
    this.#leads = leads;
    if (this.#isFirst) for (const listener of this.#listeners) listener(leads);
  }
}
