/** Streams of HTTP/2 as the requests and responses that the routes know from HTTP/1.1. */
import {
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { Socket } from "node:net";

/** The connections below the sessions: what a session itself shows of its own throws when it has ended. */
const sockets = new WeakMap<Http2Session, Socket>();

export function noteSocket(session: Http2Session, socket: Socket): void {
  sockets.set(session, socket);
}

function socketOf({ session }: ServerHttp2Stream): Socket {
  return (session === undefined ? undefined : sockets.get(session)) ?? gone;
}

/** In place of one that has ended. */
const gone = new Socket().destroy();

/** What of a head belongs to a connection of HTTP/1.1. */
const ofConnections: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** What is built upon, without what is answered otherwise below. */
const BaseRequest = Http2ServerRequest as unknown as new (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  options: object,
  rawHeaders: readonly string[],
) => { readonly stream: ServerHttp2Stream };
const BaseResponse = Http2ServerResponse as unknown as new (stream: ServerHttp2Stream) => {
  readonly stream: ServerHttp2Stream;
  setHeader(name: string, value: string): void;
  writeHead(status: number, ...more: unknown[]): unknown;
};

export class Request extends BaseRequest {
  readonly #socket: Socket;
  #isWhole = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    options: object,
    rawHeaders: readonly string[],
  ) {
    const authority = headers[":authority"];
    if (authority !== undefined) headers.host = authority;
    super(stream, headers, options, rawHeaders);
    this.#socket = socketOf(stream);
    stream.once("end", () => (this.#isWhole = !stream.aborted));
  }

  /** Of one that was broken off the base class says that it is, and ends its body as if it were. */
  get complete(): boolean {
    return this.#isWhole;
  }

  get socket(): Socket {
    return this.#socket;
  }
}

export class Response extends BaseResponse {
  /** Connections end when the client likes; nothing that was not read stands between two requests. */
  shouldKeepAlive = true;
  readonly #socket: Socket;

  constructor(stream: ServerHttp2Stream) {
    super(stream);
    this.#socket = socketOf(stream);
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  get writableNeedDrain(): boolean {
    return this.stream.writableNeedDrain;
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** `headers`: flat, or by name. */
  override writeHead(status: number, ...more: unknown[]): unknown {
    const headers = more.at(-1);
    if (Array.isArray(headers)) {
      for (let i = 0; i < headers.length; i += 2) {
        this.#put(String(headers[i]), headers[i + 1] as string);
      }
    } else if (typeof headers === "object" && headers !== null) {
      for (const [name, value] of Object.entries(headers)) this.#put(name, value as string);
    }
    return super.writeHead(status);
  }

  #put(name: string, value: string | undefined): void {
    if (value !== undefined && !ofConnections.has(name.toLowerCase())) {
      this.setHeader(name, value);
    }
  }
}
