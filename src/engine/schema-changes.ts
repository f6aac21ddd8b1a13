/**
 * Changes of a schema as commits: alter, drops, predicates that a mutation brings up, index builds (reference/dql 1.6,
 * 2.10).
 */
import { must } from "../base/assert.ts";
import { isVectorIndex } from "../model/definition.ts";
import type { IndexSpec, PredicateDefinition, SchemaText } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Principal } from "../model/principal.ts";
import type { Logger } from "../base/log.ts";
import type { ReservedOptions } from "../graph/reserved.ts";
import {
  addInferred,
  dropPredicate,
  dropType,
  findBuilds,
  isBuilding,
  listStale,
  planAlter,
  renewIndexes,
} from "../graph/schema-diff.ts";
import type { IndexBuild, SchemaChange } from "../graph/schema-diff.ts";
import {
  countersPatch,
  dropSchemaPatches,
  readCounters,
  readNamespaces,
  retiredPatch,
  schemaPatches,
} from "../graph/schema-rows.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import { openReader } from "../graph/open-reader.ts";
import type { Cell } from "../graph/reader.ts";
import { countSchemaUpdates, schemaUpdatesKey } from "../graph/reserved.ts";
import { emptySchemaState, makeSchema } from "../graph/schema-state.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import { parseSchemaText } from "../graph/schema-parse.ts";
import type { Patch, Store } from "../store/store.ts";
import { derivePatches } from "../write/apply.ts";
import type { Edit } from "../write/edit.ts";
import type { ChangeSender } from "./commits.ts";
import { clearLostRestore } from "./restore-hold.ts";
import type { AlterOperation } from "./engine.ts";
import { fixedDuty, type Duty } from "./duty.ts";
import { InferredPredicates } from "./inferred-predicates.ts";
import { IndexBuilds } from "./index-builds.ts";
import { findNewVectorIndexes, StoredLengths } from "./stored-lengths.ts";
import type { NewVectorIndex } from "./stored-lengths.ts";
import { checkAlter, describeAlter } from "./authorize.ts";
import { RetiredSweeps } from "./retired-sweeps.ts";
import { newRightsMark } from "./rights-row.ts";
import type { View, ReaderFactory } from "./reader-factory.ts";

interface SchemaChangesOptions {
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly reserved: ReservedOptions;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Whether this process builds indexes, also those that others ask for. One per store; true unless said. */
  readonly duty?: Duty;
  /** What a build gathers in memory at a time. */
  readonly buildBytes?: number;
}

/** How long a change of the schema waits for builds under way, as the reference does. */
const indexingWaitMs = 1000;
/** The schema is looked at so often at most while a build is waited for. */
const lookMs = 5;
/** And so often at least. */
const idleLookMs = 500;
const graphqlSchemaType = "dgraph.graphql";
/** After so long it is looked whether whoever restored is gone. */
const lostLookMs = 15_000;

export class SchemaChanges {
  /** Does every drop of everything, or of all data. */
  aroundDrop: (namespace: number, drop: () => Promise<void>) => Promise<void> = (_, drop) => drop();
  readonly #options: SchemaChangesOptions;
  readonly #clock: Clock;
  readonly #builds: IndexBuilds;
  readonly #sweeps: RetiredSweeps;
  readonly #inferred = new InferredPredicates((namespace, definitions) =>
    this.#apply(namespace, (known) => addInferred(known.state, definitions)),
  );
  #tending: Promise<void> | undefined = undefined;
  #lostLook: ReturnType<typeof setTimeout> | undefined = undefined;
  #isClosed = false;

  constructor(options: SchemaChangesOptions) {
    this.#options = options;
    const { readers, committer, logger, buildBytes, duty = fixedDuty(true) } = options;
    this.#clock = options.clock ?? systemClock;
    this.#sweeps = new RetiredSweeps({ readers, committer, logger });
    const shared = { readers, committer, logger, duty, clock: this.#clock };
    this.#builds = new IndexBuilds(
      buildBytes === undefined ? shared : { ...shared, roundBytes: buildBytes },
    );
  }

  /** Makes sure that a namespace's rows are there; for namespace 0 at the start. */
  async ensureNamespace(namespace: number): Promise<void> {
    await this.#makeNamespace(() => namespace);
  }

  /** The lowest number that was never a namespace. Whoever makes one at the same time gets another. */
  async createNamespace(): Promise<number> {
    return await this.#makeNamespace((nextNamespace) => nextNamespace);
  }

  /** `choose`: of the number that comes next, asked anew in each attempt. Nothing is done for one that is there. */
  async #makeNamespace(choose: (nextNamespace: number) => number): Promise<number> {
    const { readers, committer } = this.#options;
    return await committer.retry(async () => {
      const snapshot = await readers.store.snapshot();
      try {
        const counters = await readCounters(snapshot);
        const { nextStorageId, nextNamespace } = counters.counters;
        const namespace = choose(nextNamespace);
        if ((await readNamespaces(snapshot)).includes(namespace)) return namespace;
        const state = emptySchemaState(namespace, nextStorageId);
        const next = {
          nextStorageId: nextStorageId + 1,
          nextNamespace: Math.max(nextNamespace, namespace + 1),
        };
        await committer.commitRows(snapshot, state, [
          ...schemaPatches(state, undefined),
          countersPatch(next, counters),
        ]);
        return namespace;
      } finally {
        snapshot.close();
      }
    });
  }

  /** The first of `count` numbers that no namespace gets by itself. */
  async leaseNamespaces(count: number): Promise<number> {
    const { readers, committer } = this.#options;
    return await committer.retry(async () => {
      const snapshot = await readers.store.snapshot();
      try {
        const counters = await readCounters(snapshot);
        const { nextStorageId, nextNamespace } = counters.counters;
        const next = { nextStorageId, nextNamespace: nextNamespace + count };
        await committer.commitRows(snapshot, undefined, [countersPatch(next, counters)]);
        return nextNamespace;
      } finally {
        snapshot.close();
      }
    });
  }

  async namespaces(): Promise<readonly number[]> {
    const snapshot = await this.#options.readers.store.snapshot();
    try {
      return await readNamespaces(snapshot);
    } finally {
      snapshot.close();
    }
  }

  /** Its data goes at once for readers and in slices from the store. */
  async deleteNamespace(namespace: number): Promise<void> {
    await this.#change(namespace, async (view) => ({
      patches: [
        ...dropSchemaPatches(view.known),
        retiredPatch({ kind: "storage", storageId: view.known.schema.storageId, id: 0 }),
      ],
      raisesFence: true,
    }));
    this.sweepSoon();
  }

  /** Throws E_ALTER where `principal` may not; a text that does not parse is told to anybody. */
  async alter(operation: AlterOperation, namespace: number, principal?: Principal): Promise<void> {
    if (principal !== undefined) {
      const { schema } = await this.#options.readers.schema(namespace);
      checkAlter(principal, operation, describeAlter(operation, namespace), schema);
    }
    switch (operation.kind) {
      case "schema":
        return this.#alterSchema(operation.text, namespace, operation.runInBackground);
      case "dropPredicate":
        return this.#apply(namespace, (known) =>
          dropPredicate(known.state, operation.predicate, this.#options.reserved),
        );
      case "dropType":
        return this.#apply(namespace, (known) =>
          dropType(known.state, operation.type, this.#options.reserved),
        );
      case "dropAll":
        return this.aroundDrop(namespace, async () => {
          if (namespace === 0) await this.#deleteOthers();
          await this.#replaceStorage(namespace, false);
        });
      case "dropData":
        return this.aroundDrop(namespace, () => this.#replaceStorage(namespace, true));
    }
  }

  /** Predicates of a mutation; those that exist by now are left alone. */
  addInferred(namespace: number, definitions: readonly PredicateDefinition[]): Promise<void> {
    return this.#inferred.add(namespace, definitions);
  }

  async #alterSchema(text: string, namespace: number, inBackground: boolean): Promise<void> {
    const parsed = parseSchemaText(text, namespace);
    await this.#waitUntil(namespace, (state) => findBuilds(state).length === 0, indexingWaitMs);
    let builds: readonly IndexBuild[] = [];
    const lengths = new StoredLengths(this.#options.readers.store, this.#clock);
    await this.#checkLengths(namespace, parsed, lengths);
    await this.#change(namespace, async (view) => {
      if (findBuilds(view.known.state).length > 0) {
        throw new Fault("E_ALTER", "errIndexingInProgress. Please retry");
      }
      const change = await this.#plan(view, parsed);
      const added = findNewVectorIndexes(view.known.state, change.state);
      while (!(await lengths.check(view, added)));
      builds = change.builds;
      return this.#patchesOf(view.known, change);
    });
    this.sweepSoon();
    if (builds.length === 0) return;
    this.#builds.wake(namespace);
    if (inBackground) return;
    const isDone = (state: SchemaState): boolean => !builds.some((one) => isBuilding(state, one));
    await this.#waitUntil(namespace, isDone, Infinity);
  }

  #plan({ reader, known }: View, parsed: SchemaText): Promise<SchemaChange> {
    return planAlter(
      {
        state: known.state,
        reserved: this.#options.reserved,
        hasData: async (predicate) => {
          const list = { kind: "presence", predicate: predicate.id } as const;
          const [count] = await reader.countLists([list]);
          return count !== 0;
        },
      },
      parsed,
    );
  }

  /** Many vectors are looked at a little at a time, so that little is left to look at when the change is made. */
  async #checkLengths(
    namespace: number,
    parsed: SchemaText,
    lengths: StoredLengths,
  ): Promise<void> {
    const isVector = (index: IndexSpec): boolean => isVectorIndex(index);
    if (!parsed.predicates.some(({ indexes }) => indexes.some(isVector))) return;
    let added: readonly NewVectorIndex[] | undefined;
    for (let isWhole = false; !isWhole && !this.#isClosed;) {
      const view = await this.#options.readers.openNewest(namespace, "change");
      try {
        const { state } = view.known;
        added ??= findNewVectorIndexes(state, (await this.#plan(view, parsed)).state);
        isWhole = await lengths.check(view, added);
      } finally {
        view.reader.close();
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  /** Looks at the schema whenever someone commits, until it is as wanted or the time is over. */
  async #waitUntil(
    namespace: number,
    isDone: (state: SchemaState) => boolean,
    waitMs: number,
  ): Promise<void> {
    const { readers } = this.#options;
    const endMs = this.#clock.tickMs() + waitMs;
    for (;;) {
      const leftMs = endMs - this.#clock.tickMs();
      const next = nextCommit(readers.store, Math.max(0, Math.min(leftMs, idleLookMs)));
      if (isDone((await readers.schema(namespace)).state) || leftMs <= 0) return next.forget();
      if (this.#isClosed) {
        next.forget();
        const text = "the server stops before the index is built; it goes on at the next start";
        throw new Fault("E_STORE_UNAVAILABLE", text);
      }
      await next.came;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  async #apply(namespace: number, plan: (known: KnownSchema) => SchemaChange): Promise<void> {
    await this.#change(namespace, async (view) => this.#patchesOf(view.known, plan(view.known)));
    this.sweepSoon();
  }

  #patchesOf(known: KnownSchema, change: SchemaChange): SchemaCommit {
    if (change.state === known.state) return { patches: [], raisesFence: false };
    const { storageId } = change.state;
    return {
      patches: [
        ...schemaPatches(change.state, known),
        ...change.retired.map(({ kind, id }) => retiredPatch({ kind, storageId, id })),
      ],
      raisesFence: change.state.fence !== known.state.fence,
    };
  }

  /** Commits what `derive` makes of the newest schema; derives again when the schema moved. */
  async #change(namespace: number, derive: (view: View) => Promise<SchemaCommit>): Promise<void> {
    const { readers, committer } = this.#options;
    // The rows say themselves what they replace; the key lets those who lose to each other have their turns.
    const basisKeys = [`schema ${namespace}`];
    await committer.retry(async (contender) => {
      const view = await readers.openNewest(namespace, "change");
      try {
        const { patches, raisesFence } = await derive(view);
        if (patches.length === 0) return;
        const { ts: startTs } = view.snapshot;
        const change = { startTs, conflictKeys: [], basisKeys, patches, raisesFence };
        await committer.commit(view, change, contender);
      } finally {
        view.reader.close();
      }
    });
  }

  /** Everything means the other namespaces too, which only namespace 0 may ask for. */
  async #deleteOthers(): Promise<void> {
    for (const other of await this.namespaces()) {
      if (other !== 0) await this.deleteNamespace(other);
    }
  }

  /** A new storage id makes everything gone at once; ids of predicates and indexes go on. */
  async #replaceStorage(namespace: number, keepsSchema: boolean): Promise<void> {
    await this.#change(namespace, async (view) => {
      const counters = await readCounters(view.snapshot);
      const { nextStorageId, nextNamespace } = counters.counters;
      const { state } = view.known;
      const next: SchemaState = {
        ...state,
        version: state.version + 1,
        fence: state.fence + 1,
        storageId: nextStorageId,
        predicates: keepsSchema ? state.predicates.map(withReadyIndexes) : [],
        types: keepsSchema ? state.types : [],
      };
      return {
        patches: [
          ...schemaPatches(next, view.known),
          ...(await this.#keepGraphql(view, next, keepsSchema)),
          countersPatch({ nextStorageId: nextStorageId + 1, nextNamespace }, counters),
          retiredPatch({ kind: "storage", storageId: state.storageId, id: 0 }),
          newRightsMark(namespace, this.#options.committer),
        ],
        raisesFence: true,
      };
    });
    this.sweepSoon();
  }

  /**
   * The GraphQL schema belongs to the schema, although it is kept as a node: it moves to the new storage. Where
   * everything is dropped, an empty text takes its place, as in the reference, so that its changes are counted on.
   */
  async #keepGraphql(view: View, next: SchemaState, keepsText: boolean): Promise<readonly Patch[]> {
    const { reader } = view;
    const idOf = (name: string): number =>
      must(reader.schema.predicate(name), "the predicates of the GraphQL schema are reserved").id;
    const kept = [
      idOf("dgraph.graphql.schema"),
      idOf("dgraph.graphql.xid"),
      idOf("dgraph.type"),
    ] as const;
    const [nodes] = await reader.readLists([{ kind: "presence", predicate: kept[0] }]);
    if (nodes.length === 0) return [];
    const edits: Edit[] = [];
    const columns = await reader.readLevel(nodes, [
      { kind: "cells", predicate: kept[0] },
      { kind: "cells", predicate: kept[1] },
      { kind: "cells", predicate: kept[2] },
    ]);
    for (const [k, { cells }] of columns.entries()) {
      const predicate = must(kept[k], "a column for each predicate");
      nodes.forEach((uid, row) => {
        for (const cell of cells[row] ?? []) {
          // A client may have made the node one of its own, too: that goes with all else.
          if (k === 2 && cell.text !== graphqlSchemaType) continue;
          const { value, language, facets } = k > 0 || keepsText ? cell : emptyGraphqlSchema(cell);
          edits.push({ kind: "setValue", uid, predicate, value, language, facets });
        }
      });
    }
    const empty = openReader({
      snapshot: view.snapshot,
      schema: makeSchema(next, this.#options.reserved),
      cache: undefined,
      fillsCache: false,
      delta: undefined,
      ts: view.snapshot.ts,
    });
    return (await derivePatches(empty, edits)).patches;
  }

  /** Takes up builds that a process left behind when it ended, and begins those of indexes that have become stale. */
  async takeUpBuilds(): Promise<void> {
    await this.#clearLostRestore();
    await this.#renewIndexes();
    await this.#builds.takeUp();
  }

  async #clearLostRestore(): Promise<void> {
    if (this.#isClosed) return;
    const { readers, committer, logger } = this.#options;
    if (!(await clearLostRestore(readers.store, committer))) return this.sweepSoon();
    this.#lostLook = setTimeout(() => {
      this.#clearLostRestore().catch((error: unknown) => {
        logger.warn("what a restore has left is not cleared", { error: String(error) });
      });
    }, lostLookMs);
    this.#lostLook.unref();
  }

  async #renewIndexes(): Promise<void> {
    const { readers, logger } = this.#options;
    for (const namespace of await this.namespaces()) {
      const indexes = listStale((await readers.schema(namespace)).state);
      if (indexes.length === 0) continue;
      logger.info("indexes of another version are built anew", { namespace, indexes });
      await this.#apply(namespace, ({ state }) => renewIndexes(state));
    }
  }

  /** A namespace's schema was changed, perhaps by another process: what it wants built is built here. */
  buildSoon(namespace: number): void {
    this.#builds.wake(namespace);
  }

  /** The same, for the process that does what one does: what was restored may be of an older version, or leave rows. */
  tendSoon(): void {
    this.#tending ??= this.#renewIndexes()
      .catch((error: unknown) => {
        this.#options.logger.warn("indexes of another version are not built anew", {
          error: String(error),
        });
      })
      .finally(() => (this.#tending = undefined));
    this.sweepSoon();
  }

  /** Resolves when nothing is left to build. */
  buildsSettled(): Promise<void> {
    return this.#builds.settled();
  }

  /** Clears what drops left behind, in slices; one sweep at a time. */
  sweepSoon(): void {
    this.#sweeps.soon();
  }

  /** Waits for the slice under way; builds and sweeps go on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#lostLook);
    await Promise.allSettled([this.#builds.close(), this.#sweeps.close(), this.#tending]);
  }
}

interface SchemaCommit {
  readonly patches: readonly Patch[];
  readonly raisesFence: boolean;
}

/** An empty storage has nothing to build. */
function withReadyIndexes(
  predicate: SchemaState["predicates"][number],
): SchemaState["predicates"][number] {
  const ready = <T extends { readonly id: number }>(
    index: T | undefined,
  ): (T & { readonly state: "ready" }) | undefined =>
    index === undefined ? undefined : { ...index, state: "ready" };
  return {
    ...predicate,
    indexes: predicate.indexes.map((index) => ({ ...index, state: "ready" })),
    reverseIndex: ready(predicate.reverseIndex),
    countIndex: ready(predicate.countIndex),
    reverseCountIndex: ready(predicate.reverseCountIndex),
    formerScalar: false,
  };
}

/** Listens from now on. `came` resolves at the next commit, or after `waitMs`. */
function nextCommit(store: Store, waitMs: number): { came: Promise<void>; forget: () => void } {
  let forget = (): void => {};
  const came = new Promise<void>((resolve) => {
    forget = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const stop = store.onCommit(() => forget());
    const timer = setTimeout(() => forget(), waitMs);
  });
  return { came, forget: () => forget() };
}

/** What a dropped GraphQL schema leaves behind: how often it was changed, now once more. */
function emptyGraphqlSchema({
  text,
  language,
  facets,
}: Cell): Pick<Cell, "value" | "language" | "facets"> {
  if (text === "") return { value: { kind: "string", text }, language, facets };
  const int = countSchemaUpdates(facets) + 1;
  return {
    value: { kind: "string", text: "" },
    language,
    facets: [{ key: schemaUpdatesKey, value: { kind: "int", int } }],
  };
}
