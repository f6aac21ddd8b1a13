/** The HTTP server over an engine in memory, on a unix socket, whose senders are believed about where they come from. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { BlockList, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialSwitches } from "../../src/admin/controls.ts";
import { openMigrations } from "../../src/admin/migrations.ts";
import { openAdminService } from "../../src/admin/service.ts";
import type { Acl } from "../../src/auth/acl.ts";
import type { KeyRing } from "../../src/auth/key-ring.ts";
import { systemClock } from "../../src/base/clock.ts";
import { RequestWatch } from "../../src/http/request-watch.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { OpenEngine } from "../../src/engine/open.ts";
import { ChangeFeed } from "../../src/feed/change-feed.ts";
import { openGraphqlService } from "../../src/graphql/service/open-service.ts";
import type { ServerContext } from "../../src/http/server-context.ts";
import { makeNodeFacts } from "../../src/http/node-facts.ts";
import type { Peer } from "../../src/http/peer.ts";
import { openHttpServer } from "../../src/http/server.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { ProcessMemory } from "../../src/model/process-memory.ts";
import { openMemoryStore } from "../../src/stores/open.ts";

export interface WalkOptions {
  readonly engine: OpenEngine;
  readonly keys: KeyRing;
  readonly security: { readonly anonymous: boolean; readonly token: string | undefined };
  readonly acl?: Acl;
  readonly onShutdown: () => void;
}

export interface Question {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface WalkServer {
  ask(question: Question): Promise<Answer>;
  /** As the supervisor hands over what it has accepted. */
  accept(socket: Socket, peer: Peer): void;
  close(): Promise<void>;
}

export async function openWalkServer(options: WalkOptions): Promise<WalkServer> {
  const { engine, keys, security, acl, onShutdown } = options;
  const clock = systemClock;
  const controls: ServerContext["controls"] = {
    switches: initialSwitches,
    turn: () => Promise.resolve(),
    shutdown: onShutdown,
  };
  const identify = acl === undefined ? undefined : acl.identify.bind(acl);
  const graphql = openGraphqlService({ engine, clock, identify });
  const about = makeNodeFacts({
    engine,
    clock,
    version: "0",
    address: "127.0.0.1:8080",
    indexProgress: () => engine.indexProgress(),
    vectorIndexes: () => engine.vectorIndexes,
    describeStore: () =>
      Promise.resolve({ commitTs: 1, maxUid: 1, damageCount: 0, isShortOfRoom: false }),
  });
  const processes = {
    readings: () => Promise.resolve([]),
    running: () => Promise.resolve([]),
    cancel: () => Promise.resolve(0),
  };
  const admin = openAdminService({
    graphql,
    keys,
    clock,
    migrations: openMigrations(engine, clock),
    requests: processes,
    controls,
    acl: acl !== undefined,
    users: acl === undefined ? undefined : { acl, engine },
    health: () => about.healthOfAll(),
    state: (namespace) => about.membership(namespace),
    lease: (kind, count) => engine.lease(kind, count),
  });
  const open = { whitelist: new BlockList(), hosts: new Set<string>(), origins: new Set<string>() };
  const memory = new ProcessMemory({ bytesMax: 256 * 1024 * 1024 });
  const server = await openHttpServer({
    engine,
    graphql,
    admin,
    changes: new ChangeFeed({ store: openMemoryStore(), storeId: "0", memory, followersMax: 1 }),
    limits: defaultLimits,
    memory,
    rules: { disallowMutations: false, disallowDrop: false },
    security: { ...security, ...open },
    keys,
    acl,
    controls,
    clock,
    logger: silentLogger,
    about,
    metrics: "admin",
    console: { find: () => undefined },
    watch: new RequestWatch({
      clock,
      logger: silentLogger,
      logsAccess: false,
      slowMs: undefined,
      counts: true,
    }),
    processes,
    transactions: { findOwner: () => undefined },
    streamOwners: { slot: 0, findProcess: () => Promise.resolve(undefined) },
    isReady: () => true,
  });
  const folder = mkdtempSync(join(tmpdir(), "weft-walk-"));
  const path = join(folder, "socket");
  await server.listen({ path });
  return {
    ask: (question) => send(path, question),
    accept: (socket, peer) => server.accept(socket, peer),
    async close() {
      server.cut();
      await server.drain();
      rmSync(folder, { recursive: true });
    },
  };
}

function send(socketPath: string, { path, method, headers, body }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const own = { host: "127.0.0.1:8080", "content-type": "application/json", ...headers };
    const asked = request({ socketPath, path, method, headers: own }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
