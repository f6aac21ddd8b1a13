/**
 * An encrypted store in the form in which the adapter sees LMDB: rows by their keys, in their order, in transactions. The
 * file that LMDB keeps has numbered blocks in their place (decision 0070).
 */
import { must } from "../../base/assert.ts";
import type { Database, ReadTransaction } from "../lmdb/database.ts";
import { blockKey, rootBlock, SealedRows } from "./block-rows.ts";
import { BlockCache } from "./block-cache.ts";
import { BlockTree, type MadeBlock, type TreeView, type WalkRange } from "./block-tree.ts";
import { versionBytes, type StoreCipher } from "./store-cipher.ts";
import { encodeTreeState, type TreeState } from "./tree-state.ts";
import { editTree, type RowEdit } from "./tree-writer.ts";

/** Opened blocks that a process keeps. */
const keptBytes = 64 * 1024 * 1024;

class SealedTransaction implements ReadTransaction {
  readonly raw: ReadTransaction;
  view: TreeView | undefined = undefined;

  constructor(raw: ReadTransaction) {
    this.raw = raw;
  }

  done(): void {
    this.raw.done();
  }
}

/** What a transaction has put to LMDB. */
interface Applied {
  readonly state: TreeState;
  /** Of the row that says so. */
  readonly version: Uint8Array;
  readonly blocks: readonly MadeBlock[];
}

interface RowOptions {
  readonly transaction?: ReadTransaction;
}

export class SealedDatabase implements Database {
  readonly isSealed = true;
  onPut: Database["onPut"] = undefined;
  lastSize = 0;
  readonly #raw: Database;
  readonly #cipher: StoreCipher;
  readonly #cache: BlockCache;
  readonly #tree: BlockTree;
  /** Of what is read without a transaction; undefined: to be looked at. */
  #newest: TreeView | undefined = undefined;
  /** Of the transaction that writes. */
  #edits: RowEdit[] | undefined = undefined;
  #sealed: SealedRows | undefined = undefined;

  constructor(raw: Database, cipher: StoreCipher, cacheBytes = keptBytes) {
    this.#cache = new BlockCache(cacheBytes);
    this.#raw = raw;
    this.#cipher = cipher;
    this.#tree = new BlockTree(raw, cipher, this.#cache);
  }

  get env(): Database["env"] {
    return this.#raw.env;
  }

  #view({ transaction }: RowOptions = {}): TreeView {
    if (transaction === undefined) return (this.#newest ??= this.#tree.view(undefined, true));
    const own = transaction as SealedTransaction;
    return (own.view ??= this.#tree.view({ transaction: own.raw }));
  }

  getBinaryFast(key: Uint8Array, options?: RowOptions): Uint8Array | undefined {
    const found = this.#tree.find(this.#view(options), key);
    if (found !== undefined) this.lastSize = found.length;
    return found;
  }

  getRange(options: WalkRange & RowOptions): { iterate(): ReturnType<BlockTree["walk"]> } {
    return { iterate: () => this.#tree.walk(this.#view(options), options) };
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#edit({ key, stored: value });
  }

  remove(key: Uint8Array): void {
    this.#edit({ key, stored: undefined });
  }

  #edit(edit: RowEdit): void {
    must(this.#edits, "rows are put in a transaction").push(edit);
  }

  transactionSync<T>(work: () => T): T {
    let applied: Applied | undefined;
    const value = this.#raw.transactionSync(() => {
      this.#edits = [];
      try {
        const given = work();
        applied = this.#apply(this.#edits);
        return given;
      } finally {
        this.#edits = undefined;
      }
    });
    // Not before the commit: what is dropped was never there.
    this.#newest = undefined;
    if (applied !== undefined) this.#tree.note(applied.state, applied.version, applied.blocks);
    return value;
  }

  #apply(edits: readonly RowEdit[]): Applied {
    const raw = this.#raw;
    const view = this.#tree.view(undefined, true);
    const { state, blocks } = editTree(this.#tree, view, edits);
    const rows = (this.#sealed ??= new SealedRows(this.#cipher.sealer()));
    rows.clear();
    const made: MadeBlock[] = [];
    for (const [id, bytes] of blocks) {
      const key = blockKey(id);
      if (bytes === undefined) {
        this.onPut?.(key, undefined);
        raw.remove(key);
        continue;
      }
      const sealed = rows.seal(key, bytes);
      this.onPut?.(key, sealed);
      raw.put(key, sealed);
      made.push({ id, bytes, version: sealed.slice(0, versionBytes) });
    }
    const root = blockKey(rootBlock);
    const sealed = rows.seal(root, encodeTreeState(state));
    this.onPut?.(root, sealed);
    raw.put(root, sealed);
    return { state, version: sealed.slice(0, versionBytes), blocks: made };
  }

  getWriteTxnId(): number {
    return this.#raw.getWriteTxnId();
  }

  resetReadTxn(): void {
    this.#newest = undefined;
    this.#raw.resetReadTxn();
  }

  useReadTransaction(): ReadTransaction {
    return new SealedTransaction(this.#raw.useReadTransaction());
  }

  readerCheck(): number {
    return this.#raw.readerCheck();
  }

  getStats(): Record<string, unknown> {
    return this.#raw.getStats();
  }

  close(): Promise<void> {
    this.#cache.clear();
    return this.#raw.close();
  }
}
