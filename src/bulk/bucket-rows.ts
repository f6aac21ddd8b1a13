/** Facts of some nodes → their rows, and what they have in indexes: sorted by lists, for `list-rows.ts`. */
import { must } from "../base/assert.ts";
import { StoredCell } from "../codec/cell.ts";
import { countList, keyKind, presenceList, readKind, readListId, tokenList } from "../codec/key.ts";
import type { Predicate, Schema } from "../graph/schema.ts";
import { storedTokens } from "../graph/value-tokens.ts";
import { isVectorIndex } from "../model/definition.ts";
import { RowBuilder } from "../stores/row-builder.ts";
import { writeListEntry } from "./entries.ts";
import { KeyedEntries, ReverseEntries } from "./entry-sorter.ts";
import { readCellOf, readFacts, readSlot, type FactColumns } from "./fact-columns.ts";
import { SectionWriter, writeRow, type Section } from "./section-file.ts";

export interface BucketJob {
  /** Records as `FactSpill` writes them. */
  readonly facts: Uint8Array;
  /** The uid of the node with number 0 in it. */
  readonly firstUid: number;
  /** The uid of label n is n + this. */
  readonly labelOffset: number;
  /** Two files are made: `.rows` and `.entries`. */
  readonly path: string;
  /** Of a load into a store that is encrypted. */
  readonly key: Uint8Array | undefined;
}

export interface BucketResult {
  readonly rows: readonly Section[];
  readonly entries: readonly Section[];
  readonly facts: number;
}

export function buildBucket(schema: Schema, job: BucketJob): BucketResult {
  return new BucketBuilder(schema, job).run();
}

class BucketBuilder {
  readonly #schema: Schema;
  readonly #job: BucketJob;
  readonly #rows = new SectionWriter();
  readonly #presence = new Map<Predicate, number[]>();
  /** By index ids. */
  readonly #tokens = new Map<number, KeyedEntries>();
  readonly #reverse = new Map<number, ReverseEntries>();
  /** By index id, then by count. */
  readonly #counts = new Map<number, Map<number, number[]>>();
  readonly #builder: RowBuilder;
  readonly #facts: FactColumns;
  #factCount = 0;

  constructor(schema: Schema, job: BucketJob) {
    this.#schema = schema;
    this.#job = job;
    this.#facts = readFacts(job);
    this.#builder = new RowBuilder((key, stored) => {
      const kind = readKind(key);
      const id = kind === keyKind.record ? 0 : readListId(key);
      writeRow(this.#rows.of(kind, id), key, stored);
    });
  }

  run(): BucketResult {
    const { firstUid, path, key } = this.#job;
    const { starts, order } = this.#facts;
    for (let node = 0; node + 1 < starts.length; node++) {
      const from = must(starts[node], "each node has its bounds");
      const to = must(starts[node + 1], "each node has its bounds");
      if (from < to) this.#addNode(firstUid + node, order, from, to);
    }
    const rows = this.#rows.finish(`${path}.rows`, key);
    return { rows, entries: this.#writeEntries(), facts: this.#factCount };
  }

  #addNode(uid: number, order: Int32Array, begin: number, end: number): void {
    const { predicates } = this.#facts;
    this.#builder.beginRecord(this.#schema.storageId, uid);
    for (let from = begin; from < end;) {
      const id = must(predicates[must(order[from], "within bounds")], "each fact has its columns");
      let to = from + 1;
      while (to < end && predicates[must(order[to], "within bounds")] === id) to++;
      const predicate = must(this.#schema.predicateById(id), "facts name predicates of the schema");
      const count =
        predicate.definition.kind === "uid"
          ? this.#addEdges(uid, predicate, order, from, to)
          : this.#addValues(uid, predicate, order, from, to);
      this.#factCount += count;
      this.#notePresence(uid, predicate, count);
      from = to;
    }
    this.#builder.endRecord();
  }

  /** Facts of a node stand in the order of their targets, then of the input; of one target the last counts. */
  // oxlint-disable-next-line max-params -- hot: a slice of each node's facts would cost more than they do
  #addEdges(
    uid: number,
    predicate: Predicate,
    order: Int32Array,
    from: number,
    to: number,
  ): number {
    const { targets } = this.#facts;
    if (!predicate.definition.list) {
      let last = 0;
      for (let i = from; i < to; i++) last = Math.max(last, must(order[i], "within bounds"));
      this.#addEdge(uid, predicate, last);
      return 1;
    }
    let count = 0;
    for (let i = from; i < to; i++) {
      const fact = must(order[i], "within bounds");
      const next = i + 1 < to ? must(order[i + 1], "within bounds") : undefined;
      if (next !== undefined && targets[next] === targets[fact]) continue;
      this.#addEdge(uid, predicate, fact);
      count++;
    }
    return count;
  }

  #addEdge(uid: number, { id, reverseIndex }: Predicate, fact: number): void {
    const target = must(this.#facts.targets[fact], "each fact has its columns");
    const facets = this.#facts.payload(fact);
    this.#builder.addEdge(id, target, facets);
    if (reverseIndex === undefined) return;
    let entries = this.#reverse.get(reverseIndex.id);
    if (entries === undefined) {
      entries = new ReverseEntries(this.#schema.storageId, reverseIndex.id);
      this.#reverse.set(reverseIndex.id, entries);
    }
    entries.add(target, uid, facets);
  }

  // oxlint-disable-next-line max-params -- as above
  #addValues(
    uid: number,
    predicate: Predicate,
    order: Int32Array,
    from: number,
    to: number,
  ): number {
    if (to - from === 1) {
      const payload = this.#facts.payload(must(order[from], "within bounds"));
      this.#addValue(uid, predicate, readSlot(payload), readCellOf(payload));
      return 1;
    }
    const last = new Map<string, Uint8Array>();
    for (let i = from; i < to; i++) {
      const payload = this.#facts.payload(must(order[i], "within bounds"));
      last.set(readSlot(payload), readCellOf(payload));
    }
    for (const [slot, cell] of last) this.#addValue(uid, predicate, slot, cell);
    return last.size;
  }

  #addValue(uid: number, predicate: Predicate, slot: string, bytes: Uint8Array): void {
    this.#builder.addCell(predicate.id, slot, bytes);
    if (predicate.indexes.length === 0) return;
    const cell = new StoredCell(bytes);
    for (const index of predicate.indexes) {
      if (isVectorIndex(index)) continue;
      let entries = this.#tokens.get(index.id);
      if (entries === undefined) this.#tokens.set(index.id, (entries = new KeyedEntries()));
      for (const token of storedTokens(predicate, index, cell)) {
        entries.add(tokenList(this.#schema.storageId, index.id, token), uid);
      }
    }
  }

  #notePresence(uid: number, predicate: Predicate, count: number): void {
    const known = this.#presence.get(predicate);
    if (known === undefined) this.#presence.set(predicate, [uid]);
    else known.push(uid);
    const index = predicate.countIndex?.id;
    if (index === undefined) return;
    let lists = this.#counts.get(index);
    if (lists === undefined) this.#counts.set(index, (lists = new Map()));
    const members = lists.get(count);
    if (members === undefined) lists.set(count, [uid]);
    else members.push(uid);
  }

  #writeEntries(): Section[] {
    const { storageId } = this.#schema;
    const lists = new SectionWriter();
    for (const [{ id }, members] of this.#presence) {
      const entry = { list: presenceList(storageId, id), members, facets: undefined };
      writeListEntry(lists.of(keyKind.presence, id), entry);
    }
    for (const [id, entries] of this.#tokens) {
      const writer = lists.of(keyKind.index, id);
      entries.visit((entry) => writeListEntry(writer, entry));
    }
    for (const [id, entries] of this.#reverse) {
      const writer = lists.of(keyKind.reverse, id);
      entries.visit((entry) => writeListEntry(writer, entry));
    }
    for (const [id, counts] of this.#counts) {
      for (const count of [...counts.keys()].sort((a, b) => a - b)) {
        const list = countList(storageId, id, count);
        const entry = {
          list,
          members: must(counts.get(count), "a count that was listed"),
          facets: undefined,
        };
        writeListEntry(lists.of(keyKind.count, id), entry);
      }
    }
    return lists.finish(`${this.#job.path}.entries`, this.#job.key);
  }
}
