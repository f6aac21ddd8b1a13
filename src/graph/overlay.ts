/**
 * What a transaction wrote and has not committed, as its reads see it (reference/transactions 6.2). Made of the patches
 * that the facts would commit as; presence and count lists, which a store follows by itself, are handed in beside them.
 * It serves reads only: at commit the patches are derived anew on the newest snapshot.
 */
import { must } from "../base/assert.ts";
import type { Patch } from "../store/store.ts";
import { ListDelta, prefixBytes, prefixText } from "./delta.ts";
import type { Delta, EntryDelta, NamedList, RecordDelta } from "./delta.ts";
import { compareBytes } from "../base/bytes.ts";

const emptyFacets = new Uint8Array(0);

interface MutableEntry extends EntryDelta {
  readonly slots: Map<string, Uint8Array | undefined>;
}

/** Bytes of the prefix of an index, reverse or count id (`codec/key.ts`, indexPrefix). */
const idPrefixLength = 9;

/** Changed lists by their prefixes. */
interface ChangedLists {
  readonly byPrefix: Map<string, ListDelta>;
  /** Id prefix → prefixes of its changed lists, sorted when asked for. */
  readonly under: Map<string, Set<string>>;
  readonly sorted: Map<string, readonly NamedList[]>;
}

/** Most overlays stay empty: what they hold is made when it is first needed. */
export class Overlay implements Delta {
  #records: Map<number, Map<number, MutableEntry>> | undefined = undefined;
  #lists: ChangedLists | undefined = undefined;

  get isEmpty(): boolean {
    return this.#records === undefined && this.#lists === undefined;
  }

  apply(patch: Patch): void {
    switch (patch.kind) {
      case "cell":
        this.#entry(patch.uid, patch.predicate).slots.set(patch.slot, patch.cell);
        return;
      case "edge":
        this.#entry(patch.uid, patch.predicate).edges.set(
          patch.target,
          patch.add ? (patch.facets ?? emptyFacets) : undefined,
        );
        return;
      case "member":
        this.setMember(
          patch.list,
          patch.member,
          patch.add ? (patch.facets ?? emptyFacets) : undefined,
        );
        return;
      case "meta":
        return;
    }
  }

  /** `facets` undefined: the member is not there. */
  setMember(prefix: Uint8Array, member: number, facets: Uint8Array | undefined): void {
    const text = prefixText(prefix);
    const { byPrefix, under, sorted } = (this.#lists ??= makeLists());
    let list = byPrefix.get(text);
    if (list === undefined) {
      list = new ListDelta();
      byPrefix.set(text, list);
      const id = text.slice(0, idPrefixLength);
      const lists = under.get(id);
      if (lists === undefined) under.set(id, new Set([text]));
      else lists.add(text);
      sorted.delete(id);
    }
    list.set(member, facets);
  }

  record(uid: number): RecordDelta | undefined {
    return this.#records?.get(uid);
  }

  /** Nodes with a change of the predicate, ascending. */
  nodesWith(predicate: number): Float64Array {
    const found: number[] = [];
    for (const [uid, entries] of this.#records ?? []) if (entries.has(predicate)) found.push(uid);
    return new Float64Array(found).sort();
  }

  list(prefix: string): ListDelta | undefined {
    return this.#lists?.byPrefix.get(prefix);
  }

  listsUnder(prefix: string): readonly NamedList[] | undefined {
    const changed = this.#lists;
    const lists = changed?.under.get(prefix);
    if (changed === undefined || lists === undefined) return undefined;
    let sorted = changed.sorted.get(prefix);
    if (sorted === undefined) {
      sorted = [...lists]
        .map((text) => ({
          prefix: prefixBytes(text),
          delta: must(changed.byPrefix.get(text), "a text of its prefixes"),
        }))
        .sort((a, b) => compareBytes(a.prefix, b.prefix));
      changed.sorted.set(prefix, sorted);
    }
    return sorted;
  }

  #entry(uid: number, predicate: number): MutableEntry {
    const records = (this.#records ??= new Map<number, Map<number, MutableEntry>>());
    let record = records.get(uid);
    if (record === undefined) {
      record = new Map();
      records.set(uid, record);
    }
    let entry = record.get(predicate);
    if (entry === undefined) {
      entry = { slots: new Map(), edges: new ListDelta() };
      record.set(predicate, entry);
    }
    return entry;
  }
}

function makeLists(): ChangedLists {
  return { byPrefix: new Map(), under: new Map(), sorted: new Map() };
}
