/** The HTTP server of one process: the database routes in the handler itself, everything else through the framework. */
import fastify, { type FastifyInstance } from "fastify";
import { awaitSeen } from "./seen-header.ts";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { nameLimit } from "../model/limits.ts";
import { BodyCut, BodySlow, BodyTooLarge } from "./body.ts";
import { BodyWatch } from "./body-watch.ts";
import { wantsConsole } from "./console.ts";
import { type Exchange, readParameters } from "./exchange.ts";
import { handOver } from "./forward.ts";
import type { ServerContext } from "./server-context.ts";
import { type Http2Acceptor, openHttp2 } from "./http2.ts";
import { IdleReaders } from "./idle-readers.ts";
import { parseUint } from "./parameters.ts";
import { markPeer, type Peer, peerOf, privatePeer } from "./peer.ts";
import { addPlainRoutes } from "./plain-routes.ts";
import { largeAnswers, makeErrorBody, makeErrorReply, plainShape, sendError } from "./reply.ts";
import { RequestHold } from "./request-hold.ts";
import { findRoute, receive, type Route } from "./routes.ts";
import { serveSockets } from "./sockets.ts";
import { ReservedStreams } from "./reserved-streams.ts";
import { slotOfToken, streamTokenOf } from "./stream-token.ts";
import { Streams } from "./streams.ts";
import { setWatched } from "./watched-request.ts";
import { openTls, type TlsAcceptor, type TlsMaterial } from "./tls.ts";

/** Head and whole request must have arrived by then; a sender that dawdles is cut off. */
const headTimeoutMs = 20_000;
const requestTimeoutMs = 300_000;
const idleTimeoutMs = 75_000;

const serverOptions = {
  keepAliveTimeout: idleTimeoutMs,
  headersTimeout: headTimeoutMs,
  requestTimeout: requestTimeoutMs,
  connectionsCheckingInterval: 5_000,
  noDelay: true,
};

/** Of the routes beside the database's: a login, or nothing. */
const plainBodyBytesMax = 64 * 1024;

export interface HttpServer {
  /** Takes over a connection that another process has accepted, from where it says. */
  accept(socket: Socket, peer: Peer): void;
  /** The same, of a client that begins with TLS; its address is the connection's. */
  acceptTls(socket: Socket): void;
  /** For connections to come. */
  reloadTls(material: TlsMaterial): void;
  /**
   * Listens on a TCP port, or on a unix socket; what comes through the latter is believed to come from a process of
   * this server. Resolves with the address. Once per server: it also starts the clocks that cut off slow senders.
   */
  listen(where: { host: string; port: number } | { path: string }): Promise<string>;
  /** Takes no new connections, answers what is under way and resolves when nothing is. */
  drain(): Promise<void>;
  /** Cuts every connection. */
  cut(): void;
}

/** `tls`: for `acceptTls`; undefined: nobody comes that way. */
export async function openHttpServer(
  context: ServerContext,
  tls?: TlsMaterial,
): Promise<HttpServer> {
  const flow = new Flow();
  const streams = new Streams(context.limits.socketsMax, context.limits.keepAliveMs);
  const reserved = openReservedStreams(context, streams);
  const { bodyRateMin, bodyWindowMs } = context.limits;
  const rate = { bytesPerSecond: bodyRateMin, windowMs: bodyWindowMs };
  const bodies = new BodyWatch(context.clock, rate);
  const { clock, memory, limits } = context;
  largeAnswers.configure({ memory, clock, waitMs: limits.answerWaitMs });
  flow.endIdleReaders(new IdleReaders(clock, limits.answerWaitMs), limits.answerWaitMs / 4);
  let fallback: RequestListener = () => {};
  const answer: RequestListener = (req, res) => {
    if (flow.isDraining) res.shouldKeepAlive = false;
    const url = req.url ?? "/";
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const route = findRoute(path);
    if (route === undefined || (context.console !== undefined && wantsConsole(req, path))) {
      fallback(req, res);
      return;
    }
    const search = question < 0 ? "" : url.slice(question + 1);
    const hold = new RequestHold(context.memory);
    const watched = context.watch.begin(req, route.operation, search);
    setWatched(res, watched);
    // prettier-ignore
    const exchange = { req, res, context, streams, reserved, path, search, hold, bodies, watched, budget: undefined };
    void answerRoute(route, exchange, flow);
  };
  const server = createServer(serverOptions, answer);
  server.on("connection", (socket: Socket) => {
    markPeer(socket, peerOfListener(server, socket));
    flow.watch(socket);
  });
  serveSockets(server, context, streams);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuseConnection(error, socket as Socket);
  });
  const app = fastify({
    serverFactory: (handler) => {
      fallback = handler;
      return server;
    },
    bodyLimit: plainBodyBytesMax,
  });
  addPlainRoutes(app, context);
  answerErrors(app, context);
  await app.ready();
  if (tls === undefined) return new NodeHttpServer(server, flow, streams);
  const http2 = openHttp2({
    clock: context.clock,
    idleMs: idleTimeoutMs,
    requestMs: requestTimeoutMs,
    answer,
  });
  const acceptor = openTls(tls, (socket) => {
    markPeer(socket, { kind: "network", address: socket.remoteAddress ?? "" });
    if (socket.alpnProtocol === "h2") {
      flow.watch(socket);
      http2.accept(socket);
    } else server.emit("connection", socket);
  });
  return new NodeHttpServer(server, flow, streams, { http2, tls: acceptor });
}

function openReservedStreams(context: ServerContext, streams: Streams): ReservedStreams {
  const { reservedStreamsMax, socketInitMs } = context.limits;
  const { slot } = context.streamOwners;
  return new ReservedStreams({
    streams,
    slot,
    waitingMax: reservedStreamsMax,
    waitMs: socketInitMs,
  });
}

function answerErrors(app: FastifyInstance, context: ServerContext): void {
  app.setErrorHandler((error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    const answer =
      status < 500
        ? { status, body: makeErrorBody(String(error), "ErrorInvalidRequest", false) }
        : makeErrorReply(error, plainShape, context.logger);
    void reply.code(answer.status).type("application/json").send(answer.body);
  });
}

/** Of what comes through a listener of its own: who may reach a socket file is its directory's matter. */
function peerOfListener(server: Server, socket: Socket): Peer {
  if (typeof server.address() === "string") return privatePeer;
  return { kind: "network", address: socket.remoteAddress ?? "" };
}

/** What is under way: database requests by number, connections by name. */
class Flow {
  requestCount = 0;
  isDraining = false;
  readonly #sockets = new Set<Socket>();

  #readers: IdleReaders | undefined;

  watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#readers?.forget(socket);
    });
  }

  endIdleReaders(readers: IdleReaders, everyMs: number): void {
    this.#readers = readers;
    setInterval(() => readers.look(this.#sockets), Math.max(20, everyMs)).unref();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends connections as they become idle; resolves when there is none. */
  async runDry(server: Server): Promise<void> {
    this.isDraining = true;
    while (this.#sockets.size > 0) {
      server.closeIdleConnections();
      await new Promise((resolve) => setTimeout(resolve, drainStepMs));
    }
  }
}

const drainStepMs = 20;

/** Never rejects: whatever went wrong is an answer, or a connection that is cut. */
async function answerRoute(route: Route, exchange: Exchange, flow: Flow): Promise<void> {
  flow.requestCount++;
  try {
    const received = receive(route, exchange);
    if (!(received instanceof Promise ? await received : received)) return;
    if (flow.requestCount > exchange.context.limits.pendingMax) {
      const message = "429 Too Many Requests. Please throttle your requests";
      const body = makeErrorBody(message, "ErrorInvalidRequest", route.hasTransaction);
      sendError(exchange.res, { status: 200, body, headers: [] });
      return;
    }
    if (route.hasTransaction && exchange.search !== "") {
      const owner = await findOwner(exchange);
      if (owner !== undefined) {
        await handOver(exchange, owner);
        return;
      }
    }
    if (route.hasStreams === true) {
      const owner = await findStreamOwner(exchange);
      if (owner !== undefined) {
        await handOver(exchange, owner);
        return;
      }
    }
    const { seen } = exchange.context;
    const waiting = seen && awaitSeen(exchange, seen);
    if (waiting !== undefined) await waiting;
    await route.answer(exchange);
  } catch (error) {
    answerFailure(exchange, error);
  } finally {
    flow.requestCount--;
    exchange.hold.end();
    // A large answer that waits for its reader is counted by itself (large-answers.ts).
    exchange.budget?.end();
    exchange.context.watch.end(exchange.watched);
  }
}

/** A `startTs` that does not parse is the route's to refuse. */
async function findOwner(exchange: Exchange): Promise<string | undefined> {
  const params = readParameters(exchange);
  if (!/^\d+$/.test(params.get("startTs") ?? "")) return undefined;
  // Handed over once: the owner that was asked is this process, or has ended.
  if (peerOf(exchange.req).kind === "private") return undefined;
  const startTs = parseUint(params, "startTs");
  return startTs === 0 ? undefined : await exchange.context.transactions.findOwner(startTs);
}

/** Where the reserved stream that a request names is kept; undefined: here, or nowhere. */
async function findStreamOwner({ req, search, context }: Exchange): Promise<string | undefined> {
  const token = streamTokenOf(req, search);
  if (token === undefined || peerOf(req).kind === "private") return undefined;
  const slot = slotOfToken(token);
  return slot === undefined ? undefined : await context.streamOwners.findProcess(slot);
}

function answerFailure(exchange: Exchange, error: unknown): void {
  const { res, context } = exchange;
  if (error instanceof BodyCut) {
    res.destroy();
    return;
  }
  if (error instanceof BodyTooLarge) {
    const body = makeErrorBody(error.message, "ErrorInvalidRequest", false);
    refuseBody(exchange, { status: 413, body, headers: [] });
    return;
  }
  if (error instanceof BodySlow) {
    answerSlow(exchange);
    return;
  }
  const reply = makeErrorReply(error, plainShape, context.logger);
  if (exchange.req.complete) sendError(res, reply);
  else refuseBody(exchange, reply);
}

/** The answer leaves when the rest of the body was taken; who watches the request is told of it now, while it is counted. */
function refuseBody(exchange: Exchange, reply: Parameters<typeof sendError>[1]): void {
  const { res, watched } = exchange;
  watched.status = reply.status;
  watched.noteAnswer(reply.body);
  discardRest(exchange, () => sendError(res, reply));
}

/** The connection ends with the answer, and is cut when that is not taken. */
function answerSlow({ req, res, context }: Exchange): void {
  const { bodyRateMin, bodyWindowMs } = context.limits;
  const text = `The request's body brought less than ${bodyRateMin} bytes a second for ${bodyWindowMs / 1000} seconds`;
  const body = makeErrorBody(nameLimit("body-rate", text), "ErrorInvalidRequest", false);
  res.shouldKeepAlive = false;
  sendError(res, { status: 408, body, headers: [] });
  setTimeout(() => req.destroy(), lastWordMs).unref();
}

/** What is answered to a sender that dawdles has left by then, or is not taken. */
const lastWordMs = 2_000;

/**
 * How long, and how much of, a body that is refused goes on being read: a sender that still writes sees no answer. One
 * from whom nothing comes is waiting for it.
 */
const discardMs = 5_000;
const discardIdleMs = 200;
const discardBytesMax = 64 * 1024 * 1024;

function discardRest({ req, res }: Exchange, then: () => void): void {
  let size = 0;
  const finish = (): void => {
    clearTimeout(timer);
    clearTimeout(idle);
    req.removeAllListeners("data");
    if (!req.complete) res.shouldKeepAlive = false;
    then();
  };
  const timer = setTimeout(finish, discardMs);
  const idle = setTimeout(finish, discardIdleMs);
  req.removeAllListeners("data");
  req.on("data", (chunk: Uint8Array) => {
    size += chunk.length;
    idle.refresh();
    if (size > discardBytesMax) finish();
  });
  req.once("end", finish);
  if (req.complete && req.readableEnded) finish();
  else req.resume();
}

/** What is not HTTP, or too slow, or with too large a head. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const statuses: Readonly<Record<string, string>> = {
    HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
    ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  };
  const status = statuses[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

interface SecureParts {
  readonly http2: Http2Acceptor;
  readonly tls: TlsAcceptor;
}

class NodeHttpServer implements HttpServer {
  readonly #server: Server;
  readonly #flow: Flow;
  readonly #streams: Streams;
  readonly #secure: SecureParts | undefined;

  constructor(server: Server, flow: Flow, streams: Streams, secure?: SecureParts) {
    this.#server = server;
    this.#flow = flow;
    this.#streams = streams;
    this.#secure = secure;
  }

  acceptTls(socket: Socket): void {
    if (this.#secure === undefined) socket.destroy();
    else this.#secure.tls.accept(socket);
  }

  reloadTls(material: TlsMaterial): void {
    this.#secure?.tls.reload(material);
  }

  accept(socket: Socket, peer: Peer): void {
    markPeer(socket, peer);
    socket.setNoDelay(true);
    this.#server.emit("connection", socket);
    socket.resume();
  }

  async listen(where: { host: string; port: number } | { path: string }): Promise<string> {
    const server = this.#server;
    return await new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(where, () => {
        server.off("error", reject);
        const address = server.address();
        if (address === null || typeof address === "string") resolve(address ?? "");
        else resolve(`${address.address}:${address.port}`);
      });
    });
  }

  async drain(): Promise<void> {
    this.#server.close();
    this.#streams.drain();
    this.#secure?.http2.drain();
    await this.#flow.runDry(this.#server);
  }

  cut(): void {
    this.#streams.cut();
    this.#server.closeAllConnections();
    this.#flow.cut();
  }
}
