/** A transaction's rows into the tree: the blocks that they change are made anew, and those that become too large split. */
import { must } from "../../base/assert.ts";
import { compareBytes } from "../../base/bytes.ts";
import {
  type TreeBlock,
  blockBytesMax,
  encodeBlock,
  encodeId,
  entryBytes,
  entryBytesMax,
  longLevel,
  packBlocks,
  sizeOfRun,
  type Entry,
  type Piece,
} from "./block.ts";
import type { BlockTree, TreeView } from "./block-tree.ts";
import type { TreeState } from "./tree-state.ts";

/** The last word on a key; `stored` undefined: it is removed. */
export interface RowEdit {
  readonly key: Uint8Array;
  readonly stored: Uint8Array | undefined;
}

interface TreeEdit {
  readonly state: TreeState;
  /** By number; undefined: the block goes. */
  readonly blocks: ReadonlyMap<number, Buffer | undefined>;
}

/** Edits in the order in which they were made. */
export function editTree(tree: BlockTree, view: TreeView, edits: readonly RowEdit[]): TreeEdit {
  return new TreeWriter(tree, view).run(sortEdits(edits));
}

function sortEdits(edits: readonly RowEdit[]): RowEdit[] {
  let isSorted = true;
  for (let i = 1; i < edits.length && isSorted; i++) {
    isSorted =
      compareBytes(must(edits[i - 1], "within bounds").key, must(edits[i], "within bounds").key) <
      0;
  }
  if (isSorted) return [...edits];
  const sorted = [...edits].sort((a, b) => compareBytes(a.key, b.key));
  return sorted.filter(
    (edit, i) =>
      i + 1 === sorted.length ||
      compareBytes(edit.key, must(sorted[i + 1], "within bounds").key) !== 0,
  );
}

/** What stands for a block in the one above. */
interface Child {
  readonly first: Uint8Array;
  readonly id: number;
}

class TreeWriter {
  readonly #tree: BlockTree;
  readonly #view: TreeView;
  readonly #blocks = new Map<number, Buffer | undefined>();
  #nextBlock: number;

  constructor(tree: BlockTree, view: TreeView) {
    this.#tree = tree;
    this.#view = view;
    this.#nextBlock = view.state.nextBlock;
  }

  run(edits: readonly RowEdit[]): TreeEdit {
    const { root, number } = this.#view.state;
    let level = 0;
    let tops: readonly Child[] | undefined;
    if (root === 0) tops = this.#editRows(undefined, undefined, edits);
    else {
      const block = this.#tree.block(this.#view, root);
      level = block.level;
      tops = this.#edit(root, block, edits);
    }
    let top = root;
    if (tops !== undefined) {
      while (tops.length > 1) tops = this.#put(++level, undefined, childEntries(tops), false);
      top = tops[0]?.id ?? 0;
    }
    const state = { root: top, number: number + 1, nextBlock: this.#nextBlock };
    return { state, blocks: this.#blocks };
  }

  /** What stands in the place of the block; undefined: the block itself. */
  #edit(id: number, block: TreeBlock, edits: readonly RowEdit[]): readonly Child[] | undefined {
    return block.level === 0 ? this.#editRows(id, block, edits) : this.#editAbove(id, block, edits);
  }

  #editAbove(
    id: number,
    block: TreeBlock,
    edits: readonly RowEdit[],
  ): readonly Child[] | undefined {
    let entries: Entry[] | undefined;
    let kept = 0;
    let isAppending = true;
    for (let from = 0; from < edits.length;) {
      const index = block.childFor(must(edits[from], "within bounds").key);
      const to = endOfChild(block, index, edits, from);
      const child = block.blockAt(index);
      const part = from === 0 && to === edits.length ? edits : edits.slice(from, to);
      const made = this.#edit(child, this.#tree.block(this.#view, child), part);
      from = to;
      if (made === undefined) continue;
      entries ??= [];
      for (; kept < index; kept++) entries.push(block.entryAt(kept));
      kept = index + 1;
      if (kept < block.count) isAppending = false;
      entries.push(
        ...childEntries(made.map((one, i) => (i === 0 ? keepFirst(one, block.keyAt(index)) : one))),
      );
    }
    if (entries === undefined) return undefined;
    for (; kept < block.count; kept++) entries.push(block.entryAt(kept));
    if (entries.length === 0) {
      this.#blocks.set(id, undefined);
      return [];
    }
    return this.#put(block.level, id, entries, isAppending);
  }

  #editRows(
    id: number | undefined,
    block: TreeBlock | undefined,
    edits: readonly RowEdit[],
  ): readonly Child[] | undefined {
    const pieces: Piece[] = [];
    let size = 0;
    let count = 0;
    let kept = 0;
    const keepTo = (block_: TreeBlock, to: number): void => {
      if (to <= kept) return;
      pieces.push({ block: block_, from: kept, to });
      size += sizeOfRun(block_, kept, to);
      count += to - kept;
      kept = to;
    };
    let isAppending = true;
    let isChanged = false;
    for (const edit of edits) {
      let before: number | undefined;
      if (block !== undefined) {
        const index = block.lowerBound(edit.key);
        if (index < block.count) isAppending = false;
        keepTo(block, index);
        const isThere = index < block.count && block.compareAt(index, edit.key) === 0;
        if (isThere) {
          kept = index + 1;
          if (block.isLongAt(index)) before = block.blockAt(index);
        } else if (edit.stored === undefined) continue;
      } else if (edit.stored === undefined) continue;
      isChanged = true;
      const entry = this.#entryOf(edit, before);
      if (entry === undefined) continue;
      pieces.push(entry);
      size += entryBytes(entry);
      count++;
    }
    if (!isChanged) return undefined;
    if (block !== undefined) keepTo(block, block.count);
    if (count === 0) {
      if (id !== undefined) this.#blocks.set(id, undefined);
      return [];
    }
    if (size <= blockBytesMax - 4) {
      const made = id ?? this.#nextBlock++;
      this.#blocks.set(made, encodeBlock(0, pieces, count, size));
      if (made === id) return undefined;
      const [first] = entriesOf(pieces);
      return [{ first: must(first, "the block has a row").key, id: made }];
    }
    return this.#put(0, id, entriesOf(pieces), isAppending);
  }

  /** `before`: the block that holds the value that is replaced. */
  #entryOf({ key, stored }: RowEdit, before: number | undefined): Entry | undefined {
    if (stored !== undefined) {
      const entry = { key, payload: stored, isLong: false };
      if (entryBytes(entry) > entryBytesMax) {
        const id = before ?? this.#nextBlock++;
        const bytes = Buffer.allocUnsafe(1 + stored.length);
        bytes[0] = longLevel;
        bytes.set(stored, 1);
        this.#blocks.set(id, bytes);
        return { key, payload: encodeId(id), isLong: true };
      }
      if (before !== undefined) this.#blocks.set(before, undefined);
      return entry;
    }
    if (before !== undefined) this.#blocks.set(before, undefined);
    return undefined;
  }

  /** Entries as blocks, the first of them in the place of `id`. */
  #put(
    level: number,
    id: number | undefined,
    entries: readonly Entry[],
    isAppending: boolean,
  ): readonly Child[] {
    return packBlocks(level, entries, isAppending).map(({ first, bytes }, i) => {
      const made = i === 0 && id !== undefined ? id : this.#nextBlock++;
      this.#blocks.set(made, bytes);
      return { first, id: made };
    });
  }
}

/** What led to a block goes on to do so, but the first one of all may have got rows before it. */
function keepFirst({ first, id }: Child, key: Uint8Array): Child {
  return { id, first: compareBytes(first, key) < 0 ? first : key };
}

function endOfChild(
  block: TreeBlock,
  index: number,
  edits: readonly RowEdit[],
  from: number,
): number {
  if (index + 1 >= block.count) return edits.length;
  let to = from + 1;
  while (to < edits.length && block.compareAt(index + 1, must(edits[to], "within bounds").key) > 0)
    to++;
  return to;
}

function childEntries(children: readonly Child[]): Entry[] {
  return children.map(({ first, id }) => ({ key: first, payload: encodeId(id), isLong: false }));
}

function entriesOf(pieces: readonly Piece[]): Entry[] {
  const entries: Entry[] = [];
  for (const piece of pieces) {
    if ("key" in piece) entries.push(piece);
    else for (let i = piece.from; i < piece.to; i++) entries.push(piece.block.entryAt(i));
  }
  return entries;
}
