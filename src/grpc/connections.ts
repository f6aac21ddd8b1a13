/** The connections of the clients' protocol: HTTP/2 that begins at once, bounded in number and in what each may ask for. */
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { guardSession, http2Bounds, markPeer, privatePeer } from "../http/interface.ts";

/** The head of a connection must have arrived by then; one on which nothing is asked ends later. */
const headMs = 20_000;
const idleMs = 5 * 60_000;

/** What was under way on a connection that has become silent is given up after so long. */
const graceMs = 10_000;

/** Asked at each connection: how many there may be, and what is told to one that is too many. */
interface Bound {
  readonly connectionsMax: number;
  readonly words: string;
}

interface ConnectionsOptions {
  readonly clock: Clock;
  /** Undefined: what comes is from processes of this server. */
  readonly bound: Bound | undefined;
  /** `socket`: its peer is marked. */
  readonly answer: (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    socket: Socket,
    rawHeaders: readonly string[],
  ) => void;
}

export class Connections {
  readonly #server: Http2Server;
  readonly #options: ConnectionsOptions;
  readonly #sessions = new Set<ServerHttp2Session>();
  #isDraining = false;
  #accepting: Socket | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#server = createServer(http2Bounds);
    this.#server.on("session", (session) => this.#open(session));
    this.#server.on("sessionError", () => {});
    // Its listener is on each session.
    this.#server.on("stream", () => {});
  }

  get count(): number {
    return this.#sessions.size;
  }

  accept(socket: Socket): void {
    this.#accepting = socket;
    this.#server.emit("connection", socket);
    this.#accepting = undefined;
  }

  /** On a socket file of its own. */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ path }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  /** Tells clients to call elsewhere, and resolves when what is under way is answered. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#server.listening) this.#server.close();
    const ends = [...this.#sessions].map(
      (session) => new Promise<void>((resolve) => session.once("close", resolve)),
    );
    for (const session of this.#sessions) session.close();
    await Promise.all(ends);
  }

  #open(session: ServerHttp2Session): void {
    const { clock, bound, answer } = this.#options;
    session.on("error", () => {});
    if (bound !== undefined && this.#sessions.size >= bound.connectionsMax) {
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(bound.words));
      session.close();
      setTimeout(() => session.destroy(), graceMs).unref();
      return;
    }
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    // Peers are marked on the socket itself: what the session shows of it throws when it has ended.
    const socket = this.#accepting ?? (privateSocket as Socket);
    session.setTimeout(headMs, () => end(session));
    session.once("remoteSettings", () => session.setTimeout(idleMs));
    guardSession(session, clock);
    session.on("stream", (stream, headers, _flags, rawHeaders: readonly string[] = []) => {
      stream.on("error", () => {});
      answer(stream, headers, socket, rawHeaders);
    });
    if (this.#isDraining) session.close();
  }
}

/** In place of the sockets of this server's own processes. */
const privateSocket = {};
markPeer(privateSocket, privatePeer);

function end(session: ServerHttp2Session): void {
  session.close();
  setTimeout(() => session.destroy(), graceMs).unref();
}
