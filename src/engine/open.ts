/** The engine over a store: one per process, composed once. */
import { andThen } from "../base/maybe.ts";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { Logger } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Random } from "../base/random.ts";
import type { VectorIndexFacts, VectorLimits } from "../graph/vector-indexes.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits } from "../model/limits.ts";
import type { Limits } from "../model/limits.ts";
import type { Store } from "../store/store.ts";
import { openChanged } from "./changes.ts";
import { restrictReader } from "../graph/restrict.ts";
import { strangerFault } from "./authorize.ts";
import { ChangeSender } from "./commits.ts";
import { fixedDuty, type Duty } from "./duty.ts";
import type { Engine } from "./engine.ts";
import { HeldSlot } from "./held-slot.ts";
import { ManagedTransactions } from "./managed-transactions.ts";
import { readProgress } from "./index-builds.ts";
import type { IndexProgress } from "./index-builds.ts";
import { Mutations } from "./mutations.ts";
import { countNamespace } from "./namespace-count.ts";
import { NamespaceQuotas } from "./namespace-quotas.ts";
import { makeSystemRows } from "./system-rows.ts";
import type { SystemRows } from "./system-rows.ts";
import { PlanCache } from "./plan-cache.ts";
import type { MutationsMode } from "./prepare.ts";
import { Queries } from "./queries.ts";
import { makeRunner } from "./run.ts";
import type { Runner } from "./run.ts";
import { SchemaChanges } from "./schema-changes.ts";
import { SchemaWatch } from "./schema-watch.ts";
import { checkLease, type LeaseKind } from "./leases.ts";
import { packLeasedTime } from "./start-time.ts";
import { Transactions } from "./transactions.ts";
import { ReaderFactory } from "./reader-factory.ts";
import { UsageCensus } from "./usage-census.ts";

export type { VectorIndexFacts } from "../graph/vector-indexes.ts";

interface EngineOptions {
  readonly store: Store;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly limits?: Limits;
  /** Users and groups are nodes: their predicates are reserved too. */
  readonly acl?: boolean;
  /** Setting `mutations`. */
  readonly mutations?: MutationsMode;
  /** Bytes of the record cache. */
  readonly cacheBytes?: number;
  /** Bytes of what is kept for reading older states. */
  readonly undoBytes?: number;
  /** What is kept of vectors for `similar_to`; as `limits` say unless given. */
  readonly vectors?: VectorLimits;
  /** Whether this process takes up index builds and sweeps that another one left behind. One per store; by default it does. */
  readonly resumes?: boolean | Duty;
  /** What an index build gathers in memory at a time; 48 MiB unless said. */
  readonly buildBytes?: number;
  /** This process can commit nothing any more; another engine of the same store can. Called once. */
  readonly onSlotLost?: () => void;
}

/** The engine with what the modules above and the operator need beside its contract. */
export interface OpenEngine extends Engine, Runner {
  /** The slot in this process's start times: whose transactions it holds. */
  readonly slot: number;
  /** Of the record cache, from now on. */
  resizeCache(bytes: number): void;
  /** What the server keeps for itself. */
  readonly systemRows: SystemRows;
  createNamespace(): Promise<number>;
  deleteNamespace(namespace: number): Promise<void>;
  /** Has every drop of everything, or of all data, done by `wrap`: what must always be there is made again behind it. */
  aroundDrop(wrap: (namespace: number, drop: () => Promise<void>) => Promise<void>): void;
  namespaces(): Promise<readonly number[]>;
  /** What namespaces may hold and ask for. */
  readonly quotas: NamespaceQuotas;
  /** Counts a namespace that there is now, which takes time in proportion to what it holds. */
  countNamespace(namespace: number): Promise<{ readonly facts: number; readonly bytes: number }>;
  /** What is being built by any process. */
  indexProgress(): Promise<readonly IndexProgress[]>;
  readonly openTransactions: number;
  /** That the caches of records and lists take. */
  readonly cacheBytes: number;
  /** Vector indexes of this process. */
  readonly vectorIndexes: readonly VectorIndexFacts[];
}

const mebibyte = 1024 * 1024;

/** What an engine consists of. */
interface Parts {
  readonly store: Store;
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly schemas: SchemaChanges;
  readonly transactions: Transactions;
  readonly runner: Runner;
  readonly queries: Queries;
  readonly mutations: Mutations;
  readonly managed: ManagedTransactions;
  readonly watch: SchemaWatch;
  readonly systemRows: SystemRows;
  readonly quotas: NamespaceQuotas;
  readonly census: UsageCensus | undefined;
  readonly clock: Clock;
  readonly slot: number;
  readonly mode: MutationsMode;
}

/** Takes a slot for start times, makes namespace 0 when it is missing, and takes up unfinished builds. */
export async function openEngine(options: EngineOptions): Promise<OpenEngine> {
  const { resumes = true } = options;
  const duty = typeof resumes === "boolean" ? fixedDuty(resumes) : resumes;
  const parts = await makeParts(options, duty);
  const { schemas } = parts;
  const takeUp = (): void => {
    schemas.takeUpBuilds().catch((error: unknown) => {
      const logger = options.logger ?? silentLogger;
      logger.error("index builds could not be taken up", { error: String(error) });
    });
    schemas.sweepSoon();
  };
  if (resumes !== false) {
    parts.watch.listen((namespace) => {
      schemas.buildSoon(namespace);
      if (duty.isOn) schemas.tendSoon();
    });
  }
  if (duty.isOn) takeUp();
  duty.onTurn((isOn) => {
    if (isOn) takeUp();
  });
  return compose(parts);
}

async function makeParts(options: EngineOptions, duty: Duty): Promise<Parts> {
  const { store } = options;
  const clock = options.clock ?? systemClock;
  const limits = options.limits ?? defaultLimits;
  const logger = options.logger ?? silentLogger;
  const acl = options.acl ?? false;
  const reserved = { acl };
  const onLost = new Set<() => void>();
  const { slot, floorTs } = await store.claimSlot(() => {
    for (const lose of onLost) lose();
  });
  const random = options.random ?? systemRandom;
  const committer = new ChangeSender({ store, clock, random, slot, floorTs });
  const readers = new ReaderFactory({
    store,
    clock,
    reserved,
    cacheBytes: options.cacheBytes ?? 256 * mebibyte,
    undoBytes: options.undoBytes ?? 64 * mebibyte,
    vectors: options.vectors ?? { bytesMax: limits.vectorBytesMax },
    logger,
  });
  const schemas = new SchemaChanges({
    readers,
    committer,
    reserved,
    logger,
    clock,
    duty,
    ...(options.buildBytes === undefined ? {} : { buildBytes: options.buildBytes }),
  });
  await schemas.ensureNamespace(0);
  const transactions = new Transactions({ clock, limits, slot, floorTs });
  const held = new HeldSlot(store, { slot, floorTs }, () => {
    transactions.close();
    options.onSlotLost?.();
  });
  onLost.add(() => held.lose());
  const runner = makeRunner(clock, limits);
  const systemRows = makeSystemRows(store, committer);
  const quotas = await NamespaceQuotas.open(systemRows, store);
  const shared = {
    clock,
    limits,
    readers,
    committer,
    transactions,
    runner,
    schemas,
    acl,
    held,
    quotas,
  };
  const queries = new Queries({ ...shared, plans: new PlanCache() });
  const mode = options.mutations ?? "allow";
  const mutations = new Mutations({
    ...shared,
    mode,
    giveStartTime: (commit, sameSince) => queries.giveStartTime(commit, sameSince),
  });
  const managed = new ManagedTransactions({ ...shared, mode });
  const watch = new SchemaWatch(readers, logger);
  const census =
    options.resumes === false
      ? undefined
      : openCensus({ store, clock, logger, quotas, duty }, schemas, readers);
  return { store, ...shared, queries, mutations, managed, watch, systemRows, census, slot, mode };
}

function openCensus(
  parts: Omit<ConstructorParameters<typeof UsageCensus>[0], "storageIdOf">,
  schemas: SchemaChanges,
  readers: ReaderFactory,
): UsageCensus {
  const storageIdOf = async (namespace: number): Promise<number | undefined> => {
    if (!(await schemas.namespaces()).includes(namespace)) return undefined;
    return (await readers.schema(namespace)).schema.storageId;
  };
  return new UsageCensus({ ...parts, storageIdOf });
}

async function lease(
  { store, schemas, committer }: Parts,
  kind: LeaseKind,
  count: number,
): Promise<number> {
  checkLease(kind, count);
  if (kind === "uids") return await store.lease(count);
  if (kind === "namespaces") return await schemas.leaseNamespaces(count);
  const { commitTs } = await store.describe();
  return packLeasedTime(await committer.commitEmpty(commitTs));
}

function compose(parts: Parts): OpenEngine {
  const { store, readers, schemas, transactions, queries, mutations, managed, watch } = parts;
  return {
    slot: parts.slot,
    systemRows: parts.systemRows,
    resizeCache: (bytes) => readers.resizeCache(bytes),
    ...parts.runner,
    query: (request) => queries.query(request),
    mutate: (request) => mutations.mutate(request),
    commit: (request) => mutations.commit(request),
    async alter(operation, namespace, principal) {
      if (parts.mode === "disallow") {
        throw new Fault("E_ALTER", "No mutations allowed by server.");
      }
      await schemas.alter(operation, namespace, principal);
    },
    aroundDrop(wrap) {
      schemas.aroundDrop = wrap;
    },
    lease: (kind, count) => lease(parts, kind, count),
    schema: async (namespace) => (await readers.schema(namespace)).schema,
    openReader(namespace, principal, use = "query") {
      if (principal?.refusal !== undefined) throw strangerFault(principal);
      return andThen(readers.openNewest(namespace, use), ({ reader }) =>
        restrictReader(reader, principal?.access),
      );
    },
    noteQuery: (reader) => readers.noteQuery(reader.ts),
    transact: (...asked) => managed.transact(...asked),
    onSchemaChange: (listener) => watch.listen(listener),
    onCommit: (listener) => store.onCommit(listener),
    openChanged: (namespace, from) => openChanged(readers, namespace, from),
    createNamespace: () => schemas.createNamespace(),
    async deleteNamespace(namespace) {
      await schemas.deleteNamespace(namespace);
      await parts.quotas.forget(namespace);
    },
    quotas: parts.quotas,
    async countNamespace(namespace) {
      const { storageId } = (await readers.schema(namespace)).schema;
      const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
      return await countNamespace(store, parts.clock, storageId, pause);
    },
    namespaces: () => schemas.namespaces(),
    indexProgress: () => readProgress(readers),
    get vectorIndexes() {
      return readers.vectors.describe();
    },
    get cacheBytes() {
      return readers.cacheBytes;
    },
    get openTransactions() {
      return transactions.openCount;
    },
    close: async () => {
      watch.close();
      parts.quotas.close();
      await parts.census?.close();
      transactions.close();
      readers.vectors.close();
      await schemas.close();
    },
  };
}
