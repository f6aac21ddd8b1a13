/**
 * What a process of one of several machines knows of who leads. While its own machine does for certain, all that was
 * acknowledged is in its store, and reading it asks nobody (reference/log 7.2).
 */
import { systemClock } from "../../base/clock.ts";
import { isOffsetKept, sharedTickMs } from "../../base/shared-clock.ts";
import { Fault } from "../../model/fault.ts";
import type { LeadNotice } from "./node-link.ts";

export class HeardLead {
  readonly #onLead: ((leads: boolean) => void) | undefined;
  #notice: LeadNotice | undefined = undefined;

  /** `onLead`: told when the machine begins to lead, and when it does not any more. */
  constructor(onLead: ((leads: boolean) => void) | undefined) {
    this.#onLead = onLead;
  }

  /** undefined: what this machine is told is not known. One that was stopped stays so until it hears of another. */
  hear(notice: LeadNotice | undefined): void {
    if (notice === undefined && this.#notice?.kind === "stopped") return;
    const led = this.#notice?.kind === "leads";
    const leads = notice?.kind === "leads";
    this.#notice = notice;
    if (led !== leads) this.#onLead?.(leads);
  }

  /** Whether nobody else can lead at this moment. */
  isCertain(): boolean {
    if (this.#notice?.kind !== "leads") return false;
    const { term } = this.#notice;
    if (sharedTickMs() >= term.untilMs) return false;
    return isOffsetKept(systemClock, term.wallOffsetMs);
  }

  /** Throws E_OUT_OF_SERVICE where the machine cannot go on: its store is not as the others'. */
  assertServes(): void {
    if (this.#notice?.kind !== "stopped") return;
    throw new Fault("E_OUT_OF_SERVICE", `this machine is out of service: ${this.#notice.why}`);
  }
}
