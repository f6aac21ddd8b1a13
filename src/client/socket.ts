/** Subscriptions over one WebSocket (`graphql-transport-ws`), which is there while anything is subscribed to. */
import type { GraphqlError, GraphqlResult, WebSocketMaker, Signal } from "./api.ts";
import { errorOf, makeError } from "./database-error.ts";
import type { Ending, Listen, Listener } from "./listening.ts";

/** What is used of one. */
interface WebSocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: never) => void,
  ): void;
}

interface SocketOptions {
  readonly url: string;
  readonly WebSocket: WebSocketMaker;
  /** The payload of `connection_init`. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
}

export interface SocketListening {
  readonly listen: Listen;
  close(): void;
}

/** Headers of a single subscription have no place in the protocol: it gets a socket of its own. */
export function listenBySocket(options: SocketOptions): SocketListening {
  let shared: Socket | undefined;
  const open = (headers: Readonly<Record<string, string>>): Socket => {
    if (Object.keys(headers).length > 0) return new Socket(options, headers);
    if (shared === undefined || shared.isOver) shared = new Socket(options, {});
    return shared;
  };
  return {
    listen: (body, headers, listener, signal) => open(headers).subscribe(body, listener, signal),
    close: () => shared?.end(),
  };
}

/** After which nothing would be better at the next try. */
const finalCodes: ReadonlySet<number> = new Set([4400, 4401, 4403, 4406, 4409, 4429]);
const silenceMs = 15_000;

interface Message {
  readonly type?: string;
  readonly id?: string;
  readonly payload?: unknown;
}

interface Subscribed {
  readonly body: string;
  readonly listener: Listener;
  end(ending: Ending): void;
  fail(error: Error): void;
}

class Socket {
  isOver = false;
  readonly #socket: WebSocketLike;
  readonly #subscribed = new Map<string, Subscribed>();
  #isReady = false;
  #lastId = 0;
  #isSilent = false;
  readonly #watch: ReturnType<typeof setInterval>;

  constructor({ url, WebSocket, headers }: SocketOptions, own: Readonly<Record<string, string>>) {
    const Made = WebSocket as unknown as new (url: string, protocol: string) => WebSocketLike;
    const socket = new Made(url.replace(/^http/, "ws"), "graphql-transport-ws");
    this.#socket = socket;
    socket.addEventListener("open", () => {
      headers().then(
        (all) => this.#say({ type: "connection_init", payload: { ...all, ...own } }),
        (error: Error) => this.#failAll(error),
      );
    });
    socket.addEventListener("message", ({ data }: { readonly data: unknown }) =>
      this.#hear(String(data)),
    );
    socket.addEventListener("close", (event: { readonly code: number; readonly reason: string }) =>
      this.#closed(event),
    );
    // A close follows.
    socket.addEventListener("error", () => {});
    this.#watch = setInterval(() => this.#look(), silenceMs);
  }

  subscribe(body: string, listener: Listener, signal: Signal): Promise<Ending> {
    const id = String(++this.#lastId);
    return new Promise<Ending>((resolve, reject) => {
      const stop = (): void => {
        if (this.#isReady && !this.isOver) this.#say({ id, type: "complete" });
        one.end({ kind: "done" });
      };
      const leave = (): void => {
        signal.removeEventListener("abort", stop);
        this.#subscribed.delete(id);
        if (this.#subscribed.size === 0) this.end();
      };
      const one: Subscribed = {
        body,
        listener,
        end: (ending) => {
          resolve(ending);
          leave();
        },
        fail: (error) => {
          reject(error);
          leave();
        },
      };
      this.#subscribed.set(id, one);
      if (this.#isReady) this.#start(id, body);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.#watch);
    this.#socket.close(1000, "done");
    for (const one of this.#subscribed.values()) one.end({ kind: "done" });
  }

  #start(id: string, body: string): void {
    // The body of a request is the payload of a subscription.
    this.#socket.send(`{"id":${JSON.stringify(id)},"type":"subscribe","payload":${body}}`);
  }

  #say(message: Message): void {
    this.#socket.send(JSON.stringify(message));
  }

  #hear(text: string): void {
    this.#isSilent = false;
    const { type, id = "", payload } = JSON.parse(text) as Message;
    const one = this.#subscribed.get(id);
    if (type === "connection_ack") {
      this.#isReady = true;
      for (const [each, { body }] of this.#subscribed) this.#start(each, body);
    } else if (type === "ping") this.#say({ type: "pong" });
    else if (type === "next") one?.listener.answer(payload as GraphqlResult<unknown>);
    else if (type === "error") one?.fail(errorOf(payload as readonly GraphqlError[], 200));
    else if (type === "complete") one?.end({ kind: "done" });
  }

  #closed({ code, reason }: { readonly code: number; readonly reason: string }): void {
    clearInterval(this.#watch);
    this.isOver = true;
    const error = makeError("Unreachable", `the WebSocket was closed (${code}${reason === "" ? "" : `: ${reason}`})`); // prettier-ignore
    if (finalCodes.has(code)) this.#failAll(error);
    else for (const one of this.#subscribed.values()) one.end({ kind: "lost", error });
  }

  #failAll(error: Error): void {
    for (const one of this.#subscribed.values()) one.fail(error);
  }

  /** A connection that is lost without a word is noticed: a ping that nobody answers. */
  #look(): void {
    if (this.#isSilent || !this.#isReady) {
      this.#closed({ code: 1006, reason: "silence" });
      this.#socket.close();
      return;
    }
    this.#isSilent = true;
    this.#say({ type: "ping" });
  }
}
