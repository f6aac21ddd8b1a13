/** A worker: the whole stack above the store, put together, behind a socket that the supervisor feeds. */
import { openMigrations } from "../admin/migrations.ts";
import { openAdminService } from "../admin/service.ts";
import { openAcl, type Acl } from "../auth/acl.ts";
import { openKeyRing, type KeyRing } from "../auth/key-ring.ts";
import { DiskRoom } from "../stores/disk-room.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Engine } from "../engine/engine.ts";
import { ChangeFeed } from "../feed/change-feed.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import { isRestoring } from "../engine/restore-hold.ts";
import { unpackStartTime } from "../engine/start-time.ts";
import { openGrpcServer, type GrpcServer } from "../grpc/server.ts";
import { openGraphqlService } from "../graphql/service/open-service.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import { openConsoleFiles } from "./console-files.ts";
import type { ServerContext, TransactionOwners } from "../http/server-context.ts";
import { RequestQuotas } from "../http/request-quotas.ts";
import { type HttpServer, openHttpServer } from "../http/server.ts";
import type { TlsMaterial } from "../http/tls.ts";
import { makeNodeFacts, type NodeFacts } from "../http/node-facts.ts";
import { openLambdaClient } from "../lambda/client.ts";
import type { LambdaTarget } from "../lambda/client.ts";
import { makeAsk, makeGetText } from "../outgoing/request.ts";
import { ProcessMemory } from "../model/process-memory.ts";
import type { Store } from "../store/store.ts";
import { explainMove, readIdentity } from "../stores/place.ts";
import type { LinkedControls } from "./controls.ts";
import type { LeadDuty } from "./lead-duty.ts";
import { openBackupDesk } from "./backup-desk.ts";
import { openRestoreDesk } from "./restore-desk.ts";
import { CommandTasks } from "./command-tasks.ts";
import type { OwnKeys, ServeConfig } from "./config.ts";
import { encryptionFlag } from "./encryption.ts";
import { openExports } from "./export-desk.ts";
import { slotLostExit } from "./messages.ts";
import { isLoopbackHost } from "./address.ts";
import { openTelemetry, sendMetrics } from "./otel.ts";
import { makeOutgoingPolicy } from "./outgoing.ts";
import { openPrivateSockets } from "./private-socket.ts";
import type { PrivateSockets } from "./private-socket.ts";
import { openAuditFile } from "./audit-file.ts";
import { openSeenCommits } from "./seen-commits.ts";
import { makeSecurity } from "./security.ts";
import type { SurveyAnswer, Question } from "./questions.ts";
import type { Surveys } from "./survey.ts";
import {
  answerOf,
  askArchive,
  askCluster,
  askProcesses,
  askToAct,
  askToResign,
  openWatch,
} from "./watch.ts";
import { showMetrics } from "./worker-metrics.ts";
import { readApiVersion } from "./version.ts";
import { type ExchangedSettings, makeReload, openRates, rulesOf } from "./worker-settings.ts";

export interface Worker {
  readonly server: HttpServer;
  /** Undefined: off. */
  readonly grpc: GrpcServer | undefined;
  open(): void;
  /** Takes the settings that a running server takes (`settings-reload.ts`). */
  reload(config: ServeConfig): Promise<void>;
  /** What has become of the store, in words; undefined: it is where it was opened. */
  noteMove(move: string | undefined): void;
  isEmpty(): Promise<boolean>;
  /** What it says to a question to all processes. */
  answer(question: Question): Promise<SurveyAnswer>;
  close(): Promise<void>;
}

export interface WorkerParts {
  readonly config: ServeConfig;
  readonly store: Store;
  readonly logger: Logger;
  readonly number: number;
  readonly controls: LinkedControls;
  readonly surveys: Surveys;
  /** Of one of several machines: when this process does what one of all does. */
  readonly lead: LeadDuty | undefined;
  /** Undefined: plain HTTP. */
  readonly tls: TlsMaterial | undefined;
}

/** What other processes have to do with: those of this server, and of other machines. */
async function openMachineParts(
  { config, store }: WorkerParts,
  engine: OpenEngine,
  sockets: PrivateSockets,
): Promise<Pick<ServerContext, "transactions" | "streamOwners" | "seen">> {
  return {
    transactions: makeOwners(store, engine, (slot) => sockets.pathOf(slot)),
    streamOwners: makeStreamOwners(store, engine, sockets),
    seen: await openSeenCommits(store, config.cluster),
  };
}

/** What is served beside data: metrics, and the console. */
function openShown({ metrics, ui }: ServeConfig): Pick<ServerContext, "metrics" | "console"> {
  return { metrics, console: ui ? openConsoleFiles() : undefined };
}

/** What the supervisor has said. */
interface Told {
  isOpen: boolean;
  move?: string | undefined;
}

export async function openWorker(parts: WorkerParts): Promise<Worker> {
  const { config, store, logger, controls } = parts;
  const engine = await openStoreEngine(parts);
  followCacheSize(controls, engine);
  const keys = openKeys(config.ownKeys, engine);
  const acl = await openAccessControl(config, engine);
  const sockets = openPrivateSockets(config.dataDir);
  const graphql = openGraphql(parts, engine, sockets, acl);
  const about = openFacts(parts, engine, acl !== undefined);
  const tasks = new CommandTasks({ rows: engine.systemRows, clock: systemClock, logger });
  const processes = askProcesses(parts.surveys);
  const admin = openAdmin({ graphql, keys, controls, processes, acl, engine, about, tasks }, parts);
  const audit = config.audit && openAuditFile(config.audit, logger, systemClock);
  const told: Told = { isOpen: false };
  const telemetry = config.otel && (await openTelemetry(config.otel, `worker ${parts.number}`));
  if (telemetry !== undefined && parts.number === 1) sendMetrics(telemetry, processes);
  const watch = openWatch(parts, telemetry);
  const memory = new ProcessMemory({ bytesMax: config.memory.requestBytes });
  // Settings that are read at each request are exchanged while it runs.
  const context: ServerContext & ExchangedSettings = {
    engine,
    graphql,
    admin,
    changes: await openFeed(parts, memory),
    limits: config.limits,
    memory,
    rules: rulesOf(config),
    security: await makeSecurity(config.security, config.host),
    rates: openRates(config),
    requestQuotas: new RequestQuotas(engine.quotas, systemClock, config.workers),
    audit,
    keys,
    acl,
    graphqlBatchMax: config.graphql.batchMax,
    graphqlErrorDetails: config.graphql.errorDetails,
    controls,
    clock: systemClock,
    logger,
    about,
    ...openShown(config),
    watch,
    processes,
    ...(await openMachineParts(parts, engine, sockets)),
    isReady: () => told.isOpen,
    storeFault: () => told.move && explainMove(told.move),
  };
  showMetrics({ engine, store, memory: context.memory, watch, dataDir: config.dataDir });
  const server = await openHttpServer(context, parts.tls);
  await listenPrivately(server, sockets, engine.slot);
  const grpc =
    config.grpc === undefined ? undefined : await openGrpc(parts, context, { engine, sockets });
  return {
    server,
    grpc,
    open: () => (told.isOpen = true),
    reload: makeReload(context, config),
    noteMove: (words) => (told.move = words),
    answer: (question) => answerOf(question, context),
    isEmpty: async () => await hasNothing(engine, graphql),
    close: async () => {
      await Promise.all([server.drain(), grpc?.drain()]);
      await telemetry?.close();
      audit?.close();
      await tasks.close();
      await engine.close();
      sockets.clear(engine.slot);
    },
  };
}

/** For the other processes of this server. */
async function listenPrivately(
  server: Awaited<ReturnType<typeof openHttpServer>>,
  sockets: PrivateSockets,
  slot: number,
): Promise<void> {
  sockets.clear(slot);
  await server.listen({ path: sockets.pathOf(slot) });
}

async function openFeed(
  { config, store }: WorkerParts,
  memory: ProcessMemory,
): Promise<ChangeFeed> {
  const { storeId } = await readIdentity(config.dataDir);
  return new ChangeFeed({ store, storeId, memory, followersMax: config.limits.feedsMax });
}

interface AdminNeeds {
  readonly graphql: GraphqlService;
  readonly keys: ServerContext["keys"];
  readonly controls: LinkedControls;
  readonly processes: ServerContext["processes"];
  readonly acl: Awaited<ReturnType<typeof openAccessControl>>;
  readonly engine: OpenEngine;
  readonly about: NodeFacts;
  readonly tasks: CommandTasks;
}

function openAdmin(
  needs: AdminNeeds,
  { config, store, surveys }: WorkerParts,
): ServerContext["admin"] {
  const { graphql, keys, controls, processes, acl, engine, about, tasks } = needs;
  const { dataDir, exportDir, keyFile } = config;
  const commitTs = async (): Promise<number> => (await store.describe()).commitTs;
  return openAdminService({
    graphql,
    keys,
    controls,
    requests: processes,
    cluster: {
      facts: () => askCluster(surveys, config),
      resign: () => askToResign(surveys),
      finalize: () => askToAct(surveys, { kind: "finalize" }),
      evict: (node, isForced) => askToAct(surveys, { kind: "evict", node, isForced }),
    },
    clock: systemClock,
    acl: acl !== undefined,
    users: acl === undefined ? undefined : { acl, engine },
    health: () => about.healthOfAll(),
    state: (namespace) => about.membership(namespace),
    lease: (kind, count) => engine.lease(kind, count),
    exports: openExports({ tasks, dataDir, keyFile, exportDir, commitTs, clock: systemClock }),
    backups: openBackupDesk(config, tasks),
    restores: openRestoreDesk({
      config,
      tasks,
      controls,
      store,
      rows: engine.systemRows,
      onDone: async () => await acl?.ensureFirst(),
    }),
    compactions: {
      start: () => {
        const args = ["compact", "--data", dataDir, ...encryptionFlag(keyFile)];
        return tasks.start({ kind: "Compact", namespace: 0, args, place: dataDir });
      },
    },
    findTask: (id) => tasks.find(id),
    migrations: openMigrations(engine, systemClock),
  });
}

function openStoreEngine(parts: WorkerParts): Promise<OpenEngine> {
  const { config, store, logger, number, controls, lead } = parts;
  return openEngine({
    store,
    clock: systemClock,
    random: systemRandom,
    logger,
    limits: config.limits,
    mutations: config.mutations,
    cacheBytes: controls.switches.cacheMb * mebibyte,
    acl: config.acl !== undefined,
    // One process takes up what another left behind.
    resumes: lead ?? number === 1,
    onSlotLost: () => endWithoutSlot(logger),
  });
}

/** All that it would hand out from now on may be another's; with a slot of its own it begins anew. */
function endWithoutSlot(logger: Logger): void {
  logger.error("another process may have this one's slot by now; it ends and is started again");
  process.exit(slotLostExit);
}

function openFacts(
  { config, store, surveys }: WorkerParts,
  engine: OpenEngine,
  hasAcl: boolean,
): NodeFacts {
  const room = new DiskRoom(config.dataDir, systemClock, config.store.minFreeBytes);
  return makeNodeFacts({
    engine,
    clock: systemClock,
    version: readApiVersion(),
    address: `${config.host}:${config.port}`,
    features: [...(hasAcl ? ["acl", "multi_tenancy"] : []), "backup_restore", "cdc"],
    indexProgress: () => engine.indexProgress(),
    vectorIndexes: () => engine.vectorIndexes,
    archive: () => askArchive(surveys, config),
    cluster: () => askCluster(surveys, config),
    isRestoring: () => isRestoring(engine.systemRows, store),
    describeStore: async () => ({ ...(await store.describe()), isShortOfRoom: room.isShort }),
  });
}

function openGraphql(
  { config, logger }: WorkerParts,
  engine: OpenEngine,
  sockets: PrivateSockets,
  acl: Acl | undefined,
): GraphqlService {
  const target = lambdaTarget(config, sockets);
  return openGraphqlService({
    engine,
    clock: systemClock,
    logger,
    limits: config.limits,
    lambda: target === undefined ? undefined : openLambdaClient(target),
    scheduler: engine.scheduler,
    getText: makeGetText(makeOutgoingPolicy(config.outgoing)),
    outgoing: {
      ask: makeAsk(makeOutgoingPolicy(config.outgoing)),
      limits: config.outgoing.limits,
    },
    identify: acl === undefined ? undefined : (headers) => acl.identify(headers),
    explainsRefusals: config.isDevelopment,
    ...config.graphql,
  });
}

async function openGrpc(
  { store, tls }: WorkerParts,
  context: ServerContext,
  { engine, sockets }: { readonly engine: OpenEngine; readonly sockets: PrivateSockets },
): Promise<GrpcServer> {
  const { acl } = context;
  const namespaces = {
    create: () => acl?.createNamespace(undefined) ?? engine.createNamespace(),
    drop: (namespace: number) => engine.deleteNamespace(namespace),
    list: () => engine.namespaces(),
  };
  const transactions = makeOwners(store, engine, (slot) => sockets.grpcPathOf(slot));
  const own = { namespaces, transactions, version: readApiVersion() };
  const grpc = openGrpcServer({ ...context, ...own }, tls);
  await grpc.listen(sockets.grpcPathOf(engine.slot));
  return grpc;
}

/** `pathOf`: where the process of a slot is reached. */
function makeOwners(
  store: Store,
  engine: OpenEngine,
  pathOf: (slot: number) => string,
): TransactionOwners {
  return {
    async findOwner(startTs) {
      const { commit, slot, serial } = unpackStartTime(startTs);
      if (serial === 0 || slot === engine.slot) return undefined;
      const floorTs = (await store.slots()).get(slot);
      return floorTs === undefined || commit < floorTs ? undefined : pathOf(slot);
    },
  };
}

function makeStreamOwners(
  store: Store,
  { slot: own }: OpenEngine,
  sockets: PrivateSockets,
): ServerContext["streamOwners"] {
  return {
    slot: own,
    async findProcess(slot) {
      if (slot === own) return undefined;
      return (await store.slots()).has(slot) ? sockets.pathOf(slot) : undefined;
    },
  };
}

const mebibyte = 1024 * 1024;

function followCacheSize(controls: LinkedControls, engine: OpenEngine): void {
  let last = controls.switches.cacheMb;
  controls.onTurn(({ cacheMb }) => {
    if (cacheMb !== last) engine.resizeCache(cacheMb * mebibyte);
    last = cacheMb;
  });
}

/** Makes the first user where it is missing. */
async function openAccessControl(
  { acl, host, grpc, workers }: ServeConfig,
  engine: OpenEngine,
): Promise<Acl | undefined> {
  if (acl === undefined) return undefined;
  return openAcl({
    ...acl,
    engine,
    clock: systemClock,
    secrets: acl.secrets.map((secret) => Buffer.from(secret, "base64")),
    // Processes count apart: each allows its share.
    logins: { ...acl.logins, attempts: Math.max(1, Math.ceil(acl.logins.attempts / workers)) },
    isExposed: !isLoopbackHost(host) || !isLoopbackHost(grpc?.address?.host ?? host),
  });
}

function openKeys(own: OwnKeys, engine: OpenEngine): KeyRing {
  return openKeyRing({
    rows: engine.systemRows,
    clock: systemClock,
    unstored: [
      { kind: "admin", text: own.admin },
      { kind: "client", text: own.client },
    ],
  });
}

/** Neither a schema of a user's nor data: the first run. */
async function hasNothing(engine: Engine, graphql: GraphqlService): Promise<boolean> {
  if ((await graphql.schemaRow(0)) !== undefined) return false;
  const { predicates } = await engine.schema(0);
  return predicates.every(({ definition }) => definition.name.startsWith("dgraph."));
}

function lambdaTarget(config: ServeConfig, sockets: PrivateSockets): LambdaTarget | undefined {
  const { script, url } = config.lambda;
  if (script !== undefined) return { kind: "socket", path: sockets.pathOf("lambda") };
  return url === undefined ? undefined : { kind: "url", url };
}
