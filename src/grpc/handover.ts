/** Hands a call, whole, to the process that holds its transaction, and its answer back. */
import { Buffer } from "node:buffer";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { connect as connectSocket } from "node:net";
import { handedOverFrom } from "../http/interface.ts";
import { handedOverMetadata, textOf } from "./sender.ts";
import { CallRefusal, status } from "./status.ts";
import { contentType, frame, type Framed, printTimeout, unescapeWords } from "./wire.ts";

interface HandedOver {
  readonly path: string;
  readonly bytes: Buffer;
  /** The head of the call. */
  readonly metadata: IncomingHttpHeaders;
  readonly address: string;
  /** Of the request, by which operators find it. */
  readonly id: string;
  /** What is left of the client's time; Infinity: it waits for ever. */
  readonly leftMs: number;
  /** Whose end ends the call. */
  readonly stream: ServerHttp2Stream;
  readonly mayCommit: boolean;
}

export class Handover {
  readonly #sessions = new Map<string, ClientHttp2Session>();
  /** Those whose owner was there. */
  readonly #connected = new WeakSet<ClientHttp2Session>();

  /** The answer behind its prefix. Throws CallRefusal, in the owner's words; without an owner the transaction is gone. */
  send(owner: string, call: HandedOver): Promise<Framed> {
    const session = this.#sessionOf(owner);
    return new Promise((resolve, reject) => {
      const asked = session.request(headOf(call));
      const mayCommit = (): boolean => call.mayCommit && this.#connected.has(session);
      const answer = new Answer(asked, { resolve, reject, mayCommit });
      call.stream.once("close", answer.callOff);
      asked.once("close", () => call.stream.off("close", answer.callOff));
      const { start, rest } = frame(nothing, call.bytes);
      asked.write(start);
      asked.end(rest);
    });
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  /** Whoever follows an owner that has died listens at the same place soon. */
  #sessionOf(owner: string): ClientHttp2Session {
    const open = this.#sessions.get(owner);
    if (open !== undefined && !open.closed && !open.destroyed) return open;
    const session = connect("http://localhost", {
      createConnection: () => connectSocket(owner),
      // What the owner answers to its own client is as large as it likes.
      settings: { initialWindowSize: answerWindow, enablePush: false },
    });
    session.on("error", () => {});
    session.once("connect", () => this.#connected.add(session));
    const forget = (): void => {
      if (this.#sessions.get(owner) === session) this.#sessions.delete(owner);
    };
    session.once("close", forget);
    session.once("goaway", forget);
    session.unref();
    this.#sessions.set(owner, session);
    return session;
  }
}

const nothing = Buffer.alloc(0);

const answerWindow = 1024 * 1024;

function headOf({ path, metadata, address, id, leftMs }: HandedOver): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = {
    ":method": "POST",
    ":path": path,
    ":authority": textOf(metadata, ":authority") ?? metadata.host ?? "localhost",
    "content-type": contentType,
    te: "trailers",
  };
  for (const name of handedOverMetadata) {
    const value = textOf(metadata, name);
    if (value !== undefined) head[name] = value;
  }
  head[handedOverFrom] = address;
  head["x-request-id"] = id;
  const timeout = printTimeout(leftMs);
  if (timeout !== undefined) head["grpc-timeout"] = timeout;
  return head;
}

interface Waiting {
  readonly resolve: (framed: Framed) => void;
  readonly reject: (refusal: CallRefusal) => void;
  /** Whether the owner may have committed. */
  readonly mayCommit: () => boolean;
}

class Answer {
  readonly #asked: ClientHttp2Stream;
  readonly #waiting: Waiting;
  readonly #chunks: Buffer[] = [];
  #status: CallRefusal | "ok" | undefined;

  constructor(asked: ClientHttp2Stream, waiting: Waiting) {
    this.#asked = asked;
    this.#waiting = waiting;
    asked.on("error", () => {});
    asked.on("data", (chunk: Buffer) => this.#chunks.push(chunk));
    asked.on("response", (headers) => this.#noteStatus(headers));
    asked.on("trailers", (headers) => this.#noteStatus(headers));
    asked.once("close", () => this.#finish());
  }

  /** Nobody waits any more. */
  readonly callOff = (): void => this.#asked.close(constants.NGHTTP2_CANCEL);

  #noteStatus(headers: IncomingHttpHeaders): void {
    const code = textOf(headers, "grpc-status");
    if (code === undefined) return;
    const words = unescapeWords(textOf(headers, "grpc-message") ?? "");
    this.#status = code === "0" ? "ok" : new CallRefusal(Number(code), words);
  }

  #finish(): void {
    const { resolve, reject } = this.#waiting;
    if (this.#status === "ok") resolve({ start: Buffer.concat(this.#chunks), rest: undefined });
    else reject(this.#status ?? this.#explainLoss());
  }

  /** The owner has ended before its answer. */
  #explainLoss(): OwnerLost {
    const isRefused = this.#asked.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    return !isRefused && this.#waiting.mayCommit()
      ? new OwnerLost(status.UNKNOWN, "the outcome of the transaction is unknown")
      : new OwnerLost(status.ABORTED, "Transaction has been aborted. Please retry");
  }
}

/** The owner did not answer: nobody else tells of the call. */
export class OwnerLost extends CallRefusal {}
