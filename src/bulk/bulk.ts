/**
 * An offline load into a new store, in three phases: the input is read and its facts go to buckets by their nodes; each
 * bucket becomes records, and what it has in indexes, sorted by lists; the buckets' lists are merged. Rows come in the
 * order of their keys, so that pages become full and none is written twice. What does not fit into memory lies in files
 * beside the new store.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { keyKind } from "../codec/key.ts";
import type { InputFile } from "../load/input-files.ts";
import { explainLengths } from "../graph/vector-metric.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import { decodeSchemaState, makeSchema } from "../graph/schema-state.ts";
import { openBulkStore, type BulkStore } from "../stores/bulk-store.ts";
import type { UserKey } from "../stores/encryption.ts";
import { FactSpill } from "./fact-spill.ts";
import { readPieces } from "./input.ts";
import type { BucketResult } from "./bucket-rows.ts";
import type { DoubleKey, ListResult } from "./list-rows.ts";
import { openJobPool, type JobPool } from "./pool.ts";
import type { ParsedChunk } from "./parsed-chunk.ts";
import { readStoredRows, type Section } from "./section-file.ts";
import { InOrder } from "./in-order.ts";
import { UnknownFacts } from "./unknown-facts.ts";

interface BulkOptions {
  readonly files: readonly InputFile[];
  /** Where the new store is made (`prepareBulk`), with its schema in it. */
  readonly aside: string;
  /** The key of the new store; undefined: it is not encrypted. */
  readonly encryption: UserKey | undefined;
  /** The schema's row. */
  readonly schema: Uint8Array;
  /** Adds predicates that the input brought up; gives the schema's new row. */
  readonly addPredicates: (definitions: readonly PredicateDefinition[]) => Promise<Uint8Array>;
  /** Predicates whose values no two nodes may share, beside those that say so themselves. */
  readonly keys: readonly string[];
  readonly newUids: boolean;
  /** Of this process, nearly. */
  readonly memoryBytes: number;
  /** 0: all is done by the caller's thread. */
  readonly threads: number;
  readonly onProgress: (progress: BulkProgress) => void;
}

export interface BulkProgress {
  readonly phase: "reading" | "records" | "indexes";
  /** From 0 to 1. */
  readonly share: number;
  /** Facts that went through this phase; of the indexes parts that are made. */
  readonly count: number;
}

interface Loaded {
  /** What is stored: a fact that was there twice counts once. */
  readonly facts: number;
  readonly maxUid: number;
}

/** Fault E_STARTUP with file and line for a fact that is refused, and for values of keys that several nodes have. */
export async function loadBulk(options: BulkOptions): Promise<Loaded> {
  const folder = join(options.aside, "parts");
  mkdirSync(folder, { mode: 0o700 });
  const load = new BulkLoad(options, folder);
  try {
    return await load.run();
  } finally {
    await load.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Shares of the memory: what facts may take before they are written, and the heap of a thread. */
const spillShare = 0.25;
const threadShare = 0.3;
const pieceBytes = 4 * 1024 * 1024;

class BulkLoad {
  readonly #options: BulkOptions;
  readonly #folder: string;
  /** By which files are sealed that are only on the way: nobody keeps it. */
  readonly #spillKey: Uint8Array | undefined;
  readonly #facts: FactSpill;
  readonly #vectorLengths = new Map<number, number>();
  readonly #unknown: UnknownFacts;
  #schema: Uint8Array;
  #pool: JobPool;
  #parts = 0;
  readonly #doubles: DoubleKey[] = [];
  #doubleCount = 0;

  constructor(options: BulkOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    this.#schema = options.schema;
    this.#spillKey = options.encryption === undefined ? undefined : randomBytes(32);
    this.#facts = new FactSpill(folder, options.memoryBytes * spillShare, this.#spillKey);
    this.#unknown = new UnknownFacts(join(folder, "unknown.rdf"), this.#spillKey);
    this.#pool = this.#openPool();
  }

  #openPool(): JobPool {
    const { threads, newUids, memoryBytes } = this.#options;
    const plan = { schema: this.#schema, newUids };
    return openJobPool(plan, threads, (memoryBytes * threadShare) / Math.max(1, threads));
  }

  async close(): Promise<void> {
    await this.#pool.close();
    this.#facts.close();
  }

  async run(): Promise<Loaded> {
    await this.#read();
    const store = openBulkStore(this.#options.aside, this.#options.encryption);
    let isWhole = false;
    try {
      store.clear(decodeSchemaState(this.#schema).storageId);
      const { facts, sections, entries } = await this.#makeRecords(store);
      await this.#makeLists(store, sections, entries);
      isWhole = true;
      return { facts, maxUid: this.#facts.maxUid };
    } finally {
      await store.finish(isWhole ? this.#facts.maxUid + 1 : 1);
    }
  }

  async #read(): Promise<void> {
    const { files, onProgress } = this.#options;
    const total = Math.max(
      1,
      files.reduce((sum, { size }) => sum + size, 0),
    );
    let read = 0;
    const chunks = this.#inOrder((chunk: ParsedChunk) => {
      this.#take(chunk);
      onProgress({ phase: "reading", share: read / total, count: this.#facts.factCount });
    });
    for await (const piece of readPieces(files, (bytes) => (read = bytes))) {
      const { kind } = piece;
      await chunks.add(
        kind === "lines" ? this.#pool.run(kind, piece.job) : this.#pool.run(kind, piece.job),
      );
    }
    await chunks.end();
    if (!this.#unknown.isEmpty) await this.#readUnknown();
    onProgress({ phase: "reading", share: 1, count: this.#facts.factCount });
  }

  /** Facts of predicates that came up with the input. */
  async #readUnknown(): Promise<void> {
    const schema = makeSchema(decodeSchemaState(this.#schema), { acl: true });
    this.#schema = await this.#options.addPredicates(this.#unknown.infer(schema));
    await this.#pool.close();
    this.#pool = this.#openPool();
    const lines = this.#unknown.read();
    const chunks = this.#inOrder((chunk: ParsedChunk) => this.#take(chunk));
    for (let from = 0; from < lines.length;) {
      const end = lines.indexOf(0x0a, Math.min(lines.length - 1, from + 1024 * 1024)) + 1;
      const bytes = lines.slice(from, end === 0 ? lines.length : end);
      from += bytes.length;
      const file = "facts of predicates that are in no schema";
      await chunks.add(this.#pool.run("lines", { bytes: new Uint8Array(bytes), file, line: 1 }));
    }
    await chunks.end();
  }

  #take(chunk: ParsedChunk): void {
    this.#facts.add(chunk);
    this.#unknown.add(chunk.unknown);
    for (const [predicate, length] of chunk.vectorLengths) {
      const known = this.#vectorLengths.get(predicate) ?? length;
      this.#vectorLengths.set(predicate, known);
      if (known !== length) throw new Fault("E_STARTUP", explainLengths("euclidean"));
    }
  }

  #inOrder<Result>(take: (result: Result) => void): InOrder<Result> {
    return new InOrder(this.#options.threads + 1, take);
  }

  async #makeRecords(
    store: BulkStore,
  ): Promise<{ facts: number; sections: Section[]; entries: Section[] }> {
    const { onProgress } = this.#options;
    const count = this.#facts.bucketCount;
    const sections: Section[] = [];
    const entries: Section[] = [];
    let facts = 0;
    let done = 0;
    const { labelOffset } = this.#facts;
    const buckets = this.#inOrder((result: BucketResult) => {
      for (const section of result.rows) {
        if (section.kind === keyKind.record) putSection(store, section);
        else sections.push(section);
      }
      entries.push(...result.entries);
      facts += result.facts;
      onProgress({ phase: "records", share: ++done / count, count: facts });
    });
    for (const bucket of this.#facts.buckets()) {
      const job = { ...bucket, labelOffset, path: this.#nextPath(), key: this.#spillKey };
      await buckets.add(this.#pool.run("bucket", job));
    }
    await buckets.end();
    return { facts, sections, entries };
  }

  /** In the order of the keys: rows of nodes that lie apart, then the lists, then heads. */
  async #makeLists(store: BulkStore, sections: Section[], entries: Section[]): Promise<void> {
    for (const section of bySection(sections).flat()) putSection(store, section);
    const heads: Section[] = [];
    const counts = entries.filter(({ kind }) => kind === keyKind.count);
    const others = bySection(entries.filter(({ kind }) => kind !== keyKind.count));
    const total = others.length + 1;
    let done = 0;
    const report = (): void => {
      this.#options.onProgress({ phase: "indexes", share: ++done / total, count: done });
    };
    counts.push(...(await this.#mergeLists(store, others, heads, report)));
    await this.#mergeLists(store, bySection(counts), heads, () => {});
    for (const section of heads) putSection(store, section);
    report();
    this.#refuseDoubles();
  }

  /** Gives the entries that follow from what was merged. */
  async #mergeLists(
    store: BulkStore,
    groups: readonly (readonly Section[])[],
    heads: Section[],
    report: () => void,
  ): Promise<Section[]> {
    const found: Section[] = [];
    const merged = this.#inOrder((result: ListResult) => {
      for (const section of result.rows) {
        if (section.kind === keyKind.head) heads.push(section);
        else putSection(store, section);
      }
      found.push(...result.entries);
      this.#doubles.push(...result.doubles);
      this.#doubleCount += result.doubleCount;
      report();
    });
    const { keys } = this.#options;
    for (const runs of groups) {
      await merged.add(
        this.#pool.run("lists", { runs, keys, path: this.#nextPath(), key: this.#spillKey }),
      );
    }
    await merged.end();
    return found;
  }

  /** One value of a key twice would be two nodes of which nobody could tell which is meant. */
  #refuseDoubles(): void {
    if (this.#doubleCount === 0) return;
    const shown = this.#doubles.slice(0, 5).map(({ predicate, uids }) => {
      return `${predicate} of ${uids.map((uid) => `0x${uid.toString(16)}`).join(" and ")}`;
    });
    throw new Fault(
      "E_STARTUP",
      `${this.#doubleCount} values of keys are on several nodes: ${shown.join("; ")}. ` +
        "Give such nodes one name in the input, or load with weft live, which links them",
    );
  }

  #nextPath(): string {
    return join(this.#folder, `part${++this.#parts}`);
  }
}

/** By kind and id, ascending; those of one in their order. */
function bySection(sections: readonly Section[]): Section[][] {
  const groups = new Map<string, [Section, ...Section[]]>();
  for (const section of sections) {
    const name = `${section.kind}/${section.id}`;
    const known = groups.get(name);
    if (known === undefined) groups.set(name, [section]);
    else known.push(section);
  }
  return [...groups.values()].sort(([a], [b]) => a.kind - b.kind || a.id - b.id);
}

function putSection(store: BulkStore, section: Section): void {
  for (const rows of readStoredRows(section, pieceBytes)) {
    store.put((put) => {
      for (const [key, stored] of rows) put(key, stored);
    });
  }
}
