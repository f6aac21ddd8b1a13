/** Opened blocks, the ones that were used last. */
import type { TreeBlock } from "./block.ts";
import { isSameVersion } from "./store-cipher.ts";

interface CachedBlock {
  readonly block: TreeBlock;
  /** As it was sealed. */
  readonly version: Uint8Array;
  /** States of the store in which it is the one: all from the first to the last. */
  from: number;
  to: number;
}

export class BlockCache {
  readonly #bytesMax: number;
  /** What is used moves from the second into the first; when that is full it takes the second one's place. */
  #young = new Map<number, CachedBlock>();
  #old = new Map<number, CachedBlock>();
  #youngBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(id: number): CachedBlock | undefined {
    const found = this.#young.get(id);
    if (found !== undefined) return found;
    const old = this.#old.get(id);
    if (old !== undefined) this.#put(id, old);
    return old;
  }

  /** Whether it is the same one in the states up to `to`; then it is known to be. */
  confirm(cached: CachedBlock, version: Uint8Array, from: number, to: number): boolean {
    if (!isSameVersion(cached.version, version)) return false;
    cached.from = Math.min(cached.from, from);
    cached.to = Math.max(cached.to, to);
    return true;
  }

  add(
    id: number,
    block: TreeBlock,
    version: Uint8Array,
    { from, to }: Pick<CachedBlock, "from" | "to">,
  ): void {
    this.#put(id, { block, version, from, to });
  }

  #put(id: number, cached: CachedBlock): void {
    const before = this.#young.get(id);
    if (before !== undefined) this.#youngBytes -= sizeOf(before);
    this.#young.set(id, cached);
    this.#youngBytes += sizeOf(cached);
    if (this.#youngBytes * 2 <= this.#bytesMax) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }
}

function sizeOf({ block }: CachedBlock): number {
  return block.bytes.length + overheadBytes;
}

/** Of objects and the map's place. */
const overheadBytes = 400;
