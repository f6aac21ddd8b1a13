/**
 * The socket of the lambda server beside a database. While that is started, or started again, nobody listens there: calls
 * wait. None of them has reached a resolver then, so none runs twice.
 */
import { connect } from "node:net";

/** Between two looks. */
const lookMs = 20;

/** Of an error of a connection: whether nobody listens there. */
export function isUnheard({ code }: NodeJS.ErrnoException): boolean {
  return code === "ECONNREFUSED" || code === "ENOENT";
}

export class OwnSocket {
  readonly #path: string;
  readonly #waiting = new Set<(isThere: boolean) => void>();
  #isLooking = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether somebody listens within the time. One looks for all that wait. */
  whenThere(waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isThere: boolean): void => {
        clearTimeout(late);
        this.#waiting.delete(end);
        resolve(isThere);
      };
      const late = setTimeout(end, waitMs, false);
      this.#waiting.add(end);
      if (!this.#isLooking) this.#look();
    });
  }

  close(): void {
    for (const end of this.#waiting) end(false);
  }

  #look(): void {
    this.#isLooking = true;
    const socket = connect(this.#path, () => {
      socket.destroy();
      this.#isLooking = false;
      for (const end of this.#waiting) end(true);
    });
    socket.once("error", () => {
      setTimeout(() => {
        this.#isLooking = false;
        if (this.#waiting.size > 0) this.#look();
      }, lookMs);
    });
  }
}
