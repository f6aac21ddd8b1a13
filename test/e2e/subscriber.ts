/** A WebSocket client for tests: what comes waits until somebody asks for it. */
import { WebSocket } from "ws";
import type { ClientOptions } from "ws";

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

// A message's JSON, taken as it comes: a test says what it expects.
export type Message = Record<string, unknown>;

export class Subscriber {
  readonly socket: WebSocket;
  readonly #messages: (Message | Closed)[] = [];
  #wake: (() => void) | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      const payload = message["payload"];
      // How long it took is nobody's expectation.
      if (typeof payload === "object" && payload !== null && "extensions" in payload) {
        delete payload.extensions;
      }
      this.#keep(message);
    });
    socket.on("close", (code, reason) => this.#keep({ code, reason: reason.toString() }));
    socket.on("error", () => {});
  }

  send(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The next message, or why there is none any more. */
  async next(): Promise<Message | Closed> {
    while (this.#messages.length === 0) await new Promise<void>((done) => (this.#wake = done));
    return this.#messages.shift()!;
  }

  get waiting(): number {
    return this.#messages.length;
  }

  /** Sends, and waits for what comes of it. */
  async ask(message: object | string): Promise<Message | Closed> {
    this.send(message);
    return await this.next();
  }

  #keep(message: Message | Closed): void {
    this.#messages.push(message);
    this.#wake?.();
  }
}

/** Rejects with the status of a refusal. */
export function connect(
  url: string,
  protocol: string | string[],
  options: ClientOptions = {},
): Promise<Subscriber> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, protocol, options);
    const subscriber = new Subscriber(socket);
    socket.once("open", () => resolve(subscriber));
    socket.once("unexpected-response", (_, response) =>
      reject(new Error(`${response.statusCode}`)),
    );
    socket.once("error", reject);
  });
}

export const older = "graphql-ws";
export const newer = "graphql-transport-ws";

/** Connected and introduced. */
export async function connectOlder(url: string, payload: object = {}): Promise<Subscriber> {
  const subscriber = await connect(url, older);
  await subscriber.ask({ type: "connection_init", payload });
  return subscriber;
}

export async function connectNewer(url: string, payload?: object): Promise<Subscriber> {
  const subscriber = await connect(url, newer);
  await subscriber.ask({ type: "connection_init", payload });
  return subscriber;
}
