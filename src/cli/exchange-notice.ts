/** The writer's word to the supervisor, which looks whether the store's files are where they were: another one comes. */
import type { ToSupervisor } from "./messages.ts";

export class ExchangeNotice {
  readonly #send: (message: ToSupervisor) => void;
  #heard = (): void => {};

  constructor(send: (message: ToSupervisor) => void) {
    this.#send = send;
  }

  /** When it resolves the supervisor expects the file; what it gives is called when that is in its place. */
  readonly announce = async (nextData: string): Promise<() => Promise<void>> => {
    const heard = new Promise<void>((resolve) => (this.#heard = resolve));
    this.#send({ kind: "exchanging", nextData });
    await heard;
    return async () => this.#send({ kind: "exchanged" });
  };

  /** `exchangeKnown`. */
  hear(): void {
    this.#heard();
  }
}
