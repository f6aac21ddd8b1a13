/** Where schemas lie in the store, and the process's cache of them: a snapshot costs one look at the small row. */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { encodeUtf8, decodeUtf8, startsWithBytes } from "../base/bytes.ts";
import { globalStorageId, metaKey, prefixRange, readMetaName } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import type { MetaPatch, Patch, Snapshot } from "../store/store.ts";
import type { ReservedOptions } from "./reserved.ts";
import type { Schema } from "./schema.ts";
import {
  decodeSchemaHead,
  decodeSchemaState,
  encodeSchemaHead,
  encodeSchemaState,
  makeSchema,
} from "./schema-state.ts";
import type { SchemaHead, SchemaState } from "./schema-state.ts";
import { copyBytes } from "./record.ts";

function headKey(namespace: number): Uint8Array {
  return metaKey(globalStorageId, `schema/${namespace}/head`);
}

function stateKey(namespace: number): Uint8Array {
  return metaKey(globalStorageId, `schema/${namespace}/state`);
}

/** A namespace's schema with the state it was made of. */
export interface KnownSchema {
  readonly schema: Schema;
  readonly state: SchemaState;
  /** The small row as stored: what a change expects to find. */
  readonly headBytes: Uint8Array;
}

/** The small row alone; undefined: there is no such namespace. */
export function readSchemaHead(
  snapshot: Snapshot,
  namespace: number,
): MaybePromise<SchemaHead | undefined> {
  let head: SchemaHead | undefined;
  const read = snapshot.readMany([headKey(namespace)], (_, row) => {
    if (row !== undefined) head = decodeSchemaHead(row);
  });
  return andThen(read, () => head);
}

export class SchemaCache {
  readonly #options: ReservedOptions;
  readonly #known = new Map<number, KnownSchema>();
  /** Namespace → what its row said at the commit that was asked for last: only a commit changes it. */
  readonly #seen = new Map<number, { readonly ts: number; readonly known: KnownSchema }>();

  constructor(options: ReservedOptions) {
    this.#options = options;
  }

  /** The schema as of the snapshot; undefined: there is no such namespace. */
  read(snapshot: Snapshot, namespace: number): MaybePromise<KnownSchema | undefined> {
    const seen = this.#seen.get(namespace);
    if (seen?.ts === snapshot.ts) return seen.known;
    return andThen(this.#readHead(snapshot, namespace), (known) => {
      if (known !== undefined) this.#seen.set(namespace, { ts: snapshot.ts, known });
      return known;
    });
  }

  #readHead(snapshot: Snapshot, namespace: number): MaybePromise<KnownSchema | undefined> {
    let head: SchemaHead | undefined;
    let bytes: Uint8Array | undefined;
    const read = snapshot.readMany([headKey(namespace)], (_, row) => {
      if (row === undefined) return;
      head = decodeSchemaHead(row);
      bytes = copyBytes(row);
    });
    return andThen(read, () => {
      if (head === undefined || bytes === undefined) return undefined;
      const known = this.#known.get(namespace);
      if (known !== undefined && isSameHead(known.schema, head)) return known;
      return this.#load(snapshot, namespace, bytes);
    });
  }

  #load(snapshot: Snapshot, namespace: number, headBytes: Uint8Array): MaybePromise<KnownSchema> {
    let state: SchemaState | undefined;
    const read = snapshot.readMany([stateKey(namespace)], (_, row) => {
      if (row !== undefined) state = decodeSchemaState(row);
    });
    return andThen(read, () => {
      if (state === undefined) throw new Fault("E_STORE_CORRUPT", "a schema row is missing");
      const known = { schema: makeSchema(state, this.#options), state, headBytes };
      const cached = this.#known.get(namespace);
      if (cached === undefined || cached.schema.version < state.version) {
        this.#known.set(namespace, known);
      }
      return known;
    });
  }
}

function isSameHead(schema: Schema, head: SchemaHead): boolean {
  return (
    schema.version === head.version &&
    schema.fence === head.fence &&
    schema.storageId === head.storageId
  );
}

/** The rows of a new state. Refused as "schema" when the namespace is not what it was derived from. */
export function schemaPatches(
  state: SchemaState,
  before: KnownSchema | undefined,
): readonly MetaPatch[] {
  return [
    {
      kind: "meta",
      key: headKey(state.namespace),
      value: encodeSchemaHead(state),
      expected: before?.headBytes,
    },
    {
      kind: "meta",
      key: stateKey(state.namespace),
      value: encodeSchemaState(state),
      expected: "any",
    },
  ];
}

/** Removes a namespace's rows. */
export function dropSchemaPatches(known: KnownSchema): readonly MetaPatch[] {
  const { namespace } = known.state;
  return [
    { kind: "meta", key: headKey(namespace), value: undefined, expected: known.headBytes },
    { kind: "meta", key: stateKey(namespace), value: undefined, expected: "any" },
  ];
}

/** Namespaces that exist, ascending. */
export function readNamespaces(snapshot: Snapshot): MaybePromise<readonly number[]> {
  const namespaces: number[] = [];
  const range = prefixRange(metaKey(globalStorageId, "schema/"));
  const read = snapshot.scan(range, (key) => {
    const [, namespace, row] = readMetaName(key).split("/");
    if (row === "head") namespaces.push(Number(namespace));
    return true;
  });
  return andThen(read, () => namespaces.sort((a, b) => a - b));
}

/** Whether rows of a storage id are those of a namespace: others are being swept, or come with a restore. */
export function isNamedStorage(snapshot: Snapshot, storageId: number): MaybePromise<boolean> {
  let isNamed = storageId === globalStorageId;
  const range = prefixRange(metaKey(globalStorageId, "schema/"));
  const read = snapshot.scan(range, (key, bytes) => {
    const isHead = readMetaName(key).endsWith("/head");
    if (isHead && decodeSchemaHead(bytes).storageId === storageId) isNamed = true;
    return !isNamed;
  });
  return andThen(read, () => isNamed);
}

const countersKey = metaKey(globalStorageId, "namespaces");

/** What is given out once and never again. */
interface NamespaceCounters {
  readonly nextStorageId: number;
  readonly nextNamespace: number;
}

interface KnownCounters {
  readonly counters: NamespaceCounters;
  readonly bytes: Uint8Array | undefined;
}

export function readCounters(snapshot: Snapshot): MaybePromise<KnownCounters> {
  let bytes: Uint8Array | undefined;
  const read = snapshot.readMany([countersKey], (_, row) => {
    if (row !== undefined) bytes = copyBytes(row);
  });
  return andThen(read, (): KnownCounters => {
    const counters =
      bytes === undefined
        ? { nextStorageId: globalStorageId + 1, nextNamespace: 0 }
        : (JSON.parse(decodeUtf8(bytes)) as NamespaceCounters);
    return { counters, bytes };
  });
}

export function countersPatch(next: NamespaceCounters, before: KnownCounters): MetaPatch {
  return {
    kind: "meta",
    key: countersKey,
    value: encodeUtf8(JSON.stringify(next)),
    expected: before.bytes,
  };
}

/** What a drop left to be swept. `id` is a predicate or index id, 0 for a whole storage id. */
interface RetiredRow {
  readonly kind: "storage" | "predicate" | "index";
  readonly storageId: number;
  readonly id: number;
}

const retiredPrefix = "retired/";
const retiredPrefixKey = metaKey(globalStorageId, retiredPrefix);

function retiredKey(row: RetiredRow): Uint8Array {
  return metaKey(globalStorageId, `${retiredPrefix}${row.kind}/${row.storageId}/${row.id}`);
}

/** Whether a patch forgets what was swept. */
export function isSwept(patch: Patch): boolean {
  return (
    patch.kind === "meta" &&
    patch.value === undefined &&
    startsWithBytes(patch.key, retiredPrefixKey)
  );
}

export function retiredPatch(row: RetiredRow, gone = false): MetaPatch {
  return {
    kind: "meta",
    key: retiredKey(row),
    value: gone ? undefined : Uint8Array.of(1),
    expected: "any",
  };
}

export function readRetired(snapshot: Snapshot): MaybePromise<readonly RetiredRow[]> {
  const rows: RetiredRow[] = [];
  const range = prefixRange(retiredPrefixKey);
  const read = snapshot.scan(range, (key) => {
    const [, kind, storageId, id] = readMetaName(key).split("/");
    rows.push({
      kind: kind as RetiredRow["kind"],
      storageId: Number(storageId),
      id: Number(id),
    });
    return true;
  });
  return andThen(read, () => rows);
}
