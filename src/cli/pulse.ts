/**
 * Whether processes live: each gives a sign every `beatMs`, and one that has given none for too long hangs. What is
 * counted is the turns of this process's own clock, not the time: after a stop of all of them (a machine that slept, a
 * Ctrl-Z) nobody is late.
 */
export const beatMs = 500;

/** Processes are told apart by identity alone. */
export class Pulse<Child extends object> {
  readonly #turnsMax: number;
  readonly #missed = new Map<Child, number>();

  /** `hangMs`: silence after which a process hangs; 0: it never does. */
  constructor(hangMs: number) {
    this.#turnsMax = hangMs === 0 ? Infinity : Math.max(2, Math.ceil(hangMs / beatMs));
  }

  /** A sign of life; with the first the child is watched. */
  note(child: Child): void {
    this.#missed.set(child, 0);
  }

  forget(child: Child): void {
    this.#missed.delete(child);
  }

  /** To be called every `beatMs`: those that hang, each once. */
  turn(): Child[] {
    const hanging: Child[] = [];
    for (const [child, missed] of this.#missed) {
      if (missed < this.#turnsMax) this.#missed.set(child, missed + 1);
      else {
        this.#missed.delete(child);
        hanging.push(child);
      }
    }
    return hanging;
  }
}
