/**
 * Entries of one index (or of a predicate's presence), gathered bucket by bucket → the rows of its lists. Buckets are
 * merged by the lists' keys; what one has of a list stands behind what the ones before it have.
 */
import { must } from "../base/assert.ts";
import { compareBytes, equalBytes, readUint32 } from "../base/bytes.ts";
import { Heap } from "../base/heap.ts";
import { countList, keyKind, readKind, readListId, readReverseObject } from "../codec/key.ts";
import type { Predicate, Schema } from "../graph/schema.ts";
import { RowBuilder } from "../stores/row-builder.ts";
import { GatheredEntries, sortLists } from "../write/index-entries.ts";
import { readListEntry, writeListEntry, type ListEntry } from "./entries.ts";
import { SectionReader, SectionWriter, writeRow, type Section } from "./section-file.ts";

export interface ListJob {
  /** Of one kind and id, in the order of their buckets. */
  readonly runs: readonly Section[];
  /** Predicates whose values no two nodes may share. */
  readonly keys: readonly string[];
  readonly path: string;
  /** Of a load into a store that is encrypted. */
  readonly key: Uint8Array | undefined;
}

/** A value that several nodes have where one may. */
export interface DoubleKey {
  readonly predicate: string;
  readonly uids: readonly number[];
}

export interface ListResult {
  readonly rows: readonly Section[];
  /** Lists that follow from these: how many point at each object. */
  readonly entries: readonly Section[];
  readonly doubles: readonly DoubleKey[];
  readonly doubleCount: number;
}

const doublesMax = 10;

export function buildLists(schema: Schema, { runs, keys, path, key }: ListJob): ListResult {
  const rows = new SectionWriter();
  const builder = new RowBuilder((key, stored) => {
    writeRow(
      rows.of(readKind(key), readKind(key) === keyKind.head ? 0 : readListId(key)),
      key,
      stored,
    );
  });
  const { kind, id } = must(runs[0], "a job has a run");
  const countIndex = findReverse(schema, kind, id)?.reverseCountIndex?.id;
  const unique = findKey(schema, { kind, id }, keys);
  const counts = new GatheredEntries();
  const doubles: DoubleKey[] = [];
  let doubleCount = 0;
  for (const { list, members, facets } of mergeRuns(runs)) {
    builder.addList(list, members, facets);
    if (countIndex !== undefined) {
      const owner = readReverseObject(list);
      counts.add(countList(schema.storageId, countIndex, members.length), owner, 0, undefined);
    }
    if (unique === undefined || members.length === 1) continue;
    doubleCount++;
    if (doubles.length < doublesMax) doubles.push({ predicate: unique, uids: members.slice(0, 3) });
  }
  const lists = new SectionWriter();
  for (const entry of sortLists(counts)) {
    writeListEntry(lists.of(readKind(entry.list), readListId(entry.list)), entry);
  }
  const entries = lists.finish(`${path}.entries`, key);
  return { rows: rows.finish(`${path}.rows`, key), entries, doubles, doubleCount };
}

function findReverse(schema: Schema, kind: number, id: number): Predicate | undefined {
  if (kind !== keyKind.reverse) return undefined;
  return schema.predicates.find(({ reverseIndex }) => reverseIndex?.id === id);
}

/** The predicate whose values are keys, where each list of the index stands for one value. */
function findKey(
  schema: Schema,
  { kind, id }: { readonly kind: number; readonly id: number },
  keys: readonly string[],
): string | undefined {
  if (kind !== keyKind.index) return undefined;
  const found = schema.predicates.find(({ indexes }) => indexes.some((index) => index.id === id));
  if (found === undefined) return undefined;
  const { name, unique } = found.definition;
  const index = found.indexes.find((one) => one.id === id);
  const isWhole = index !== undefined && wholeTokenizers.has(index.tokenizer);
  return isWhole && (unique || keys.includes(name)) ? name : undefined;
}

/** Whose tokens are whole values. */
const wholeTokenizers = new Set(["exact", "hash", "int", "float", "bigfloat"]);

function* mergeRuns(runs: readonly Section[]): Generator<ListEntry, void> {
  const readers = runs.map((section, place) => new RunReader(section, place));
  const heap = new Heap<RunReader>((a, b) => isBefore(a, b));
  for (const reader of readers) {
    if (reader.next()) heap.push(reader);
    else reader.close();
  }
  let open: ListEntry | undefined;
  while (heap.size > 0) {
    const reader = must(heap.peek(), "the heap is not empty");
    const entry = must(reader.entry, "readers in the heap have an entry");
    if (open !== undefined && equalBytes(open.list, entry.list)) open = join(open, entry);
    else {
      if (open !== undefined) yield open;
      open = entry;
    }
    if (reader.next()) heap.replace(reader);
    else {
      heap.pop();
      reader.close();
    }
  }
  if (open !== undefined) yield open;
}

function isBefore(a: RunReader, b: RunReader): boolean {
  const order = compareBytes(
    must(a.entry, "readers in the heap have an entry").list,
    must(b.entry, "readers in the heap have an entry").list,
  );
  return order < 0 || (order === 0 && a.place < b.place);
}

/** What was read is nobody else's: the longer list takes the other in. */
function join(before: ListEntry, behind: ListEntry): ListEntry {
  const members = before.members as number[];
  for (const member of behind.members) members.push(member);
  let { facets } = before;
  if (behind.facets !== undefined) facets = new Map([...(facets ?? []), ...behind.facets]);
  return { list: before.list, members, facets };
}

const blockBytes = 64 * 1024;

class RunReader {
  readonly place: number;
  entry: ListEntry | undefined = undefined;
  readonly #reader: SectionReader;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(section: Section, place: number) {
    this.place = place;
    this.#reader = new SectionReader(section);
  }

  /** Whether there is one more. */
  next(): boolean {
    if (!this.#have(4)) return false;
    const bytes = this.#bytes;
    const at = this.#at;
    const length = readUint32(bytes, at);
    this.#have(4 + length);
    const from = this.#at + 4;
    this.entry = readListEntry(this.#bytes.subarray(from, from + length));
    this.#at = from + length;
    return true;
  }

  #have(count: number): boolean {
    const left = this.#bytes.length - this.#at;
    if (left >= count) return true;
    const kept = this.#bytes.subarray(this.#at);
    this.#bytes = this.#reader.more(kept, Math.max(blockBytes, count - left));
    this.#at = 0;
    return this.#bytes.length >= count && this.#bytes.length > left;
  }

  close(): void {
    this.#reader.close();
  }
}
