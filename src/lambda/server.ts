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
import type { LambdaLimits } from "./limits.ts";
import { openPool } from "./pool.ts";
import type { LambdaPool } from "./pool.ts";
import { failure, timeLeftHeader, workerPath } from "./wire.ts";
import type { WireAnswer } from "./wire.ts";

export interface LambdaServerOptions {
  /** The user's file: JavaScript or TypeScript. */
  readonly script: string;
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
  close(): Promise<void>;
  /** At once, as the process's last act. */
  kill(): void;
}

/** Resolves when it answers. Throws E_STARTUP with one line: a script that does not compile or load, a port in use. */
export async function openLambdaServer(options: LambdaServerOptions): Promise<LambdaServer> {
  const { limits, clock, logger, hosts, token, databaseUrl, databaseSocket } = options;
  const code = await bundleScript(options.script, limits.scriptBytesMax);
  const answerAsk = openGateway({
    databaseUrl,
    databaseSocket,
    token,
    hosts,
    timeoutMs: limits.wallMs,
    bodyBytesMax: limits.bodyBytesMax,
  });
  const pool = await openPool({ code, limits, clock, logger, answerAsk });
  const server = createServer({ keepAliveTimeout: 75_000 }, (req, res) => {
    answer(req, res, pool, limits.bodyBytesMax).catch((error: unknown) => {
      logger.error("a call failed inside", { error: String(error) });
    });
  });
  try {
    await listen(server, options.listen);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const address = server.address();
  return {
    address: isAddress(address) ? { host: address.address, port: address.port } : undefined,
    resolvers: pool.names,
    kill: () => pool.kill(),
    close: async () => {
      server.close();
      await pool.close();
      server.closeAllConnections();
    },
  };
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
  pool: LambdaPool,
  bodyBytesMax: number,
): Promise<void> {
  try {
    send(res, refuse(req) ?? (await run(req, pool, bodyBytesMax)));
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
  pool: LambdaPool,
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
  return pool.run(resolver, body, timeLeft(req.headers[timeLeftHeader]));
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
