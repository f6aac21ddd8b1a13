/**
 * HTTP/2 for the same routes: streams as the requests and responses that those know. What a connection may ask for
 * beside requests is bounded in `http2-guards.ts`.
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
import { guardSession, headBytesMax, http2Bounds, weighHead } from "./http2-guards.ts";

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
    ...http2Bounds,
    Http2ServerRequest: Request as unknown as typeof Http2ServerRequest,
    Http2ServerResponse: Response as unknown as typeof Http2ServerResponse,
  });
  server.on("session", (session) => {
    if (accepting !== undefined) noteSocket(session, accepting);
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(idleMs, () => session.close());
    guardSession(session, clock);
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

function endLate(stream: ServerHttp2Stream, requestMs: number): void {
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
  timer.unref();
  const clear = (): void => clearTimeout(timer);
  stream.once("end", clear);
  stream.once("close", clear);
}
