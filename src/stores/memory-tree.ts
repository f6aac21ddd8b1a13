/**
 * An ordered map of bytes whose states are kept by sharing: a B+ tree that copies the path it changes. A snapshot is
 * the root of the moment.
 */
import { must } from "../base/assert.ts";
import { compareBytes } from "../base/bytes.ts";
import type { ScanRange } from "../store/store.ts";
import type { KeyValue } from "./key-value.ts";

const nodeMax = 64;

/** Belongs to the transaction that made it: others must copy it first. */
type Owner = object;

interface Leaf {
  readonly isLeaf: true;
  readonly owner: Owner;
  readonly keys: Uint8Array[];
  readonly values: Uint8Array[];
}

/** keys[i] is the smallest key of children[i] (of the first one: not used). */
interface Branch {
  readonly isLeaf: false;
  readonly owner: Owner;
  readonly keys: Uint8Array[];
  readonly children: Node[];
}

type Node = Leaf | Branch;

export type TreeRoot = Node;

export function makeTree(): TreeRoot {
  return { isLeaf: true, owner: {}, keys: [], values: [] };
}

/** The first place whose key is ≥ `key`. */
function firstAtLeast(keys: readonly Uint8Array[], key: Uint8Array): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(must(keys[middle], "within bounds"), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child that would hold `key`. */
function childFor(branch: Branch, key: Uint8Array): number {
  let low = 1;
  let high = branch.keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(must(branch.keys[middle], "within bounds"), key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function getFromTree(root: TreeRoot, key: Uint8Array): Uint8Array | undefined {
  let node = root;
  while (!node.isLeaf) node = must(node.children[childFor(node, key)], "a branch has its children");
  const at = firstAtLeast(node.keys, key);
  const found = node.keys[at];
  return found !== undefined && compareBytes(found, key) === 0 ? node.values[at] : undefined;
}

export function scanTree(
  root: TreeRoot,
  range: ScanRange,
  visit: (key: Uint8Array, value: Uint8Array) => boolean,
): void {
  if (range.reverse === true) scanBackward(root, range, visit);
  else scanForward(root, range, visit);
}

function scanForward(
  node: Node,
  range: ScanRange,
  visit: (key: Uint8Array, value: Uint8Array) => boolean,
): boolean {
  if (!node.isLeaf) {
    for (let i = childFor(node, range.start); i < node.children.length; i++) {
      if (!scanForward(must(node.children[i], "a branch has its children"), range, visit))
        return false;
    }
    return true;
  }
  for (let i = firstAtLeast(node.keys, range.start); i < node.keys.length; i++) {
    const key = must(node.keys[i], "within bounds");
    if (compareBytes(key, range.end) >= 0 || !visit(key, must(node.values[i], "within bounds")))
      return false;
  }
  return true;
}

function scanBackward(
  node: Node,
  range: ScanRange,
  visit: (key: Uint8Array, value: Uint8Array) => boolean,
): boolean {
  if (!node.isLeaf) {
    for (let i = childFor(node, range.end); i >= 0; i--) {
      if (!scanBackward(must(node.children[i], "a branch has its children"), range, visit))
        return false;
    }
    return true;
  }
  for (let i = firstAtLeast(node.keys, range.end) - 1; i >= 0; i--) {
    const key = must(node.keys[i], "within bounds");
    if (compareBytes(key, range.start) < 0 || !visit(key, must(node.values[i], "within bounds")))
      return false;
  }
  return true;
}

/** Changes on a root that nobody else sees until it is taken. */
export class TreeWriter implements KeyValue {
  root: TreeRoot;
  private readonly owner: Owner = {};

  constructor(root: TreeRoot) {
    this.root = root;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return getFromTree(this.root, key);
  }

  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void {
    scanTree(this.root, range, visit);
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const pieces = this.putIn(this.root, key, value);
    this.root =
      pieces.length === 1
        ? must(pieces[0], "a node is at least one piece")
        : {
            isLeaf: false,
            owner: this.owner,
            keys: pieces.map((piece) => smallestKey(piece)),
            children: pieces,
          };
  }

  remove(key: Uint8Array): void {
    if (this.get(key) === undefined) return;
    this.root = this.removeIn(this.root, key) ?? makeTree();
    while (!this.root.isLeaf && this.root.children.length === 1)
      this.root = must(this.root.children[0], "a branch has its children");
  }

  private own<T extends Node>(node: T): T {
    if (node.owner === this.owner) return node;
    if (node.isLeaf) {
      const keys = node.keys.slice();
      return { isLeaf: true, owner: this.owner, keys, values: node.values.slice() } as Node as T;
    }
    const keys = node.keys.slice();
    return { isLeaf: false, owner: this.owner, keys, children: node.children.slice() } as Node as T;
  }

  private putIn(from: Node, key: Uint8Array, value: Uint8Array): Node[] {
    const node = this.own(from);
    if (node.isLeaf) {
      const at = firstAtLeast(node.keys, key);
      const found = node.keys[at];
      if (found !== undefined && compareBytes(found, key) === 0) node.values[at] = value;
      else {
        node.keys.splice(at, 0, key);
        node.values.splice(at, 0, value);
      }
    } else {
      const at = childFor(node, key);
      const pieces = this.putIn(must(node.children[at], "a branch has its children"), key, value);
      node.children.splice(at, 1, ...pieces);
      node.keys.splice(at, 1, ...pieces.map((piece) => smallestKey(piece)));
    }
    return node.keys.length <= nodeMax ? [node] : this.split(node);
  }

  private split(node: Node): Node[] {
    const half = node.keys.length >> 1;
    const keys = node.keys.splice(half);
    const { owner } = this;
    if (node.isLeaf) return [node, { isLeaf: true, owner, keys, values: node.values.splice(half) }];
    return [node, { isLeaf: false, owner, keys, children: node.children.splice(half) }];
  }

  private removeIn(from: Node, key: Uint8Array): Node | undefined {
    const node = this.own(from);
    if (node.isLeaf) {
      const at = firstAtLeast(node.keys, key);
      node.keys.splice(at, 1);
      node.values.splice(at, 1);
    } else {
      const at = childFor(node, key);
      const child = this.removeIn(must(node.children[at], "a branch has its children"), key);
      if (child === undefined) {
        node.keys.splice(at, 1);
        node.children.splice(at, 1);
      } else node.children[at] = child;
    }
    return node.keys.length === 0 ? undefined : node;
  }
}

function smallestKey(node: Node): Uint8Array {
  let low = node;
  while (!low.isLeaf) low = must(low.children[0], "a branch has its children");
  return must(low.keys[0], "within bounds");
}
