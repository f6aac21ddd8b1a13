/** Readers of the change feed for tests: lines of JSON or server-sent events, one event after the other. */
import { request, type IncomingMessage } from "node:http";
import type { Json } from "./server.ts";

export interface FeedReader {
  readonly status: number;
  readonly contentType: string;
  /** Everything but heartbeats so far, oldest first, as it was parsed. */
  readonly events: Json[];
  /** Of server-sent events: the ids in their order, heartbeats included. */
  readonly ids: string[];
  /** The newest position that was told of as complete. */
  position(): string;
  /** The next event that no call has given yet, heartbeats aside; undefined at the end. */
  next(): Promise<Json | undefined>;
  /** Takes nothing more from the socket, and goes on. */
  pause(): void;
  resume(): void;
  /** Everything up to the end of the stream. */
  rest(): Promise<Json[]>;
  close(): void;
}

/** `path` begins with /changes. Resolves with the head of the answer; refusals have their error as the only event. */
export async function follow(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<FeedReader> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url + path, { headers, agent: false }, resolve);
    asked.once("error", reject);
    asked.end();
  });
  return new Reader(response);
}

class Reader implements FeedReader {
  readonly status: number;
  readonly contentType: string;
  readonly events: Json[] = [];
  readonly ids: string[] = [];
  readonly #response: IncomingMessage;
  #position = "";
  #given = 0;
  #isEnded = false;
  #text = "";
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.contentType = String(response.headers["content-type"]);
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#hear(text));
    for (const end of ["end", "error", "close"]) {
      response.once(end, () => {
        this.#isEnded = true;
        if (this.status !== 200 && this.#text !== "") this.#take(this.#text);
        this.#text = "";
        this.#wake();
      });
    }
  }

  position(): string {
    return this.#position;
  }

  async next(): Promise<Json | undefined> {
    while (this.#given >= this.events.length) {
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.events[this.#given++];
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  async rest(): Promise<Json[]> {
    const found: Json[] = [];
    for (let one = await this.next(); one !== undefined; one = await this.next()) found.push(one);
    return found;
  }

  close(): void {
    this.#response.destroy();
  }

  #hear(text: string): void {
    this.#text += text;
    const isEvents = this.contentType.startsWith("text/event-stream");
    const blocks = this.#text.split(isEvents ? "\n\n" : "\n");
    this.#text = blocks.pop() ?? "";
    for (const block of blocks) {
      if (!isEvents) this.#take(block);
      else {
        const [, id] = /^id: (.*)$/m.exec(block) ?? [];
        if (id !== undefined) this.ids.push(id);
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) this.#take(data);
      }
    }
    this.#wake();
  }

  #take(text: string): void {
    const event = JSON.parse(text) as Json;
    if (event["more"] === undefined && event["position"] !== undefined) {
      this.#position = String(event["position"]);
    }
    if (String(event["kind"]) !== "heartbeat") this.events.push(event);
  }
}
