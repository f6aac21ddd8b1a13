/** Changes of a schema as commits: alter, drops, predicates that a mutation brings up, index builds (dql.md 1.6, 2.10). */
import type { PredicateDefinition } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import type { Logger } from "../base/log.ts";
import type { ReservedOptions } from "../graph/reserved.ts";
import {
  addInferred,
  dropPredicate,
  dropType,
  markReady,
  planAlter,
} from "../graph/schema-diff.ts";
import type { IndexBuild, SchemaChange } from "../graph/schema-diff.ts";
import {
  countersPatch,
  dropSchemaPatches,
  readCounters,
  readNamespaces,
  readRetired,
  retiredPatch,
  schemaPatches,
} from "../graph/schema-rows.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import { openReader } from "../graph/open-reader.ts";
import { emptySchemaState, makeSchema } from "../graph/schema-state.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import { parseSchemaText } from "../graph/schema-parse.ts";
import type { FillJob, FillResult, Patch } from "../store/store.ts";
import { derivePatches } from "../write/apply.ts";
import type { Edit } from "../write/edit.ts";
import { encodeFillDetail } from "../write/fill.ts";
import type { Committer } from "./commits.ts";
import type { AlterOperation } from "./engine.ts";
import type { View, Views } from "./views.ts";

export interface SchemaChangesOptions {
  readonly views: Views;
  readonly committer: Committer;
  readonly reserved: ReservedOptions;
  readonly logger: Logger;
}

/** Nodes in one slice of an index build. */
const fillNodes = 256;
/** Rows in one slice of a sweep. */
const sweepRows = 512;

export class SchemaChanges {
  readonly #options: SchemaChangesOptions;
  /** Namespaces whose indexes are being built by this process. */
  readonly #building = new Map<number, Promise<void>>();
  #sweeping: Promise<void> | undefined = undefined;
  #isClosed = false;

  constructor(options: SchemaChangesOptions) {
    this.#options = options;
  }

  /** Makes sure that a namespace's rows are there; for namespace 0 at the start. */
  async ensureNamespace(namespace: number): Promise<void> {
    const { views, committer } = this.#options;
    await committer.retry(async () => {
      const snapshot = await views.store.snapshot();
      try {
        const namespaces = await readNamespaces(snapshot);
        if (namespaces.includes(namespace)) return;
        const counters = await readCounters(snapshot);
        const { nextStorageId, nextNamespace } = counters.counters;
        const state = emptySchemaState(namespace, nextStorageId);
        const next = {
          nextStorageId: nextStorageId + 1,
          nextNamespace: Math.max(nextNamespace, namespace + 1),
        };
        await committer.commitRows(snapshot, state, [
          ...schemaPatches(state, undefined),
          countersPatch(next, counters),
        ]);
      } finally {
        snapshot.close();
      }
    });
  }

  /** The lowest number that was never a namespace. */
  async createNamespace(): Promise<number> {
    const { views } = this.#options;
    const snapshot = await views.store.snapshot();
    const { counters } = await readCounters(snapshot);
    snapshot.close();
    await this.ensureNamespace(counters.nextNamespace);
    return counters.nextNamespace;
  }

  async namespaces(): Promise<readonly number[]> {
    const snapshot = await this.#options.views.store.snapshot();
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

  async alter(operation: AlterOperation, namespace: number): Promise<void> {
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
        if (namespace === 0) await this.#deleteOthers();
        return this.#replaceStorage(namespace, false);
      case "dropData":
        return this.#replaceStorage(namespace, true);
    }
  }

  /** Predicates of a mutation; those that exist by now are left alone. */
  async addInferred(namespace: number, definitions: readonly PredicateDefinition[]): Promise<void> {
    await this.#apply(namespace, (known) => addInferred(known.state, definitions));
  }

  async #alterSchema(text: string, namespace: number, inBackground: boolean): Promise<void> {
    const parsed = parseSchemaText(text, namespace);
    if (this.#building.has(namespace)) {
      throw new Fault("E_ALTER", "errIndexingInProgress. Please retry");
    }
    let builds: readonly IndexBuild[] = [];
    await this.#change(namespace, async (view) => {
      const change = await planAlter(
        {
          state: view.known.state,
          reserved: this.#options.reserved,
          hasData: async (predicate) => {
            const list = { kind: "presence", predicate: predicate.id } as const;
            const [count] = await view.reader.countLists([list]);
            return count! > 0;
          },
        },
        parsed,
      );
      builds = change.builds;
      return this.#patchesOf(view.known, change);
    });
    this.sweepSoon();
    if (builds.length === 0) return;
    const built = this.#build(namespace, builds);
    this.#building.set(namespace, built);
    const done = built.finally(() => this.#building.delete(namespace));
    if (!inBackground) return done;
    done.catch((error: unknown) => {
      this.#options.logger.error("an index build failed", { namespace, error: String(error) });
    });
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
    const { views, committer } = this.#options;
    await committer.retry(async () => {
      const view = await views.openNewest(namespace, "change");
      try {
        const { patches, raisesFence } = await derive(view);
        if (patches.length === 0) return;
        await committer.commit(view, {
          startTs: view.snapshot.ts,
          conflictKeys: [],
          basisKeys: [],
          patches,
          raisesFence,
        });
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
          ...(keepsSchema ? await this.#keepGraphql(view, next) : []),
          countersPatch({ nextStorageId: nextStorageId + 1, nextNamespace }, counters),
          retiredPatch({ kind: "storage", storageId: state.storageId, id: 0 }),
        ],
        raisesFence: true,
      };
    });
    this.sweepSoon();
  }

  /** The GraphQL schema belongs to the schema, although it is kept as a node: it moves to the new storage. */
  async #keepGraphql(view: View, next: SchemaState): Promise<readonly Patch[]> {
    const { reader } = view;
    const names = ["dgraph.graphql.schema", "dgraph.graphql.xid", "dgraph.type"];
    const kept = names.map((name) => reader.schema.predicate(name)!);
    const [nodes] = await reader.readLists([{ kind: "presence", predicate: kept[0]!.id }]);
    if (nodes === undefined || nodes.length === 0) return [];
    const wants = kept.map(({ id }) => ({ kind: "cells", predicate: id }) as const);
    const columns = await reader.readLevel(nodes, wants);
    const edits: Edit[] = [];
    columns.forEach((column, k) => {
      if (column.kind !== "cells") return;
      nodes.forEach((uid, row) => {
        for (const { value, language, facets } of column.cells[row] ?? []) {
          edits.push({ kind: "setValue", uid, predicate: kept[k]!.id, value, language, facets });
        }
      });
    });
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

  /** Fills what is `building`, then makes it `ready`. Commits keep the indexes up meanwhile. */
  async #build(namespace: number, builds: readonly IndexBuild[]): Promise<void> {
    const { views } = this.#options;
    const fillSlice = (slice: FillJob): Promise<FillResult> => views.store.fill(slice);
    for (const build of builds) {
      const known = await views.schema(namespace);
      const predicate = known.schema.predicateById(build.predicate);
      if (predicate === undefined) continue;
      const detail = encodeFillDetail({ build, predicate, namespace });
      let after = 0;
      for (;;) {
        if (this.#isClosed) return;
        const { storageId } = known.schema;
        const slice = { storageId, predicate: build.predicate, after, limit: fillNodes, detail };
        const result = await fillSlice(slice);
        if (result.done) break;
        after = result.after;
      }
    }
    await this.#change(namespace, async (view) => ({
      patches: schemaPatches(markReady(view.known.state, builds), view.known),
      raisesFence: true,
    }));
  }

  /** Takes up builds that a process left behind when it ended. */
  async resumeBuilds(): Promise<void> {
    for (const namespace of await this.namespaces()) {
      const { state } = await this.#options.views.schema(namespace);
      const builds = findBuilds(state);
      if (builds.length === 0) continue;
      const built = this.#build(namespace, builds).finally(() => this.#building.delete(namespace));
      this.#building.set(namespace, built);
      await built;
    }
  }

  /** Names of the namespaces' predicates whose indexes are being built, for health. */
  get isBuilding(): boolean {
    return this.#building.size > 0;
  }

  /** Clears what drops left behind, in slices; one sweep at a time. */
  sweepSoon(): void {
    if (this.#sweeping !== undefined || this.#isClosed) return;
    this.#sweeping = this.#sweep()
      .catch((error: unknown) => {
        this.#options.logger.warn("a sweep ended early", { error: String(error) });
      })
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #sweep(): Promise<void> {
    const { views, committer } = this.#options;
    for (;;) {
      const snapshot = await views.store.snapshot();
      const rows = await readRetired(snapshot);
      snapshot.close();
      const row = rows[0];
      if (row === undefined || this.#isClosed) return;
      const request =
        row.kind === "storage"
          ? { kind: "storage" as const, storageId: row.storageId, limit: sweepRows }
          : row.kind === "index"
            ? {
                kind: "index" as const,
                storageId: row.storageId,
                index: row.id,
                limit: sweepRows,
              }
            : {
                kind: "predicate" as const,
                storageId: row.storageId,
                predicate: row.id,
                limit: sweepRows,
              };
      let done = false;
      while (!done) {
        if (this.#isClosed) return;
        done = (await views.store.sweep(request)).done;
      }
      await committer.retry(async () => {
        const after = await views.store.snapshot();
        try {
          await committer.commitRows(after, undefined, [retiredPatch(row, true)]);
        } finally {
          after.close();
        }
      });
    }
  }

  /** Waits for the slice under way; builds and sweeps go on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#building.values(), this.#sweeping]);
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

function findBuilds(state: SchemaState): IndexBuild[] {
  const builds: IndexBuild[] = [];
  for (const predicate of state.predicates) {
    const note = (
      index: { readonly id: number; readonly state: string } | undefined,
      kind: IndexBuild["kind"],
    ): void => {
      if (index?.state === "building") {
        builds.push({ predicate: predicate.id, index: index.id, kind });
      }
    };
    for (const index of predicate.indexes) note(index, "token");
    note(predicate.reverseIndex, "reverse");
    note(predicate.countIndex, "count");
    note(predicate.reverseCountIndex, "reverseCount");
  }
  return builds;
}
