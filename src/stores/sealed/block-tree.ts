/** Reading an encrypted store: rows by their keys, and walks in order, over blocks that LMDB keeps by number. */
import { compareBytes } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import type { Database, ReadTransaction } from "../lmdb/database.ts";
import { blockKey, damagedBlock, openBlock, rootBlock } from "./block-rows.ts";
import { TreeBlock, longLevel } from "./block.ts";
import type { BlockCache } from "./block-cache.ts";
import { isSameVersion, versionBytes, type StoreCipher } from "./store-cipher.ts";
import { decodeTreeState, emptyTree, type TreeState } from "./tree-state.ts";

/** One state of the store. */
export interface TreeView {
  readonly state: TreeState;
  readonly options: { readonly transaction: ReadTransaction } | undefined;
  /** Of the only process that writes, as it is now. */
  readonly isNewest: boolean;
}

export interface MadeBlock {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly version: Uint8Array;
}

export interface WalkRange {
  readonly start: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
  readonly reverse?: boolean;
  readonly exclusiveStart?: boolean;
  readonly inclusiveEnd?: boolean;
  readonly limit?: number;
  /** Told of a block that cannot be opened, and the key from which on it has rows; the walk goes on behind it. */
  readonly onDamage?: (fault: Fault, key: Uint8Array) => void;
}

interface TreeRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class BlockTree {
  readonly #db: Database;
  readonly #cipher: StoreCipher;
  readonly #cache: BlockCache;
  /** The state that was opened last. */
  #last: { readonly version: Uint8Array; readonly state: TreeState } | undefined = undefined;

  constructor(db: Database, cipher: StoreCipher, cache: BlockCache) {
    this.#db = db;
    this.#cipher = cipher;
    this.#cache = cache;
  }

  /** `isNewest`: of the only process that writes, as it is now. */
  view(options: TreeView["options"], isNewest = false): TreeView {
    const stored = this.#read(rootBlock, options);
    if (stored === undefined) return { state: emptyTree, options, isNewest };
    const last = this.#last;
    if (last !== undefined && isSameVersion(last.version, stored)) {
      return { state: last.state, options, isNewest };
    }
    const version = stored.slice(0, versionBytes);
    const plain = openBlock(this.#cipher, blockKey(rootBlock), stored);
    if (plain === undefined) throw damagedBlock(rootBlock);
    const state = decodeTreeState(plain);
    this.#last = { version, state };
    return { state, options, isNewest };
  }

  /** A transaction of this process has made the state, with these blocks; no other process writes. */
  note(state: TreeState, version: Uint8Array, blocks: readonly MadeBlock[]): void {
    this.#last = { version, state };
    for (const { id, bytes, version: own } of blocks) {
      this.#cache.add(id, new TreeBlock(bytes), own, { from: state.number, to: Infinity });
    }
  }

  find(view: TreeView, key: Uint8Array): Uint8Array | undefined {
    let { root } = view.state;
    if (root === 0) return undefined;
    for (;;) {
      const block = this.block(view, root);
      if (block.level > 0) {
        root = block.blockAt(block.childFor(key));
        continue;
      }
      const index = block.lowerBound(key);
      if (index >= block.count || block.compareAt(index, key) !== 0) return undefined;
      return this.valueAt(view, block, index);
    }
  }

  valueAt(view: TreeView, block: TreeBlock, index: number): Uint8Array {
    if (!block.isLongAt(index)) return block.payloadAt(index);
    const id = block.blockAt(index);
    const long = this.block(view, id);
    if (long.level !== longLevel) throw damagedBlock(id);
    return long.bytes.subarray(1);
  }

  /** As the state has it; what was opened for another state serves where LMDB has the same for this one. */
  block(view: TreeView, id: number): TreeBlock {
    const { number } = view.state;
    const cached = this.#cache.get(id);
    if (cached !== undefined && number >= cached.from && number <= cached.to) return cached.block;
    const stored = this.#read(id, view.options);
    if (stored === undefined) throw damagedBlock(id);
    // What is the newest in the process that writes is so until that writes it.
    const to = view.isNewest ? Infinity : number;
    if (cached !== undefined && this.#cache.confirm(cached, stored, number, to)) {
      return cached.block;
    }
    const version = stored.slice(0, versionBytes);
    const plain = openBlock(this.#cipher, blockKey(id), stored);
    if (plain === undefined) throw damagedBlock(id);
    const block = new TreeBlock(plain);
    this.#cache.add(id, block, version, { from: number, to });
    return block;
  }

  #read(id: number, options: TreeView["options"]): Uint8Array | undefined {
    const bytes = this.#db.getBinaryFast(blockKey(id), options);
    if (bytes === undefined) return undefined;
    return new Uint8Array(bytes.buffer, bytes.byteOffset, this.#db.lastSize);
  }

  walk(view: TreeView, range: WalkRange): TreeWalk {
    return new TreeWalk(this, view, range);
  }
}

interface Step {
  readonly block: TreeBlock;
  index: number;
}

/** Rows one after the other. Key and value stay as they are. */
class TreeWalk {
  readonly #tree: BlockTree;
  readonly #view: TreeView;
  readonly #range: WalkRange;
  readonly #isReverse: boolean;
  /** From the root to a block of rows; empty: the walk is over. */
  readonly #path: Step[] = [];
  #left: number;

  constructor(tree: BlockTree, view: TreeView, range: WalkRange) {
    this.#tree = tree;
    this.#view = view;
    this.#range = range;
    this.#isReverse = range.reverse === true;
    this.#left = range.limit ?? Infinity;
    const { root } = view.state;
    if (root === 0) return;
    const top = this.#open(root, new Uint8Array(0));
    if (top === undefined) return;
    this.#path.push({ block: top, index: this.#firstIndex(top) });
    this.#descend(range.start);
  }

  next(): { done: boolean; value?: TreeRow } {
    for (;;) {
      const step = this.#path.at(-1);
      if (step === undefined || this.#left === 0) return { done: true };
      const { block, index } = step;
      if (index < 0 || index >= block.count) {
        this.#forward();
        continue;
      }
      step.index += this.#isReverse ? -1 : 1;
      const key = block.keyAt(index);
      if (this.#isBefore(key)) continue;
      if (this.#isBehind(key)) {
        this.#path.length = 0;
        return { done: true };
      }
      this.#left--;
      const value = this.#valueOf(block, index, key);
      if (value !== undefined) return { done: false, value: { key, value } };
    }
  }

  return(): void {
    this.#path.length = 0;
  }

  #valueOf(block: TreeBlock, index: number, key: Uint8Array): Uint8Array | undefined {
    return this.#guard(() => this.#tree.valueAt(this.#view, block, index), key);
  }

  #open(id: number, key: Uint8Array): TreeBlock | undefined {
    return this.#guard(() => this.#tree.block(this.#view, id), key);
  }

  #guard<T>(work: () => T, key: Uint8Array): T | undefined {
    const { onDamage } = this.#range;
    if (onDamage === undefined) return work();
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      onDamage(error, key);
      return undefined;
    }
  }

  /** Not yet of the range: where a walk begins exclusively. */
  #isBefore(key: Uint8Array): boolean {
    const { start, exclusiveStart } = this.#range;
    if (start === undefined) return false;
    const order = compareBytes(key, start);
    if (order === 0) return exclusiveStart === true;
    return this.#isReverse ? order > 0 : order < 0;
  }

  #isBehind(key: Uint8Array): boolean {
    const { end, inclusiveEnd } = this.#range;
    if (end === undefined) return false;
    const order = compareBytes(key, end);
    if (order === 0) return inclusiveEnd !== true;
    return this.#isReverse ? order < 0 : order > 0;
  }

  #firstIndex(block: TreeBlock): number {
    return this.#isReverse ? block.count - 1 : 0;
  }

  /** To the next block of rows. */
  #forward(): void {
    const path = this.#path;
    path.pop();
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      step.index += this.#isReverse ? -1 : 1;
      if (step.index >= 0 && step.index < step.block.count) {
        if (this.#descend(undefined)) return;
        continue;
      }
      path.pop();
    }
  }

  /** From the last step down to rows, to `start` where it is given. False where a block on the way is damaged. */
  #descend(start: Uint8Array | undefined): boolean {
    const path = this.#path;
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { block } = step;
      if (block.level === 0) {
        if (start !== undefined) step.index = this.#placeIn(block, start);
        return true;
      }
      if (start !== undefined) step.index = block.childFor(start);
      const child = this.#open(block.blockAt(step.index), block.keyAt(step.index));
      if (child === undefined) {
        // The next round goes on behind it.
        if (start === undefined) return false;
        path.push({ block, index: this.#isReverse ? -1 : block.count });
        this.#forward();
        return true;
      }
      path.push({ block: child, index: this.#firstIndex(child) });
    }
    return true;
  }

  #placeIn(block: TreeBlock, start: Uint8Array): number {
    const index = block.lowerBound(start);
    if (!this.#isReverse) return index;
    return index < block.count && block.compareAt(index, start) === 0 ? index : index - 1;
  }
}
