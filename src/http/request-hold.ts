/** What one request holds of its process's memory beside its budget: its body, and what is made of it. */
import type { ProcessMemory } from "../model/process-memory.ts";

export class RequestHold {
  readonly #memory: ProcessMemory;
  #bytes = 0;

  constructor(memory: ProcessMemory) {
    this.#memory = memory;
  }

  /** False, and nothing is taken, where it does not fit now. */
  tryTake(bytes: number): boolean {
    if (!this.#memory.tryTake(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** As soon as it fits. Fault E_OVERLOADED where that takes too long. */
  async reserve(bytes: number): Promise<void> {
    await this.#memory.reserve(bytes);
    this.#bytes += bytes;
  }

  /** Whether that much can ever be held. */
  canHold(bytes: number): boolean {
    return this.#bytes + bytes <= this.#memory.largestBytes;
  }

  /** Gives all of it back: the request was answered. */
  end(): void {
    const bytes = this.#bytes;
    if (bytes === 0) return;
    this.#bytes = 0;
    this.#memory.give(bytes);
  }
}
