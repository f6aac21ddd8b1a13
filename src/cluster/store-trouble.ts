/**
 * Whether a machine could lead (reference/log 7.3): one that cannot write its own store leaves the lead to another that
 * can, since what it has shipped it has to apply before it answers anybody.
 */
import type { Clock } from "../base/clock.ts";
import type { NodeStore } from "../stores/open.ts";

interface StoreTroubleOptions {
  readonly node: Pick<NodeStore, "findTrouble">;
  readonly clock: Clock;
}

/** A disk that is full for a moment is no reason yet. */
const lastingMs = 1500;

export class StoreTrouble {
  readonly #options: StoreTroubleOptions;
  #words: string | undefined;
  #sinceMs = 0;

  constructor(options: StoreTroubleOptions) {
    this.#options = options;
    this.look();
  }

  /** Why nothing can be written here, as of the last look. */
  get words(): string | undefined {
    return this.#words;
  }

  /** Whether it has been so for a while. */
  get isLasting(): boolean {
    return this.#words !== undefined && this.#options.clock.tickMs() - this.#sinceMs >= lastingMs;
  }

  /** To be called twice a second. */
  look(): void {
    const { node, clock } = this.#options;
    const words = node.findTrouble();
    if (words !== undefined && this.#words === undefined) this.#sinceMs = clock.tickMs();
    this.#words = words;
  }
}
