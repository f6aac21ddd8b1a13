/**
 * Requests that lost the same values to others go on one after the other, in the order in which they came (reference/
 * transactions 4.7): tried again all at once, or at random, one of two hundred wins each round and the others work in
 * vain. The store alone judges; what is kept here only says who had better wait.
 */
import { must } from "../base/assert.ts";

/** For so long others wait for the one whose turn it is: twice what its last try took, between these. */
const holdMinMs = 100;
const holdMaxMs = 1000;

/** Keys as a change names them: those that conflict, and those of what decided its patches. */
type KeyLists = readonly (readonly string[])[];

const noKeys: KeyLists = [];

/** One request over its tries. */
export class Contender {
  /** Keys of what its last try wanted to commit. */
  wanted: KeyLists = noKeys;
  /** What its last try took. */
  triedMs = 0;
  /** In the order of the first loss; 0 before it. */
  ticket = 0;
  /** The lanes it stands in. */
  readonly lanes = new Set<string>();
  isRunning = false;
  /** Nobody waits for it any more: it is judged by the store, as if it had never lost. */
  isLate = false;
  timer: NodeJS.Timeout | undefined = undefined;
  go: (() => void) | undefined = undefined;

  /** Whether its last try named any: without, it has nobody to wait for. */
  get hasKeys(): boolean {
    return this.wanted.some((keys) => keys.length > 0);
  }
}

export class ContendedKeys {
  /** By key: who has lost it and has not won yet, the oldest first. */
  readonly #lanes = new Map<string, Contender[]>();
  #tickets = 0;

  /** Whether somebody else comes first with one of the keys that it wants. */
  isTaken(contender: Contender): boolean {
    if (this.#lanes.size === 0 || contender.isLate) return false;
    const isOthers = (key: string): boolean => {
      const first = this.#lanes.get(key)?.[0];
      return first !== undefined && first !== contender;
    };
    return contender.wanted.some((keys) => keys.some(isOthers));
  }

  /** After a loss: resolves when it is its turn to try again, or after `waitMs`. undefined: at once. */
  enter(contender: Contender, waitMs: number): Promise<void> | undefined {
    if (contender.ticket === 0) contender.ticket = ++this.#tickets;
    clearTimeout(contender.timer);
    contender.isRunning = false;
    contender.isLate = false;
    for (const keys of contender.wanted) for (const key of keys) this.#stand(contender, key);
    if (this.#isFirst(contender)) {
      this.#run(contender);
      return undefined;
    }
    return new Promise((resolve) => {
      contender.go = resolve;
      if (waitMs !== Infinity) contender.timer = setTimeout(() => this.leave(contender), waitMs);
    });
  }

  /** It has won, or gives up. */
  leave(contender: Contender): void {
    clearTimeout(contender.timer);
    contender.timer = undefined;
    const nexts = new Set<Contender>();
    for (const key of contender.lanes) {
      const lane = must(this.#lanes.get(key), "who stands in a lane is in it");
      lane.splice(lane.indexOf(contender), 1);
      const [next] = lane;
      if (next === undefined) this.#lanes.delete(key);
      else nexts.add(next);
    }
    contender.lanes.clear();
    contender.isRunning = false;
    this.#wake(contender);
    for (const next of nexts) if (!next.isRunning && this.#isFirst(next)) this.#run(next);
  }

  #stand(contender: Contender, key: string): void {
    if (contender.lanes.has(key)) return;
    contender.lanes.add(key);
    const lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#lanes.set(key, [contender]);
      return;
    }
    // Nearly always behind all of them.
    let at = lane.length;
    while (at > 0 && must(lane[at - 1], "within bounds").ticket > contender.ticket) at--;
    lane.splice(at, 0, contender);
  }

  #isFirst(contender: Contender): boolean {
    for (const key of contender.lanes) {
      if (this.#lanes.get(key)?.[0] !== contender) return false;
    }
    return true;
  }

  #run(contender: Contender): void {
    clearTimeout(contender.timer);
    const holdMs = Math.min(holdMaxMs, Math.max(holdMinMs, 2 * contender.triedMs));
    contender.isRunning = true;
    contender.timer = setTimeout(() => {
      contender.isLate = true;
      this.leave(contender);
    }, holdMs);
    this.#wake(contender);
  }

  #wake(contender: Contender): void {
    contender.go?.();
    contender.go = undefined;
  }
}
