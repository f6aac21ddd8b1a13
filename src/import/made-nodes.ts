/** Uids for nodes that links make, and which nodes links have met: one key is one node, in requests side by side too. */
import { Lru } from "../base/lru.ts";
import type { KeyedNode } from "./node-lookup.ts";
import type { RowKey } from "./read-row.ts";

const leaseCount = 5_000;
const knownMax = 200_000;
const noEdges: KeyedNode["edges"] = new Map();

export class MadeNodes {
  readonly #lease: (count: number) => Promise<number>;
  /** Under way, or refused and to be tried again. */
  readonly #pending = new Map<string, number>();
  readonly #known = new Lru<string, number>(knownMax);
  #next = 0;
  #end = 0;

  constructor(lease: (count: number) => Promise<number>) {
    this.#lease = lease;
  }

  /** Sees to it that `count` keys find a uid without waiting. */
  async prepare(count: number): Promise<void> {
    if (this.#end - this.#next >= count) return;
    const size = Math.max(count, leaseCount);
    this.#next = await this.#lease(size);
    this.#end = this.#next + size;
  }

  uidOf(key: RowKey): number {
    const name = nameOf(key);
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    this.#pending.set(name, this.#next);
    return this.#next++;
  }

  /** A node that needs no look into the database; of those whose edges count there is none. */
  find(key: RowKey): KeyedNode | undefined {
    if (key.spec.edges.size > 0) return undefined;
    const uid = this.#known.get(nameOf(key));
    return uid === undefined ? undefined : { uid, edges: noEdges };
  }

  /** It is stored. */
  note(key: RowKey, uid: number): void {
    if (key.spec.edges.size > 0) return;
    this.#known.set(nameOf(key), uid);
  }

  /** Made nodes that are stored. */
  settle(keys: readonly RowKey[]): void {
    for (const key of keys) {
      const name = nameOf(key);
      const uid = this.#pending.get(name);
      if (uid !== undefined) this.note(key, uid);
      this.#pending.delete(name);
    }
  }
}

export function nameOf({ spec, value }: RowKey): string {
  return `${spec.label} ${value}`;
}
