/**
 * Reads that wait for a beat of the lease (reference/log 7.2). One that was on its way when a read was asked says
 * nothing of now: the machine may have stood still since it was sent, and another one have led.
 */
export class Beats {
  #sent = 0;
  #waiting: { readonly after: number; readonly end: (isKept: boolean) => void }[] = [];

  /** Whether a beat that is sent now would let somebody go on. */
  get areAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a beat that is sent from now on is kept within `ms`. */
  waitForNext(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isKept: boolean): void => {
        clearTimeout(timer);
        resolve(isKept);
      };
      const waiting = { after: this.#sent, end };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        resolve(false);
      }, ms);
      this.#waiting.push(waiting);
    });
  }

  /** A beat is being sent. What it gives is called when it was kept. */
  send(): () => void {
    this.#sent++;
    const sent = this.#sent;
    return () => {
      const waiting = this.#waiting;
      this.#waiting = waiting.filter(({ after }) => after >= sent);
      for (const { after, end } of waiting) if (after < sent) end(true);
    };
  }

  /** No beat follows. */
  close(): void {
    for (const { end } of this.#waiting.splice(0)) end(false);
  }
}
