/**
 * What the requests of a process hold together: bodies, what is made of them, columns, answers that wait for their
 * reader. One for a process; the bound is its share of `--memory`. Plain arithmetic: an entry costs some nanoseconds.
 */
import { Fault } from "./fault.ts";

interface ProcessMemoryOptions {
  /** Bytes that may be held at a time. */
  readonly bytesMax: number;
  /** How long a reservation waits for others to give back. */
  readonly waitMs: number;
  /** Reservations that may wait; more are refused at once. */
  readonly waitingMax: number;
  /** Up to so many bytes an entry counts as small: the last eighth of the account is for these alone. */
  readonly smallMax: number;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
  readonly timer: NodeJS.Timeout;
}

export class ProcessMemory {
  readonly #options: ProcessMemoryOptions;
  readonly #largeMax: number;
  readonly #waiting: Waiting[] = [];
  readonly #lenders: ((bytes: number) => void)[] = [];
  #held = 0;

  constructor({
    bytesMax,
    waitMs = 1000,
    waitingMax = 1000,
    smallMax = Math.min(64 * 1024, bytesMax / 64),
  }: Partial<ProcessMemoryOptions> & Pick<ProcessMemoryOptions, "bytesMax">) {
    this.#options = { bytesMax, waitMs, waitingMax, smallMax };
    this.#largeMax = bytesMax - bytesMax / 8;
  }

  get bytesMax(): number {
    return this.#options.bytesMax;
  }

  get bytesHeld(): number {
    return this.#held;
  }

  /** The most that one entry can be. */
  get largestBytes(): number {
    return this.#largeMax;
  }

  /** False, and nothing is taken, where it does not fit. */
  tryTake(bytes: number): boolean {
    if (this.#fits(bytes)) {
      this.#held += bytes;
      return true;
    }
    for (const lend of this.#lenders) lend(this.#held + bytes - this.#boundOf(bytes));
    if (!this.#fits(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** As `tryTake`. Fault E_OVERLOADED where it does not fit. */
  take(bytes: number): void {
    if (!this.tryTake(bytes)) throw this.#refuse();
  }

  /** Counts what is there already, whether it fits or not. */
  hold(bytes: number): void {
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
    if (this.#waiting.length > 0) this.#admitWaiting();
  }

  /** Takes them as soon as they fit, behind those that wait already. Fault E_OVERLOADED where that takes too long. */
  reserve(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.tryTake(bytes)) return Promise.resolve();
    const { waitingMax, waitMs } = this.#options;
    if (bytes > this.#boundOf(bytes) || this.#waiting.length >= waitingMax) {
      return Promise.reject(this.#refuse());
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        reject(this.#refuse());
        this.#admitWaiting();
      }, waitMs);
      const one = { bytes, admit: resolve, timer };
      this.#waiting.push(one);
    });
  }

  /** `lend` is told how many bytes are missing, and may give back some of what it holds. */
  onNeed(lend: (bytes: number) => void): void {
    this.#lenders.push(lend);
  }

  #fits(bytes: number): boolean {
    return this.#held + bytes <= this.#boundOf(bytes);
  }

  #boundOf(bytes: number): number {
    return bytes <= this.#options.smallMax ? this.#options.bytesMax : this.#largeMax;
  }

  #admitWaiting(): void {
    for (let one = this.#waiting[0]; one !== undefined; one = this.#waiting[0]) {
      if (!this.#fits(one.bytes)) return;
      this.#held += one.bytes;
      clearTimeout(one.timer);
      this.#waiting.shift();
      one.admit();
    }
  }

  #refuse(): Fault {
    const megabytes = Math.floor(this.#options.bytesMax / (1024 * 1024));
    return new Fault(
      "E_OVERLOADED",
      `the requests under way have used up the ${megabytes}MB of memory that this process has for them, please try again (--memory)`,
    );
  }
}
