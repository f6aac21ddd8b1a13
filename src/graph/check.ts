/**
 * The meaning of a store checked against itself (`weft check`): every value has its tokens, every edge its mirror,
 * every node its presence and count, and every entry of an index has the value that it stands for. Each slice is
 * judged within one snapshot, so that it can run beside a busy server. What rows are made of is `stores/check.ts`.
 */
import { must } from "../base/assert.ts";
import { encodeFacets } from "../codec/facets.ts";
import {
  countList,
  indexPrefix,
  keyKind,
  kindRange,
  listPrefixOf,
  presenceList,
  readChunkNumber,
  readCountOf,
  readRecordKey,
  readReverseObject,
  readToken,
  recordKey,
  reverseList,
  tokenList,
  prefixRange,
} from "../codec/key.ts";
import { equalBytes } from "../base/bytes.ts";
import { sortUnique } from "../base/sorted.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Snapshot } from "../store/store.ts";
import { prefixText } from "./delta.ts";
import { ListReader } from "./list.ts";
import { openReader } from "./open-reader.ts";
import type { SnapshotReader } from "./open-reader.ts";
import type { Cell, Column } from "./reader.ts";
import { copyBytes } from "./record.ts";
import { SchemaCache, readNamespaces } from "./schema-rows.ts";
import type { IndexState, Predicate, Schema } from "./schema.ts";
import { storedTokens } from "./value-tokens.ts";

interface GraphCheckOptions {
  /** Opens a snapshot for one slice. */
  readonly open: () => MaybePromise<Snapshot>;
  readonly report: (problem: string) => void;
  /** Called after each slice, with what was looked at so far; resolves when the next may begin. */
  readonly pause?: (seen: { readonly nodes: number; readonly lists: number }) => Promise<void>;
  /** Nodes or lists in one slice. */
  readonly sliceSize?: number;
  readonly acl?: boolean;
}

/** Resolves with how many nodes and index lists were looked at. */
export async function checkGraph(
  options: GraphCheckOptions,
): Promise<{ readonly nodes: number; readonly lists: number }> {
  const check = new GraphCheck(options);
  await check.run();
  return { nodes: check.nodes, lists: check.lists };
}

/** A list that must hold some members, gathered over a slice. */
interface Expected {
  readonly prefix: Uint8Array;
  readonly what: string;
  readonly members: number[];
  /** Facets beside the members of a reverse list. */
  readonly facets: Map<number, Uint8Array> | undefined;
}

class GraphCheck {
  nodes = 0;
  lists = 0;
  readonly #options: GraphCheckOptions;
  readonly #schemas: SchemaCache;
  readonly #sliceSize: number;

  constructor(options: GraphCheckOptions) {
    this.#options = options;
    this.#schemas = new SchemaCache({ acl: options.acl ?? true });
    this.#sliceSize = options.sliceSize ?? 256;
  }

  async run(): Promise<void> {
    const snapshot = await this.#options.open();
    const namespaces = await readNamespaces(snapshot);
    snapshot.close();
    for (const namespace of namespaces) {
      await this.#checkRecords(namespace);
      await this.#checkLists(namespace);
    }
  }

  /** One slice over the newest state; undefined where the namespace is gone. */
  async #slice<T>(
    namespace: number,
    work: (reader: SnapshotReader) => Promise<T>,
  ): Promise<T | undefined> {
    const snapshot = await this.#options.open();
    try {
      const known = await this.#schemas.read(snapshot, namespace);
      if (known === undefined) return undefined;
      const reader = openReader({
        snapshot,
        schema: known.schema,
        cache: undefined,
        fillsCache: false,
        delta: undefined,
        ts: snapshot.ts,
      });
      return await work(reader);
    } finally {
      snapshot.close();
      await this.#options.pause?.(this);
    }
  }

  async #checkRecords(namespace: number): Promise<void> {
    let after = 0;
    while (after >= 0) {
      const from = after;
      const next = await this.#slice(namespace, async (reader) => {
        const uids = await readNodes(reader, from, this.#sliceSize);
        this.nodes += uids.length;
        await this.#checkNodes(reader, new Float64Array(uids));
        return uids.length < this.#sliceSize ? -1 : (uids.at(-1) ?? -1);
      });
      after = next ?? -1;
    }
  }

  /** Records against lists. */
  async #checkNodes(reader: SnapshotReader, uids: Float64Array): Promise<void> {
    const expected = new Map<string, Expected>();
    for (const predicate of reader.schema.predicates) {
      const isEdge = predicate.definition.kind === "uid";
      const id = predicate.id;
      const columns = await reader.readLevel(uids, [
        isEdge ? { kind: "edges", predicate: id, facets: true } : { kind: "cells", predicate: id },
        { kind: "count", predicate: id },
      ]);
      expectEntries(expected, reader.schema, { predicate, uids, columns });
    }
    const wanted = [...expected.values()];
    const lists = new ListReader(reader.snapshot, undefined);
    for (const { prefix, what, members, facets } of wanted) {
      // A node comes once for each value with the token: its name in two languages, the items of a list.
      const sorted = sortUnique(new Float64Array(members));
      const found = await lists.intersect(prefix, sorted);
      if (found.length !== sorted.length) {
        const there = new Set(found);
        const missing = must(
          sorted.find((member) => !there.has(member)),
          "fewer were found",
        );
        this.#options.report(`${what} lacks node 0x${missing.toString(16)}`);
      } else if (facets !== undefined) {
        await this.#checkFacets(lists, { prefix, what, members, facets });
      }
    }
  }

  async #checkFacets(lists: ListReader, expected: Expected): Promise<void> {
    const [row] = await lists.readRows([expected.prefix], {}, true);
    row?.uids.forEach((uid, i) => {
      const wanted = expected.facets?.get(uid);
      if (wanted === undefined) return;
      if (!equalBytes(wanted, row.facets?.[i] ?? new Uint8Array(0))) {
        this.#options.report(`${expected.what} has other facets at node 0x${uid.toString(16)}`);
      }
    });
  }

  /** Lists against records. */
  async #checkLists(namespace: number): Promise<void> {
    const schema = await this.#slice(namespace, async (reader) => reader.schema);
    if (schema === undefined) return;
    for (const { id, definition, ...predicate } of schema.predicates) {
      const { name } = definition;
      const presence = presenceList(schema.storageId, id);
      await this.#walkLists(namespace, presence, { id, judge: judgePresence(name) });
      for (const index of predicate.indexes) {
        const under = indexPrefix(schema.storageId, keyKind.index, index.id);
        await this.#walkLists(namespace, under, { id, judge: judgeToken(name, index.id) });
      }
      if (predicate.reverseIndex !== undefined) {
        const under = indexPrefix(schema.storageId, keyKind.reverse, predicate.reverseIndex.id);
        await this.#walkLists(namespace, under, { id, judge: judgeReverse(name) });
      }
      if (predicate.countIndex !== undefined) {
        const under = indexPrefix(schema.storageId, keyKind.count, predicate.countIndex.id);
        await this.#walkLists(namespace, under, { id, judge: judgeCount(name) });
      }
      if (predicate.reverseCountIndex !== undefined && predicate.reverseIndex !== undefined) {
        const under = indexPrefix(schema.storageId, keyKind.count, predicate.reverseCountIndex.id);
        const judge = judgeReverseCount(name, predicate.reverseIndex.id);
        await this.#walkLists(namespace, under, { id, judge });
      }
    }
  }

  async #walkLists(
    namespace: number,
    under: Uint8Array,
    what: { readonly id: number; readonly judge: Judge },
  ): Promise<void> {
    const range = prefixRange(under);
    let start: Uint8Array | undefined = range.start;
    while (start !== undefined) {
      const from: Uint8Array = start;
      start = await this.#slice(namespace, async (reader) => {
        const predicate = reader.schema.predicateById(what.id);
        if (predicate === undefined) return undefined;
        const prefixes: Uint8Array[] = [];
        await reader.snapshot.scan({ start: from, end: range.end }, (key) => {
          if (readChunkNumber(key) === 0) prefixes.push(copyBytes(listPrefixOf(key)));
          return prefixes.length <= this.#sliceSize;
        });
        const last = prefixes.length > this.#sliceSize ? prefixes.pop() : undefined;
        this.lists += prefixes.length;
        for (const prefix of prefixes) await this.#checkList(reader, predicate, prefix, what.judge);
        return last;
      });
    }
  }

  async #checkList(
    reader: SnapshotReader,
    predicate: Predicate,
    prefix: Uint8Array,
    judge: Judge,
  ): Promise<void> {
    const blocks: Float64Array[] = [];
    await new ListReader(reader.snapshot, undefined).walk(prefix, {}, (uids) => {
      blocks.push(uids.slice());
      return true;
    });
    for (const uids of blocks) {
      const wrong = await judge(reader, predicate, { prefix, uids });
      if (wrong !== undefined) this.#options.report(wrong);
    }
  }
}

async function readNodes(
  reader: SnapshotReader,
  after: number,
  limit: number,
): Promise<readonly number[]> {
  const uids: number[] = [];
  const { storageId } = reader.schema;
  const { end } = kindRange(storageId, keyKind.record);
  await reader.snapshot.scan({ start: recordKey(storageId, after + 1), end }, (key) => {
    const { uid, firstPredicate } = readRecordKey(key);
    if (firstPredicate === 0) uids.push(uid);
    return uids.length < limit;
  });
  return uids;
}

interface ReadEntries {
  readonly predicate: Predicate;
  readonly uids: Float64Array;
  readonly columns: readonly Column[];
}

/** What the lists must hold because of these entries. Indexes that are being built may still lack it. */
function expectEntries(
  expected: Map<string, Expected>,
  schema: Schema,
  { predicate, uids, columns }: ReadEntries,
): void {
  const [column, counted] = columns;
  const { storageId } = schema;
  const { name } = predicate.definition;
  const request = (prefix: Uint8Array, member: number, what: string, facets?: Uint8Array): void => {
    const key = prefixText(prefix);
    let row = expected.get(key);
    if (row === undefined) {
      row = { prefix, what, members: [], facets: facets && new Map() };
      expected.set(key, row);
    }
    row.members.push(member);
    if (facets !== undefined) row.facets?.set(member, facets);
  };
  uids.forEach((uid, i) => {
    const count = counted?.kind === "count" ? (counted.counts[i] ?? 0) : 0;
    if (count === 0) return;
    request(presenceList(storageId, predicate.id), uid, `presence of ${name}`);
    if (isReady(predicate.countIndex)) {
      request(
        countList(storageId, predicate.countIndex.id, count),
        uid,
        `count ${count} of ${name}`,
      );
    }
    if (column?.kind === "cells") {
      for (const cell of column.cells[i] ?? []) {
        expectTokens(predicate, cell, (index, token) =>
          request(tokenList(storageId, index, token), uid, `an index of ${name}`),
        );
      }
    } else if (column?.kind === "edges" && isReady(predicate.reverseIndex)) {
      const { offsets, targets, facets } = column;
      const first = offsets[i] ?? 0;
      for (const [k, target] of targets.subarray(first, offsets[i + 1]).entries()) {
        const list = reverseList(storageId, predicate.reverseIndex.id, target);
        request(list, uid, `the reverse of ${name}`, encodeFacets(facets?.[first + k]));
      }
    }
  });
}

function expectTokens(
  predicate: Predicate,
  cell: Cell,
  request: (index: number, token: Uint8Array) => void,
): void {
  for (const index of predicate.indexes) {
    if (index.state !== "ready") continue;
    for (const token of storedTokens(predicate, index, cell)) request(index.id, token);
  }
}

function isReady<T extends { readonly state: IndexState }>(index: T | undefined): index is T {
  return index?.state === "ready";
}

/** A sentence when a block of a list holds what the records do not. */
type Judge = (
  reader: SnapshotReader,
  predicate: Predicate,
  list: { readonly prefix: Uint8Array; readonly uids: Float64Array },
) => Promise<string | undefined>;

function hex(uid: number | undefined): string {
  return `0x${must(uid, "the place was found").toString(16)}`;
}

function judgePresence(name: string): Judge {
  return async (reader, predicate, { uids }) => {
    const [column] = await reader.readLevel(uids, [{ kind: "count", predicate: predicate.id }]);
    const at = column.counts.indexOf(0);
    return at < 0 ? undefined : `presence of ${name} names node ${hex(uids[at])}, which has none`;
  };
}

function judgeToken(name: string, indexId: number): Judge {
  return async (reader, predicate, { prefix, uids }) => {
    const index = predicate.indexes.find(({ id }) => id === indexId);
    if (index === undefined) return undefined;
    const token = readToken(prefix);
    const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: predicate.id }]);
    const at = uids.findIndex(
      (_, i) =>
        !(column.cells[i] ?? []).some((cell) =>
          storedTokens(predicate, index, cell).some((own) => equalBytes(own, token)),
        ),
    );
    if (at < 0) return undefined;
    return `the ${index.tokenizer} index of ${name} names node ${hex(uids[at])}, whose values have not that token`;
  };
}

function judgeReverse(name: string): Judge {
  return async (reader, predicate, { prefix, uids }) => {
    const object = readReverseObject(prefix);
    // Of a node with many edges only those about the object are read.
    const bounds = { after: object - 1, limit: 1 };
    const request = { kind: "edges", predicate: predicate.id, facets: false, bounds } as const;
    const [column] = await reader.readLevel(uids, [request]);
    const { offsets, targets } = column;
    const at = uids.findIndex(
      (_, i) => offsets[i] === offsets[i + 1] || targets[offsets[i] ?? 0] !== object,
    );
    if (at < 0) return undefined;
    return `the reverse of ${name} has ${hex(uids[at])} → ${hex(object)}, which is no edge`;
  };
}

function judgeCount(name: string): Judge {
  return async (reader, predicate, { prefix, uids }) => {
    const count = readCountOf(prefix);
    const [column] = await reader.readLevel(uids, [{ kind: "count", predicate: predicate.id }]);
    const at = column.counts.findIndex((own) => own !== count);
    return at < 0
      ? undefined
      : `count ${count} of ${name} names node ${hex(uids[at])}, which has ${column.counts[at]}`;
  };
}

function judgeReverseCount(name: string, reverseIndex: number): Judge {
  return async (reader, _, { prefix, uids }) => {
    const count = readCountOf(prefix);
    const request = { kind: "reverseCount", index: reverseIndex } as const;
    const [column] = await reader.readLevel(uids, [request]);
    const at = column.counts.findIndex((own) => own !== count);
    return at < 0
      ? undefined
      : `count ${count} of ~${name} names node ${hex(uids[at])}, which has ${column.counts[at]}`;
  };
}
