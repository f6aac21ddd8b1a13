/**
 * The SDL in the database: one node per namespace, `dgraph.graphql.schema` on `dgraph.graphql.xid:
 * "dgraph.graphql.schema"` (reference/graphql 10.5), and what each process compiled from it. Whether the stored text is
 * still the compiled one is asked of the request's own snapshot: an update made by another process is seen by the first
 * snapshot that holds it, and a request is served by the schema that its snapshot has.
 */
import { TokenVerifier } from "../../auth/token.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { Engine, ManagedTransaction } from "../../engine/engine.ts";
import type { Reader } from "../../graph/reader.ts";
import { Fault } from "../../model/fault.ts";
import type { GetText } from "../../outgoing/request.ts";
import { countSchemaUpdates, schemaUpdatesKey } from "../../graph/reserved.ts";
import type { NodeRef, NQuad } from "../../model/nquad.ts";
import { Lru } from "../../base/lru.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { generatedSchemaText } from "../schema/generate-text.ts";
import { checkStoredValues } from "./stored-values.ts";
import { findRuleGaps, refuseRuleGaps } from "../schema/rule-gaps.ts";
import { findSchemaWarnings } from "../schema/warnings.ts";
import type { Int64Form } from "../schema/type-shell.ts";
import { readRemoteExpectations } from "../schema/remote-expectations.ts";
import type { Outgoing } from "../resolve/request-call.ts";
import { findRemoteProblems } from "./remote-check.ts";
import { compileSchema, schemaFault } from "./schema-compile.ts";
import { planSchema, refuseChanges, type SchemaPlan } from "./schema-plan.ts";
import type { ApplyOptions, Preflight, SchemaRow } from "./service.ts";
import { printSchemaText } from "../../graph/schema-text.ts";
import { storageSchema } from "../schema/storage-schema.ts";

const schemaPredicate = "dgraph.graphql.schema";
const xidPredicate = "dgraph.graphql.xid";
const nodeType = "dgraph.graphql";

/** The schema that a namespace serves, and the node that holds its text. */
interface ServedSchema {
  readonly uid: number;
  readonly schema: CompiledSchema;
}

/** What was found at a snapshot. `served` is undefined where no schema was ever set. */
interface Entry {
  readonly storageId: number;
  /** The newest commit at which it is known to hold. */
  ts: number;
  readonly served: ServedSchema | undefined;
}

/** Bytes of the schemas that are kept: one that went is compiled again when its namespace is asked next. */
const schemaBytesMax = 512 * 1024 * 1024;
/** What a character of an SDL becomes. */
const bytesPerCharacter = 200;

/** One is kept however large it is. */
function weighEntry({ served }: Entry): number {
  const bytes = 1024 + (served?.schema.sdl.length ?? 0) * bytesPerCharacter;
  return Math.min(bytes, schemaBytesMax / 2);
}

interface SchemaStoreOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Of key sets. */
  readonly getText: GetText;
  /** Of other GraphQL services. */
  readonly outgoing: Outgoing;
  /** Whether there is a server for `@lambda`; without one a new schema may not have it. */
  readonly hasLambda: boolean;
  readonly int64: Int64Form;
  /** Whether a new schema may leave operations of a type with rules to everybody. */
  readonly allowsRuleGaps: boolean;
  /** Whether a new schema may be one that stored values do not fit. */
  readonly allowsMisfits: boolean;
}

export class SchemaStore {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #getText: GetText;
  readonly #outgoing: Outgoing;
  readonly #hasLambda: boolean;
  readonly #int64: Int64Form;
  readonly #allowsRuleGaps: boolean;
  readonly #allowsMisfits: boolean;
  readonly #entries = new Lru<number, Entry>(schemaBytesMax, weighEntry);
  /** Updates of a namespace, one after another. */
  readonly #updates = new Map<number, Promise<unknown>>();

  constructor(options: SchemaStoreOptions) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#getText = options.getText;
    this.#outgoing = options.outgoing;
    this.#hasLambda = options.hasLambda;
    this.#int64 = options.int64;
    this.#allowsRuleGaps = options.allowsRuleGaps;
    this.#allowsMisfits = options.allowsMisfits;
  }

  /** How often the schema of a namespace has changed since it was first set, the same in every process; 0 without one. */
  async updateCount(namespace: number): Promise<number> {
    const reader = await this.#engine.openReader(namespace);
    try {
      return (await readText(reader, undefined))?.updates ?? 0;
    } finally {
      reader.close();
    }
  }

  /**
   * The schema of the reader's namespace at its snapshot; undefined where there is none. One number to compare while
   * nothing was committed, one cell to read otherwise. Throws E_GRAPHQL_SCHEMA where the stored text does
   * not compile (another release wrote it).
   */
  at(reader: Reader): MaybePromise<ServedSchema | undefined> {
    const entry = this.#entries.get(reader.schema.namespace);
    if (entry?.ts === reader.ts && entry.storageId === reader.schema.storageId) return entry.served;
    return this.#read(reader);
  }

  /** The newest schema of a namespace. */
  async newest(namespace: number): Promise<ServedSchema | undefined> {
    const reader = await this.#engine.openReader(namespace);
    try {
      return await this.at(reader);
    } finally {
      reader.close();
    }
  }

  allowedOrigins(namespace: number): MaybePromise<readonly string[]> {
    return andThen(this.#seen(namespace), (served) => served?.schema.meta.allowOrigins ?? []);
  }

  /** What a page may do and send, by the newest schema. */
  async preflight(namespace: number): Promise<Preflight> {
    const meta = (await this.newest(namespace))?.schema.meta;
    return { origins: meta?.allowOrigins ?? [], tokenHeader: meta?.authorization?.header };
  }

  /** The schema that was seen last; it is read only when none was seen yet. */
  #seen(namespace: number): MaybePromise<ServedSchema | undefined> {
    const entry = this.#entries.get(namespace);
    return entry === undefined ? this.newest(namespace) : entry.served;
  }

  /** getGQLSchema; undefined where no schema was ever set. */
  async row(namespace: number): Promise<SchemaRow | undefined> {
    const served = await this.newest(namespace);
    return served === undefined ? undefined : toRow(served);
  }

  #compileNew(sdl: string): CompiledSchema {
    const schema = compileSchema(sdl, this.#hasLambda, this.#int64);
    if (!this.#allowsRuleGaps) refuseRuleGaps(findRuleGaps(schema));
    return schema;
  }

  /** A schema whose key sets cannot be had would let nobody in. Throws E_GRAPHQL_SCHEMA. */
  async #tryKeySets({ meta }: CompiledSchema): Promise<void> {
    if (meta.authorization === undefined) return;
    await new TokenVerifier(meta.authorization, this.#clock, this.#getText).load();
  }

  /**
   * Replaces the schema of a namespace: checks it, alters the storage schema (waiting for its indexes), stores the
   * text. Data, and predicates that no field names any more, stay (reference/graphql 10.5). Throws as `compileSchema`,
   * and what the alter throws; the old schema is served on then.
   */
  update(namespace: number, sdl: string): Promise<SchemaRow> {
    return this.#inTurn(namespace, async () => {
      const schema = await this.#compileChecked(sdl);
      await this.#checkValues(namespace, schema);
      return this.#replace(namespace, schema, undefined);
    });
  }

  /** What an update would change. Throws as `compileSchema`. */
  async plan(namespace: number, sdl: string): Promise<SchemaPlan> {
    const schema = this.#compileNew(sdl);
    const reader = await this.#engine.openReader(namespace);
    try {
      const served = await this.at(reader);
      const updates = (await readText(reader, served?.uid))?.updates ?? 0;
      const changes = await planSchema(schema, served?.schema, reader);
      return { changes, updates, warnings: findSchemaWarnings(schema) };
    } finally {
      reader.close();
    }
  }

  /** As `update`, of a schema by which no stored node loses but those of the changes that `force` names. */
  apply(namespace: number, sdl: string, { force, updates }: ApplyOptions): Promise<SchemaRow> {
    return this.#inTurn(namespace, async () => {
      const schema = await this.#compileChecked(sdl);
      const plan = await this.plan(namespace, sdl);
      if (updates !== undefined && updates !== plan.updates) throw changedMeanwhile();
      refuseChanges(plan.changes, force);
      return this.#replace(namespace, schema, plan.updates);
    });
  }

  #inTurn(namespace: number, work: () => Promise<SchemaRow>): Promise<SchemaRow> {
    const earlier = this.#updates.get(namespace) ?? Promise.resolve();
    const update = earlier.then(work, work);
    this.#updates.set(namespace, update);
    const forget = (): void => {
      if (this.#updates.get(namespace) === update) this.#updates.delete(namespace);
    };
    update.then(forget, forget);
    return update;
  }

  /** Other services are asked here alone: a stored schema is served whatever they say later. */
  async #compileChecked(sdl: string): Promise<CompiledSchema> {
    const schema = this.#compileNew(sdl);
    const problems = await findRemoteProblems(readRemoteExpectations(schema), this.#outgoing);
    if (problems.length > 0) throw schemaFault(problems);
    await this.#tryKeySets(schema);
    return schema;
  }

  /** `expected`: how often the schema was set so far, if nobody else may have set it; undefined: all the same. */
  async #replace(
    namespace: number,
    schema: CompiledSchema,
    expected: number | undefined,
  ): Promise<SchemaRow> {
    const { sdl } = schema;
    const text = printSchemaText(storageSchema(schema));
    await this.#engine.alter({ kind: "schema", text, runInBackground: false }, namespace);
    const { value: uid } = await this.#engine.transact(namespace, (txn) =>
      writeText(txn, sdl, expected),
    );
    const served = await this.newest(namespace);
    // Another process may have replaced it again by now; this update's own schema is the answer all the same.
    return toRow(served?.schema.sdl === sdl ? served : { uid, schema });
  }

  /** Throws SchemaFault where the data could not be answered with. */
  async #checkValues(namespace: number, schema: CompiledSchema): Promise<void> {
    if (this.#allowsMisfits) return;
    const reader = await this.#engine.openReader(namespace);
    try {
      const served = await this.at(reader);
      await checkStoredValues(schema, served?.schema, reader);
    } finally {
      reader.close();
    }
  }

  /** At once over an embedded store, so that of the requests of one snapshot only the first one reads. */
  #read(reader: Reader): MaybePromise<ServedSchema | undefined> {
    const { namespace, storageId } = reader.schema;
    const known = this.#entries.get(namespace);
    const hint = known?.storageId === storageId ? known.served?.uid : undefined;
    return andThen(readText(reader, hint), (stored) => this.#take(reader, stored));
  }

  #take(reader: Reader, row: StoredText | undefined): ServedSchema | undefined {
    const { namespace, storageId } = reader.schema;
    // An empty text is what drop_all leaves: no schema.
    const stored = row?.text === "" ? undefined : row;
    // Looked up again: another request may have brought it up to date meanwhile.
    const entry = this.#entries.get(namespace);
    if (
      entry !== undefined &&
      entry.storageId === storageId &&
      entry.served?.uid === stored?.uid &&
      entry.served?.schema.sdl === stored?.text
    ) {
      entry.ts = Math.max(entry.ts, reader.ts);
      return entry.served;
    }
    const served =
      stored === undefined
        ? undefined
        : { uid: stored.uid, schema: compileSchema(stored.text, true, this.#int64) };
    if (entry === undefined || entry.ts <= reader.ts) {
      this.#entries.set(namespace, { storageId, ts: reader.ts, served });
    }
    return served;
  }
}

function toRow({ uid, schema }: ServedSchema): SchemaRow {
  return {
    uid,
    schema: schema.sdl,
    generatedSchema: generatedSchemaText(schema),
    warnings: findSchemaWarnings(schema),
  };
}

interface StoredText {
  readonly uid: number;
  readonly text: string;
  readonly updates: number;
}

/** The stored text with its node; `hint` is the node that held it last. */
function readText(reader: Reader, hint: number | undefined): MaybePromise<StoredText | undefined> {
  if (hint === undefined) return findText(reader, hint);
  return andThen(readCell(reader, hint), (stored) => stored ?? findText(reader, hint));
}

function findText(reader: Reader, hint: number | undefined): MaybePromise<StoredText | undefined> {
  return andThen(findNode(reader), (uid) =>
    uid === undefined || uid === hint ? undefined : readCell(reader, uid),
  );
}

function readCell(reader: Reader, uid: number): MaybePromise<StoredText | undefined> {
  const predicate = reader.schema.predicate(schemaPredicate);
  if (predicate === undefined) return undefined;
  const request = { kind: "cells", predicate: predicate.id } as const;
  return andThen(reader.readLevel(Float64Array.of(uid), [request]), ([column]) => {
    const cell = column.cells[0]?.[0];
    return cell && { uid, text: cell.text, updates: countSchemaUpdates(cell.facets) };
  });
}

/** The namespace has at most one node with the xid. */
function findNode(reader: Reader): MaybePromise<number | undefined> {
  const predicate = reader.schema.predicate(xidPredicate);
  if (predicate === undefined) return undefined;
  return andThen(
    reader.readLists([{ kind: "presence", predicate: predicate.id }]),
    ([uids]) => uids[0],
  );
}

function changedMeanwhile(): Fault {
  return new Fault("E_GRAPHQL_SCHEMA", "the schema was changed meanwhile: plan it again");
}

async function writeText(
  txn: ManagedTransaction,
  sdl: string,
  expected: number | undefined,
): Promise<number> {
  const known = await findNode(txn.reader);
  const stored = known === undefined ? undefined : await readCell(txn.reader, known);
  if (expected !== undefined && expected !== (stored?.updates ?? 0)) throw changedMeanwhile();
  const updates = (stored?.updates ?? 0) + (stored?.text === sdl ? 0 : 1);
  const subject: NodeRef =
    known === undefined ? { kind: "blank", label: "schema" } : { kind: "uid", uid: known };
  const fact = (predicate: string, text: string): NQuad => ({
    subject,
    predicate,
    language: "",
    object: { kind: "value", value: { kind: "string", text } },
    facets: undefined,
  });
  const uids = await txn.apply({
    set: [
      fact("dgraph.type", nodeType),
      fact(xidPredicate, schemaPredicate),
      {
        ...fact(schemaPredicate, sdl),
        facets: [{ key: schemaUpdatesKey, value: { kind: "int", int: updates } }],
      },
    ],
    delete: [],
  });
  const uid = known ?? uids.get("schema");
  assert(uid !== undefined, "a new node has a uid");
  return uid;
}
