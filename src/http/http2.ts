/**
 * HTTP/2 for the same routes: streams as the requests and responses that those know, and bounds on what a connection may
 * ask for beside requests (streams that are reset at once, settings, pings, heads).
 */
import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  constants,
} from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { noteSocket, Request, Response } from "./http2-exchange.ts";

/** Requests under way on one connection. */
const streamsMax = 128;
/** Bytes of a head, and its fields: as for HTTP/1.1. */
const headBytesMax = 16 * 1024;
const headFieldsMax = 256;
/** Bytes that may be on their way to this process: on one stream, and on all of a connection. */
const streamWindow = 256 * 1024;
const connectionWindow = 1024 * 1024;
/** Mebibytes of one connection's state. */
const memoryMb = 8;

/**
 * Requests that a connection may call off in a second, beyond those that it was answered in it: each costs the work
 * that was begun, and nothing to whoever sends it.
 */
const resetsMax = 100;
const resetsMs = 1_000;

interface Http2Options {
  readonly clock: Clock;
  readonly idleMs: number;
  /** A whole request must have arrived by then. */
  readonly requestMs: number;
  readonly answer: (req: IncomingMessage, res: ServerResponse) => void;
}

export interface Http2Acceptor {
  /** Takes over a connection on which both sides speak HTTP/2. */
  accept(socket: Socket): void;
  /** Tells all clients to ask on other connections; each ends when what is under way on it is answered. */
  drain(): void;
}

export function openHttp2({ clock, idleMs, requestMs, answer }: Http2Options): Http2Acceptor {
  const sessions = new Set<ServerHttp2Session>();
  let accepting: Socket | undefined;

  const server: Http2Server = createServer({
    maxSessionMemory: memoryMb,
    maxHeaderListPairs: headFieldsMax,
    maxSendHeaderBlockLength: headBytesMax,
    maxOutstandingPings: 10,
    maxSettings: 32,
    maxSessionInvalidFrames: 50,
    maxSessionRejectedStreams: 50,
    settings: {
      maxConcurrentStreams: streamsMax,
      maxHeaderListSize: headBytesMax,
      initialWindowSize: streamWindow,
      enablePush: false,
    },
    Http2ServerRequest: Request as unknown as typeof Http2ServerRequest,
    Http2ServerResponse: Response as unknown as typeof Http2ServerResponse,
  });
  server.on("session", (session) => {
    if (accepting !== undefined) noteSocket(session, accepting);
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setLocalWindowSize(connectionWindow);
    session.setTimeout(idleMs, () => session.close());
    guardResets(session, clock);
  });
  server.on("sessionError", () => {});
  server.on("stream", (stream) => {
    if (!stream.readableEnded) endLate(stream, requestMs);
  });
  server.on("request", (req, res) => {
    if (weighHead(req.rawHeaders) > headBytesMax) {
      res.writeHead(431);
      res.end();
      return;
    }
    answer(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  });
  return {
    accept(socket) {
      accepting = socket;
      server.emit("connection", socket);
      accepting = undefined;
    },
    drain() {
      for (const session of sessions) session.close();
    },
  };
}

/** A client is bound by what it was told, once it has said that it knows. */
function weighHead(raw: readonly string[]): number {
  let bytes = 0;
  for (const text of raw) bytes += text.length;
  return bytes;
}

function guardResets(session: ServerHttp2Session, clock: Clock): void {
  let count = 0;
  let sinceMs = 0;
  session.on("stream", (stream) => {
    stream.once("close", () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      const nowMs = clock.tickMs();
      if (nowMs - sinceMs > resetsMs) {
        sinceMs = nowMs;
        count = 0;
      }
      if (++count > resetsMax) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}

function endLate(stream: ServerHttp2Stream, requestMs: number): void {
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
  timer.unref();
  const clear = (): void => clearTimeout(timer);
  stream.once("end", clear);
  stream.once("close", clear);
}
