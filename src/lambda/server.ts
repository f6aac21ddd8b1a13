/**
 * The lambda server: `POST /graphql-worker` → a resolver of the user's script (reference/graphql 7.4). This process
 * only receives and passes on; user code runs in the pool's processes.
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { rmSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import { bundleScript } from "./bundle.ts";
import { openGateway } from "./gateway.ts";
import type { LambdaLimits, ScriptOptions } from "./limits.ts";
import { openPool } from "./pool.ts";
import type { LambdaPool } from "./pool.ts";
import { failure, partialHeader, timeLeftHeader, workerPath } from "./wire.ts";
import type { WireAnswer } from "./wire.ts";

export interface LambdaServerOptions {
  /** The user's file: JavaScript or TypeScript; undefined for none yet. */
  readonly script: string | undefined;
  readonly options: ScriptOptions;
  readonly listen: { readonly host: string; readonly port: number } | { readonly path: string };
  /** The database, for `graphql` and `dql`. */
  readonly databaseUrl: string;
  /** A socket file that leads to it, in place of the address. */
  readonly databaseSocket?: string;
  /** Sent to the database as X-Auth-Token; undefined for none. */
  readonly token: string | undefined;
  /** Hosts that `fetch` may ask. */
  readonly hosts: readonly string[];
  readonly limits: LambdaLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface LambdaServer {
  /** undefined on a socket. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** Names of the resolvers that the script registers. */
  readonly resolvers: readonly string[];
  /**
   * From then on another text; calls under way end with the one that they began with. Where it throws (as the start
   * does) everything stays.
   */
  reload(script: string | undefined): Promise<LoadedScript>;
  close(): Promise<void>;
  /** At once, as the process's last act. */
  kill(): void;
}

export interface LoadedScript {
  readonly resolvers: readonly string[];
  /** The script and all that it imports. */
  readonly files: readonly string[];
}

/** Resolves when it answers. Throws E_STARTUP with one line: a script that does not compile or load, a port in use. */
export async function openLambdaServer(given: LambdaServerOptions): Promise<LambdaServer> {
  const { limits, logger, hosts, token, databaseUrl, databaseSocket } = given;
  const answerAsk = openGateway({
    databaseUrl,
    databaseSocket,
    token,
    hosts,
    timeoutMs: limits.wallMs,
    bodyBytesMax: limits.bodyBytesMax,
  });
  const load = async (script: string | undefined): Promise<Loaded> => {
    if (script === undefined) return { pool: undefined, files: [] };
    const code = await bundleScript(script, limits.scriptBytesMax);
    return { pool: await openPool({ ...given, code, answerAsk }), files: code.files };
  };
  let { pool } = await load(given.script);
  const retiring = new Set<LambdaPool>();
  const server = createServer({ keepAliveTimeout: 75_000 }, (req, res) => {
    answer(req, res, () => pool, limits.bodyBytesMax).catch((error: unknown) => {
      logger.error("a call failed inside", { error: String(error) });
    });
  });
  try {
    await listen(server, given.listen);
  } catch (error) {
    await pool?.close();
    throw error;
  }
  const address = server.address();
  return {
    address: isAddress(address) ? { host: address.address, port: address.port } : undefined,
    resolvers: pool?.names ?? [],
    async reload(script) {
      const next = await load(script);
      const old = pool;
      pool = next.pool;
      if (old !== undefined) {
        retiring.add(old);
        void old.retire().then(() => retiring.delete(old));
      }
      return { resolvers: pool?.names ?? [], files: next.files };
    },
    kill: () => {
      for (const one of [pool, ...retiring]) one?.kill();
    },
    close: async () => {
      server.close();
      await Promise.all([pool, ...retiring].flatMap((one) => one?.close() ?? []));
      server.closeAllConnections();
    },
  };
}

interface Loaded {
  /** undefined: there are no resolvers. */
  readonly pool: LambdaPool | undefined;
  readonly files: readonly string[];
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

function listen(server: Server, where: LambdaServerOptions["listen"]): Promise<void> {
  if ("path" in where) rmSync(where.path, { force: true });
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const place = "path" in where ? where.path : `${where.host}:${where.port}`;
      const why = error.code === "EADDRINUSE" ? "it is in use" : (error.code ?? error.message);
      reject(new Fault("E_STARTUP", `the lambda server cannot listen on ${place}: ${why}`));
    });
    server.listen(where, () => resolve());
  });
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  poolNow: () => LambdaPool | undefined,
  bodyBytesMax: number,
): Promise<void> {
  try {
    send(res, refuse(req) ?? (await run(req, poolNow, bodyBytesMax)));
  } catch (error) {
    res.destroy();
    // A body that does not end is its sender's doing; anything else is ours, and goes to the log.
    if (req.complete) throw error;
  }
}

/** Web pages may not call resolvers: browsers say where a request comes from, databases do not. */
function refuse(req: IncomingMessage): WireAnswer | undefined {
  if (req.url?.split("?")[0] !== workerPath) return { status: 404, body: "" };
  if (req.method !== "POST") return { status: 404, body: "" };
  if (req.headers.origin !== undefined) return { status: 403, body: "" };
  if (!/^application\/json\b/i.test(req.headers["content-type"] ?? "")) {
    return failure(415, "The body of a call is application/json.");
  }
  return undefined;
}

async function run(
  req: IncomingMessage,
  poolNow: () => LambdaPool | undefined,
  bodyBytesMax: number,
): Promise<WireAnswer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bodyBytesMax) {
      return failure(413, `The body of a call is larger than ${bodyBytesMax} bytes.`);
    }
    parts.push(part);
  }
  const body = Buffer.concat(parts).toString("utf8");
  const resolver = resolverOf(body);
  if (resolver === undefined) return failure(400, "The body of a call names its resolver.");
  const { [timeLeftHeader]: left, [partialHeader]: partial } = req.headers;
  // The pool of now: while the body came, another may have taken the place of the one before.
  const pool = poolNow();
  if (pool === undefined) return failure(400, `there is no resolver "${resolver}"`);
  return pool.run({
    resolver,
    body,
    leftMs: timeLeft(left),
    isPartial: partial !== undefined,
  });
}

/** Infinity where the sender does not tell. */
function timeLeft(header: string | string[] | undefined): number {
  return typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : Infinity;
}

function resolverOf(body: string): string | undefined {
  try {
    const { resolver } = JSON.parse(body) as { resolver?: unknown };
    return typeof resolver === "string" ? resolver : undefined;
  } catch {
    return undefined;
  }
}

function send(res: ServerResponse, { status, body }: WireAnswer): void {
  const bytes = Buffer.from(body);
  const isJson = status === 200 || body.startsWith("{");
  res.writeHead(status, {
    "content-type": isJson ? "application/json" : "text/plain",
    "content-length": bytes.length,
  });
  res.end(bytes);
}
