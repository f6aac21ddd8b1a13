/**
 * The house, put together: what a child process of `weft serve` consists of. The writer holds the store; a worker
 * answers requests over the whole stack; with one worker both are this process.
 */
import type { Socket } from "node:net";
import { openAdminService } from "../admin/service.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../engine/open.ts";
import { unpackStartTime } from "../engine/start-time.ts";
import { openGraphqlService } from "../graphql/open-service.ts";
import type { GraphqlService } from "../graphql/service.ts";
import { type HttpServer, openHttpServer } from "../http/server.ts";
import { makeNodeFacts } from "../http/node-facts.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import { explainDirectory } from "../stores/claim.ts";
import { connectStore, openWriter, type Writer } from "../stores/lmdb.ts";
import type { ServeConfig } from "./config.ts";
import { makeLogger } from "./log.ts";
import type { ToChild, ToSupervisor } from "./messages.ts";
import { openPrivateSockets } from "./private-socket.ts";
import { makeSecurity } from "./security.ts";
import { readVersion } from "./version.ts";

type Start = ToChild & { readonly kind: "start" };

/** Opens what the role needs, tells the supervisor, and serves until told to drain. */
export async function startChild({ role, number, config }: Start): Promise<void> {
  const logger = makeLogger(role === "writer" ? "writer" : `worker ${number}`, config.logLevel);
  const writer = role === "worker" ? undefined : await openStore(config, logger);
  const store = writer?.store ?? (await connectStore({ dir: config.dataDir }));
  const worker =
    role === "writer" ? undefined : await openWorker({ config, store, logger, number });
  process.on("message", (message: ToChild, socket?: Socket) => {
    switch (message.kind) {
      case "start":
        return;
      case "connection":
        // One that went away on its way here comes as undefined.
        if (socket !== undefined) worker?.server.accept(socket);
        return;
      case "open":
        worker?.open();
        return;
      case "childEnded":
        writer?.checkReaders();
        return;
      case "drain":
        void drain(worker, writer ?? store);
    }
  });
  const ready: ToSupervisor = { kind: "ready", isEmpty: (await worker?.isEmpty()) ?? false };
  process.send?.(ready);
}

async function openStore(config: ServeConfig, logger: Logger): Promise<Writer> {
  const { dataDir, store } = config;
  const { mapBytes } = store;
  try {
    return await openWriter({
      dir: dataDir,
      ...(mapBytes === undefined ? {} : { mapBytesMax: mapBytes }),
      derive: deriveFill,
      retention: { ageMsMax: store.logMinutes * 60_000, bytesMax: store.logBytes },
      logger,
      clock: systemClock,
      isLinked: config.workers > 1,
      onFatal: () => process.exit(1),
    });
  } catch (error) {
    throw explainDirectory(dataDir, error) ?? error;
  }
}

interface Worker {
  readonly server: HttpServer;
  open(): void;
  isEmpty(): Promise<boolean>;
  close(): Promise<void>;
}

interface WorkerParts {
  readonly config: ServeConfig;
  readonly store: Store;
  readonly logger: Logger;
  readonly number: number;
}

async function openWorker({ config, store, logger, number }: WorkerParts): Promise<Worker> {
  const { limits, mutations } = config;
  const security = await makeSecurity(config.security);
  const engine = await openEngine({
    store,
    clock: systemClock,
    random: systemRandom,
    logger,
    limits,
    mutations,
    // One process takes up what another left behind.
    resumes: number === 1,
  });
  const graphql = openGraphqlService({ engine, clock: systemClock, limits, ...config.graphql });
  const sockets = openPrivateSockets(config.dataDir);
  const about = makeNodeFacts({
    engine,
    clock: systemClock,
    version: readVersion(),
    address: `${config.host}:${config.port}`,
    describeStore: async () => await store.describe(),
  });
  const admin = openAdminService({ graphql, health: async () => [await about.health()] });
  let isOpen = false;
  const server = await openHttpServer({
    engine,
    graphql,
    admin,
    limits,
    rules: {
      disallowMutations: mutations === "disallow",
      disallowDrop: config.disallowDrop,
    },
    security,
    clock: systemClock,
    logger,
    about,
    transactions: {
      async findOwner(startTs) {
        const { commit, slot, serial } = unpackStartTime(startTs);
        if (serial === 0 || slot === engine.slot) return undefined;
        const floorTs = (await store.slots()).get(slot);
        return floorTs === undefined || commit < floorTs ? undefined : sockets.pathOf(slot);
      },
    },
    isReady: () => isOpen,
  });
  sockets.clear(engine.slot);
  await server.listen({ path: sockets.pathOf(engine.slot) });
  return {
    server,
    open: () => (isOpen = true),
    isEmpty: async () => await hasNothing(engine, graphql),
    close: async () => {
      await server.drain();
      await engine.close();
      sockets.clear(engine.slot);
    },
  };
}

/** Requests under way are answered, then the store is closed in order. */
async function drain(worker: Worker | undefined, store: { close(): Promise<void> }): Promise<void> {
  try {
    await worker?.close();
    await store.close();
  } finally {
    process.exit(0);
  }
}

/** Neither a schema of a user's nor data: the first run. */
async function hasNothing(engine: Engine, graphql: GraphqlService): Promise<boolean> {
  if ((await graphql.schemaRow(0)) !== undefined) return false;
  const { predicates } = await engine.schema(0);
  return predicates.every(({ definition }) => definition.name.startsWith("dgraph."));
}
