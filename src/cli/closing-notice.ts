/** A node's word to the supervisor, which looks whether the store's files are where they were: it closes it in order. */
import type { ToSupervisor } from "./messages.ts";

/** A supervisor that does not answer is not waited for. */
const heardMsMax = 500;

export class ClosingNotice {
  readonly #send: (message: ToSupervisor) => void;
  #heard = (): void => {};

  constructor(send: (message: ToSupervisor) => void) {
    this.#send = send;
  }

  async announce(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#heard = resolve;
      setTimeout(resolve, heardMsMax);
      this.#send({ kind: "closing" });
    });
  }

  /** It is open again. */
  tellOpened(): void {
    this.#send({ kind: "exchanged" });
  }

  /** `closingKnown`. */
  hear(): void {
    this.#heard();
  }
}
