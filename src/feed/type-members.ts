/**
 * Which nodes of a commit have one of some types: those of the newest snapshot, less what the commits in between have
 * changed, which the log tells. A node counts where it had the type before the commit or has it after: its deletion is
 * told too. One for each follower that asks for types.
 */
import { must } from "../base/assert.ts";
import { logKey, readLogKey, recordKey } from "../codec/key.ts";
import { readEntry, visitCells } from "../codec/record.ts";
import { reservedPredicates } from "../graph/reserved.ts";
import { openCommit, visitTouched } from "../store/patch-codec.ts";
import type { CellPatch, Snapshot, TouchVisitor } from "../store/store.ts";
import { fingerprintValue } from "../tokens/fingerprint.ts";
import type { FeedMemory } from "./feed-memory.ts";
import type { FeedRow } from "./feed-rows.ts";

/** One type of one node, in one commit. */
interface TypeChange {
  readonly commitTs: number;
  readonly slot: string;
  readonly had: boolean;
  readonly has: boolean;
}

/** The nodes of a commit that have one of the types; uids repeat in namespaces, but a commit is of one. */
export type MembersOf = ReadonlyMap<number, ReadonlySet<number>>;

const typePredicate = must(
  reservedPredicates({ acl: false }).find(({ definition }) => definition.name === "dgraph.type"),
  "types of nodes have a reserved predicate",
).id;

/** What a change costs in memory. */
const changeBytes = 160;
const rowsAtOnce = 256;
const bytesAtOnce = 1024 * 1024;
const nodesAtOnce = 256;

export class TypeMembers {
  readonly #slots: ReadonlySet<string>;
  readonly #memory: FeedMemory;
  /** By storage id and uid, ascending by commit. */
  readonly #changes = new Map<string, TypeChange[]>();
  /** The nodes that commits changed, oldest first. */
  #order: { readonly commitTs: number; readonly node: string }[] = [];
  /** All changes of commits up to here are known. */
  #known: number;

  constructor(types: Iterable<string>, after: number, memory: FeedMemory) {
    this.#slots = new Set([...types].map((text) => fingerprintValue({ kind: "string", text })));
    this.#known = after;
    this.#memory = memory;
  }

  /** `rows` are the next ones that are told, of `snapshot`. */
  async look(
    snapshot: Snapshot,
    rows: readonly FeedRow[],
    pause: () => Promise<void>,
  ): Promise<MembersOf> {
    const first = rows[0];
    if (first === undefined) return new Map();
    this.#forget(first.commitTs);
    await this.#learn(snapshot, pause);
    const found = new Map<number, ReadonlySet<number>>();
    for (const { commitTs, bytes } of rows) {
      found.set(commitTs, await this.#membersOf(snapshot, commitTs, touchedNodes(bytes), pause));
    }
    return found;
  }

  close(): void {
    this.#memory.give(this.#order.length * changeBytes);
    this.#order = [];
    this.#changes.clear();
  }

  #forget(before: number): void {
    const keep = this.#order.findIndex(({ commitTs }) => commitTs >= before);
    const gone = this.#order.splice(0, keep < 0 ? this.#order.length : keep);
    for (const { node } of gone) {
      const left = this.#changes.get(node)?.filter(({ commitTs }) => commitTs >= before) ?? [];
      if (left.length === 0) this.#changes.delete(node);
      else this.#changes.set(node, left);
    }
    this.#memory.give(gone.length * changeBytes);
  }

  /** Changes of types up to the snapshot. */
  async #learn(snapshot: Snapshot, pause: () => Promise<void>): Promise<void> {
    while (this.#known < snapshot.ts) {
      const found: { commitTs: number; patch: CellPatch; existed: boolean }[] = [];
      let rows = 0;
      let bytes = 0;
      const range = { start: logKey(this.#known + 1), end: logKey(snapshot.ts + 1) };
      await snapshot.scan(range, (key, row) => {
        const commitTs = readLogKey(key);
        if (touchesTypes(row)) {
          for (const { patch, existed } of openCommit(row).applied) {
            if (patch.kind === "cell" && patch.predicate === typePredicate) {
              if (this.#slots.has(patch.slot)) found.push({ commitTs, patch, existed });
            }
          }
        }
        this.#known = commitTs;
        bytes += row.length;
        return ++rows < rowsAtOnce && bytes < bytesAtOnce;
      });
      if (rows === 0) this.#known = snapshot.ts;
      // Never waited for: the snapshot is open, and the log bounds them.
      this.#memory.hold(found.length * changeBytes);
      for (const { commitTs, patch, existed } of found) {
        const node = nodeOf(patch.storageId, patch.uid);
        const change = { commitTs, slot: patch.slot, had: existed, has: patch.cell !== undefined };
        const known = this.#changes.get(node);
        if (known === undefined) this.#changes.set(node, [change]);
        else known.push(change);
        this.#order.push({ commitTs, node });
      }
      await pause();
    }
  }

  async #membersOf(
    snapshot: Snapshot,
    commitTs: number,
    touched: readonly TouchedNode[],
    pause: () => Promise<void>,
  ): Promise<ReadonlySet<number>> {
    const members = new Set<number>();
    for (let at = 0; at < touched.length; at += nodesAtOnce) {
      const nodes = touched.slice(at, at + nodesAtOnce);
      const keys = nodes.map(({ storageId, uid }) => recordKey(storageId, uid));
      // A slot that no later commit has changed is as the snapshot has it.
      const stored = nodes.map(() => new Set<string>());
      await snapshot.readMany(keys, (i, row) => {
        const entry = row && readEntry(row, typePredicate);
        if (entry !== undefined) visitCells(entry, (slot) => void stored[i]?.add(slot));
      });
      nodes.forEach(({ storageId, uid }, i) => {
        const changes = this.#changes.get(nodeOf(storageId, uid)) ?? noChanges;
        if (this.#isMember(commitTs, changes, stored[i] ?? noSlots)) members.add(uid);
      });
      if (touched.length > nodesAtOnce) await pause();
    }
    return members;
  }

  #isMember(
    commitTs: number,
    changes: readonly TypeChange[],
    stored: ReadonlySet<string>,
  ): boolean {
    for (const slot of this.#slots) {
      const own = changes.filter((one) => one.slot === slot && one.commitTs >= commitTs);
      const [next] = own;
      if (next === undefined ? stored.has(slot) : next.had) return true;
      if (own.some((one) => one.commitTs === commitTs && one.has)) return true;
    }
    return false;
  }
}

const noChanges: readonly TypeChange[] = [];
const noSlots: ReadonlySet<string> = new Set();

function nodeOf(storageId: number, uid: number): string {
  return `${storageId}.${uid}`;
}

interface TouchedNode {
  readonly storageId: number;
  readonly uid: number;
}

class TouchCollector implements TouchVisitor {
  readonly wantsMembers = false;
  readonly nodes = new Map<number, TouchedNode>();
  begin(): boolean {
    return true;
  }
  record(storageId: number, uid: number): void {
    this.nodes.set(uid, { storageId, uid });
  }
  member(): void {}
  meta(): void {}
}

class TypeFinder implements TouchVisitor {
  readonly wantsMembers = false;
  isFound = false;
  begin(): boolean {
    return true;
  }
  record(_storageId: number, _uid: number, predicate: number): void {
    if (predicate === typePredicate) this.isFound = true;
  }
  member(): void {}
  meta(): void {}
}

function touchesTypes(row: Uint8Array): boolean {
  const finder = new TypeFinder();
  visitTouched(row, finder);
  return finder.isFound;
}

function touchedNodes(row: Uint8Array): readonly TouchedNode[] {
  const collector = new TouchCollector();
  visitTouched(row, collector);
  return [...collector.nodes.values()];
}
