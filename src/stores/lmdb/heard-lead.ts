/**
 * What a process of one of several machines knows of who leads. While its own machine does for certain, all that was
 * acknowledged is in its store, and reading it asks nobody (reference/log 7.2).
 */
import { sharedTickMs, wallOffsetMs } from "../../base/shared-clock.ts";
import type { LeadTerm } from "./node-link.ts";

/** A wall clock that was moved by more, or a machine that stood still for longer, makes a term void. */
const offsetMsMax = 500;

export class HeardLead {
  readonly #onLead: ((leads: boolean) => void) | undefined;
  #term: LeadTerm | undefined = undefined;

  /** `onLead`: told when the machine begins to lead, and when it does not any more. */
  constructor(onLead: ((leads: boolean) => void) | undefined) {
    this.#onLead = onLead;
  }

  hear(term: LeadTerm | undefined): void {
    const led = this.#term !== undefined;
    this.#term = term;
    if (led !== (term !== undefined)) this.#onLead?.(term !== undefined);
  }

  /** Whether nobody else can lead at this moment. */
  isCertain(): boolean {
    const term = this.#term;
    if (term === undefined || sharedTickMs() >= term.untilMs) return false;
    return Math.abs(wallOffsetMs() - term.wallOffsetMs) < offsetMsMax;
  }
}
