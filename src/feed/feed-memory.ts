/** What a follower holds, in the account of its process: it waits until there is room, and is refused nothing. */
import { Fault } from "../model/fault.ts";
import type { ProcessMemory } from "../model/process-memory.ts";

export class FeedMemory {
  readonly #account: ProcessMemory;
  #isClosed = false;
  #held = 0;

  constructor(account: ProcessMemory) {
    this.#account = account;
  }

  /** Resolves when there is room; of what is larger than a quarter of the account, when that is free. */
  async take(bytes: number): Promise<void> {
    const wanted = Math.min(bytes, this.#account.largestBytes / 4);
    if (wanted === 0) return;
    for (;;) {
      try {
        await this.#account.reserve(wanted);
        break;
      } catch (error) {
        // Others wait too: behind the longest wait of a request its turn begins anew.
        if (!(error instanceof Fault) || error.code !== "E_OVERLOADED") throw error;
        if (this.#isClosed) return;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    if (this.#isClosed) this.#account.give(wanted);
    else {
      this.#held += wanted;
      this.hold(bytes - wanted);
    }
  }

  /** Counts what is there already. */
  hold(bytes: number): void {
    if (this.#isClosed) return;
    this.#held += bytes;
    this.#account.hold(bytes);
  }

  give(bytes: number): void {
    const given = Math.min(bytes, this.#held);
    this.#held -= given;
    this.#account.give(given);
  }

  /** Gives back everything; what comes later is given back at once. */
  close(): void {
    this.#isClosed = true;
    this.give(this.#held);
  }
}

const retryMs = 50;
