/** The modules below the engine over a memory store, for tests: schema, facts, and reads by name. */
import { makeRunner } from "../../src/engine/run.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { ChangeSender } from "../../src/engine/commits.ts";
import { ManagedTransactions } from "../../src/engine/managed-transactions.ts";
import { NamespaceQuotas } from "../../src/engine/namespace-quotas.ts";
import { makeSystemRows } from "../../src/engine/system-rows.ts";
import { SchemaChanges } from "../../src/engine/schema-changes.ts";
import { ReaderFactory } from "../../src/engine/reader-factory.ts";
import type { Reader } from "../../src/graph/reader.ts";
import type { Predicate } from "../../src/graph/schema.ts";
import { parseNQuads } from "../../src/intake/nquad-parser.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import type { Value } from "../../src/model/value.ts";
import type { Store } from "../../src/store/store.ts";
import { openMemoryStore } from "../../src/stores/open.ts";
import { tokensOf } from "../../src/tokens/tokenizers.ts";
import { deriveFill } from "../../src/write/fill.ts";

export interface EngineContext {
  readonly store: Store;
  readonly readers: ReaderFactory;
  readonly schemas: SchemaChanges;
  readonly managed: ManagedTransactions;
  alter(schema: string): Promise<void>;
  /** N-Quads; returns label → uid. */
  write(set: string, deletes?: string): Promise<ReadonlyMap<string, number>>;
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
}

export async function openEngineContext(schema = "", store?: Store): Promise<EngineContext> {
  const used = store ?? openMemoryStore({ derive: deriveFill });
  const reserved = { acl: false };
  const { slot, floorTs } = await used.claimSlot();
  const committer = new ChangeSender({
    store: used,
    clock: systemClock,
    random: makeSeededRandom(1),
    slot,
    floorTs,
  });
  const readers = new ReaderFactory({
    store: used,
    clock: systemClock,
    reserved,
    cacheBytes: 1 << 20,
    undoBytes: 1 << 24,
  });
  const schemas = new SchemaChanges({ readers, committer, reserved, logger: silentLogger });
  await schemas.ensureNamespace(0);
  const quotas = await NamespaceQuotas.open(makeSystemRows(used, committer), used);
  const managed = new ManagedTransactions({
    quotas,
    clock: systemClock,
    limits: defaultLimits,
    runner: makeRunner(systemClock, defaultLimits),
    readers,
    committer,
    schemas,
    mode: "allow",
    acl: false,
  });
  const context: EngineContext = {
    store: used,
    readers,
    schemas,
    managed,
    alter: (text) => schemas.alter({ kind: "schema", text, runInBackground: false }, 0),
    async write(set, deletes = "") {
      const facts = { set: parseNQuads(set), delete: parseNQuads(deletes, "delete") };
      const done = await managed.transact(0, (txn) => txn.apply(facts));
      return done.value;
    },
    async read(work) {
      const { reader } = await readers.openNewest(0);
      try {
        return await work(reader);
      } finally {
        reader.close();
      }
    },
  };
  if (schema !== "") await context.alter(schema);
  return context;
}

export function getPredicate(reader: Reader, name: string): Predicate {
  const predicate = reader.schema.predicate(name);
  if (predicate === undefined) throw new Error(`no predicate ${name}`);
  return predicate;
}

/** Texts of a node's values, tagged ones as `text@tag`. */
export async function readValues(reader: Reader, uid: number, name: string): Promise<string[]> {
  const predicate = getPredicate(reader, name).id;
  const [column] = await reader.readLevel(Float64Array.of(uid), [{ kind: "cells", predicate }]);
  if (column?.kind !== "cells") throw new Error("cells");
  return (column.cells[0] ?? []).map((cell) =>
    cell.language === "" ? cell.text : `${cell.text}@${cell.language}`,
  );
}

export async function readEdges(reader: Reader, uid: number, name: string): Promise<number[]> {
  const predicate = getPredicate(reader, name).id;
  const request = { kind: "edges", predicate, facets: false } as const;
  const [column] = await reader.readLevel(Float64Array.of(uid), [request]);
  if (column?.kind !== "edges") throw new Error("edges");
  return [...column.targets];
}

export async function readReverse(reader: Reader, uid: number, name: string): Promise<number[]> {
  const index = getPredicate(reader, name).reverseIndex!.id;
  const [found] = await reader.readLists([{ kind: "reverse", index, object: uid }]);
  return [...found];
}

export async function readPresence(reader: Reader, name: string): Promise<number[]> {
  const predicate = getPredicate(reader, name).id;
  const [found] = await reader.readLists([{ kind: "presence", predicate }]);
  return [...found];
}

export async function readCounted(reader: Reader, name: string, count: number): Promise<number[]> {
  const index = getPredicate(reader, name).countIndex!.id;
  const [found] = await reader.readLists([{ kind: "count", index, count }]);
  return [...found];
}

/** Nodes under the value's first token. */
export async function findByToken(
  reader: Reader,
  search: { readonly name: string; readonly tokenizer: string; readonly value: Value },
): Promise<number[]> {
  const { indexes } = getPredicate(reader, search.name);
  const index = indexes.find(({ tokenizer }) => tokenizer === search.tokenizer)!;
  const [token] = tokensOf(search.tokenizer, search.value, "");
  const [found] = await reader.readLists([{ kind: "token", index: index.id, token: token! }]);
  return [...found];
}
