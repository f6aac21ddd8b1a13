/** Rounds of an archive, one after the other, until the end and then once more. */
import type { Follower, Round } from "../backup/follow.ts";
import { Fault } from "../model/fault.ts";

interface FollowEvents {
  readonly onRound: (round: Round) => void;
  /** Once for each try that fails. */
  readonly onFailure: (problem: string) => void;
}

/** Between tries while it fails. */
const retryMsMin = 1000;
const retryMsMax = 60_000;

export class FollowStore {
  readonly #follower: Follower;
  readonly #everyMs: number;
  readonly #events: FollowEvents;
  #isEnding = false;
  #wake = (): void => {};

  constructor(follower: Follower, everyMs: number, events: FollowEvents) {
    this.#follower = follower;
    this.#everyMs = everyMs;
    this.#events = events;
  }

  /** What is there is archived once more, then `run` resolves. */
  end(): void {
    this.#isEnding = true;
    this.#wake();
  }

  async run(): Promise<void> {
    let failures = 0;
    for (let isLast = false; !isLast;) {
      isLast = this.#isEnding;
      const isSound = await this.#try();
      failures = isSound ? 0 : failures + 1;
      if (isLast || (isSound && this.#follower.isBusy)) continue;
      await this.#wait(
        isSound ? this.#everyMs : Math.min(retryMsMax, retryMsMin * 2 ** (failures - 1)),
      );
    }
  }

  async #try(): Promise<boolean> {
    try {
      this.#events.onRound(await this.#follower.round());
      return true;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#events.onFailure(error.message);
      return false;
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isEnding) return resolve();
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
