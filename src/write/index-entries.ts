/**
 * What nodes have in an index that is being built, gathered list by list: in the order of the lists' keys each list is
 * written once for many nodes, where node by node it would be written for every few of them. Entries travel to the
 * writer in parcels.
 */
import { must } from "../base/assert.ts";
import { ByteReader, ByteWriter, compareBytes, emptyBytes } from "../base/bytes.ts";
import { Heap } from "../base/heap.ts";
import { encodeFacets } from "../codec/facets.ts";
import { reverseList, tokenList } from "../codec/key.ts";
import type { IndexBuild } from "../graph/schema-diff.ts";
import type { Column, ColumnRequest } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import { storedTokens } from "../graph/value-tokens.ts";
import type { MemberPatch } from "../store/store.ts";

/** Which index of which predicate. */
export interface EntrySource {
  readonly build: IndexBuild;
  readonly predicate: Predicate;
}

/** Told one entry: `owner` is the object of a reverse list, 0 of others; no facets are undefined. */
type EntrySink = (
  list: Uint8Array,
  member: number,
  owner: number,
  facets: Uint8Array | undefined,
) => void;

type EdgeRequest = Extract<ColumnRequest, { readonly kind: "edges" }>;

/** Edges behind `after`, at most `limit` of each node, as `visitEntries` reads them. */
export function edgesBehind(predicate: number, after: number, limit: number): EdgeRequest {
  return { kind: "edges", predicate, facets: true, bounds: { after, limit } };
}

export function requestFor({ definition, id }: Predicate): ColumnRequest {
  return definition.kind === "uid"
    ? { kind: "edges", predicate: id, facets: true }
    : { kind: "cells", predicate: id };
}

/** Entries of the nodes of a column that was read by `wantFor`. */
export function visitEntries(
  { build, predicate }: EntrySource,
  storageId: number,
  read: { readonly uids: Float64Array; readonly column: Column },
  sink: EntrySink,
): void {
  const { uids, column } = read;
  if (build.kind === "reverse" && column.kind === "edges") {
    const { offsets, targets, facets } = column;
    for (let row = 0; row < uids.length; row++) {
      const end = must(offsets[row + 1], "a row has its bounds");
      for (let e = must(offsets[row], "a row has its bounds"); e < end; e++) {
        const owner = must(targets[e], "each edge has its target");
        const list = reverseList(storageId, build.index, owner);
        sink(list, must(uids[row], "each row has its uid"), owner, encodeFacets(facets?.[e]));
      }
    }
  }
  const index = predicate.indexes.find(({ id }) => id === build.index);
  if (build.kind !== "token" || index === undefined || column.kind !== "cells") return;
  for (let row = 0; row < uids.length; row++) {
    for (const cell of column.cells[row] ?? []) {
      for (const token of storedTokens(predicate, index, cell)) {
        sink(
          tokenList(storageId, index.id, token),
          must(uids[row], "each row has its uid"),
          0,
          undefined,
        );
      }
    }
  }
}

export function entryPatch(
  { build, predicate }: EntrySource,
  ...[list, member, owner, facets]: Parameters<EntrySink>
): MemberPatch {
  // Commits move the entries of this count from what the list holds so far: a build has to move them too.
  const countIndex = build.kind === "reverse" ? (predicate.reverseCountIndex?.id ?? 0) : 0;
  return { kind: "member", list, member, add: true, facets, countIndex, owner };
}

/** A round has some 150,000 lists at most: a few thousand in each. */
const shardCount = 61;

/** Entries by list; added in ascending order of their nodes. */
export class GatheredEntries {
  /** By a few bits of the key: a map that grows is made anew at one go, which 100,000 lists would wait for. */
  readonly #shards = Array.from({ length: shardCount }, () => new Map<string, EntryList>());
  #bytes = 0;

  /** Of memory, nearly. */
  get bytes(): number {
    return this.#bytes;
  }

  readonly add: EntrySink = (list, member, owner, facets) => {
    const key = String.fromCharCode(...list);
    const shard = must(
      this.#shards[
        (must(list.at(-1), "the key of a list is longer") +
          7 * must(list.at(-2), "the key of a list is longer")) %
          shardCount
      ],
      "the key of a list is longer",
    );
    let found = shard.get(key);
    if (found === undefined) {
      found = { list, owner, members: [member], facets: undefined };
      shard.set(key, found);
      this.#bytes += 300 + list.length;
    } else {
      const { members } = found;
      // Two values of a node may have the same token.
      if (members.at(-1) === member) return;
      members.push(member);
      this.#bytes += 10;
    }
    if (facets === undefined || facets.length === 0) return;
    (found.facets ??= new Map()).set(member, facets);
    this.#bytes += 150 + facets.length;
  };

  /** Lists in runs, each to be sorted by `sortRun`. Done with: nothing may be added any more. */
  takeRuns(): EntryList[][] {
    const runs: EntryList[][] = [];
    for (const shard of this.#shards) {
      const lists = [...shard.values()];
      shard.clear();
      for (let from = 0; from < lists.length; from += runLists) {
        runs.push(lists.slice(from, from + runLists));
      }
    }
    return runs;
  }
}

/** So many are sorted in one to two milliseconds. */
const runLists = 2048;

/** By the lists' keys. */
export function sortRun(run: EntryList[]): void {
  run.sort((a, b) => compareBytes(a.list, b.list));
}

/** All that was gathered, in the order of the lists' keys. Done with: nothing may be added any more. */
export function sortLists(entries: GatheredEntries): readonly EntryList[] {
  const lists = entries.takeRuns().flat();
  sortRun(lists);
  return lists;
}

interface EntryList {
  readonly list: Uint8Array;
  readonly owner: number;
  readonly members: number[];
  facets: Map<number, Uint8Array> | undefined;
}

/** What a list costs the writer, in members. */
const listPrice = 16;

/** A sorted run, and how far it is written. */
interface OpenRun {
  readonly lists: readonly EntryList[];
  at: number;
}

/** Goes through sorted runs in the order of all their lists, from each one's first member to the last, a parcel at a time. */
export class ParcelCutter {
  /** By the first list that is left. */
  readonly #runs = new Heap<OpenRun>(
    (a, b) =>
      compareBytes(
        must(a.lists[a.at], "runs in the heap are not at their end").list,
        must(b.lists[b.at], "runs in the heap are not at their end").list,
      ) < 0,
  );
  readonly #total: number;
  #done = 0;
  /** The first member that is left of the first list. */
  #member = 0;

  constructor(runs: readonly EntryList[][]) {
    let total = 0;
    for (const lists of runs) {
      total += lists.length;
      this.#runs.push({ lists, at: 0 });
    }
    this.#total = total;
  }

  get isDone(): boolean {
    return this.#runs.size === 0;
  }

  /** How much of the lists is behind, from 0 to 1. */
  get share(): number {
    return this.#done / Math.max(1, this.#total);
  }

  /** The next entries without those of `skipped` nodes; a list counts as `listPrice` members. */
  next(price: number, skipped: ReadonlySet<number>): Uint8Array {
    const writer = new ByteWriter(4096);
    for (let left = price; left > 0 && !this.isDone;) {
      const run = must(this.#runs.peek(), "the heap is not empty");
      const list = must(run.lists[run.at], "runs in the heap are not at their end");
      const end = Math.min(list.members.length, this.#member + left);
      writeEntries(writer, list, { from: this.#member, to: end, skipped });
      left -= listPrice + end - this.#member;
      this.#member = end;
      if (end === list.members.length) this.#nextList(run);
    }
    return writer.finish();
  }

  #nextList(run: OpenRun): void {
    this.#member = 0;
    this.#done++;
    run.at++;
    if (run.at < run.lists.length) this.#runs.replace(run);
    else this.#runs.pop();
  }
}

function writeEntries(
  writer: ByteWriter,
  { list, owner, members, facets }: EntryList,
  { from, to, skipped }: { from: number; to: number; skipped: ReadonlySet<number> },
): void {
  const wanted: number[] = [];
  for (let i = from; i < to; i++)
    if (!skipped.has(must(members[i], "within bounds")))
      wanted.push(must(members[i], "within bounds"));
  if (wanted.length === 0) return;
  writer.run(list);
  writer.varint(owner);
  writer.varint(wanted.length);
  writer.u8(facets === undefined ? 0 : 1);
  let before = 0;
  for (const member of wanted) {
    writer.varint(member - before);
    if (facets !== undefined) writer.run(facets.get(member) ?? emptyBytes);
    before = member;
  }
}

/** What `ParcelCutter.next` made. */
export function readParcel(parcel: Uint8Array, sink: EntrySink): void {
  const reader = new ByteReader(parcel);
  while (reader.left > 0) {
    const list = reader.run();
    const owner = reader.varint();
    const count = reader.varint();
    const hasFacets = reader.u8() === 1;
    let member = 0;
    for (let i = 0; i < count; i++) {
      member += reader.varint();
      sink(list, member, owner, hasFacets ? reader.run() : undefined);
    }
  }
}
