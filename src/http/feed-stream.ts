/**
 * One open change feed on its way to its reader. What the reader does not take waits in the log: of a slow one no more
 * than some events are in memory.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import type { FeedEvent, FeedFollower } from "../feed/change-feed.ts";
import { Fault } from "../model/fault.ts";
import { idHeader } from "./reply.ts";
import type { Stream, Streams } from "./streams.ts";
import { watchedOf } from "./watched-request.ts";

interface FeedStreamOptions {
  readonly follower: FeedFollower;
  /** Else it says where it ends. */
  readonly follows: boolean;
  readonly format: "lines" | "events";
  readonly clock: Clock;
  /** Flat. */
  readonly headers: readonly string[];
  /** Whether the reader's rights still hold. */
  readonly isWelcome: () => Promise<boolean>;
  /** It ended for a reason that is nobody's but ours. */
  readonly onBroken: (error: unknown) => void;
}

const contentTypes = { lines: "application/x-ndjson", events: "text/event-stream" } as const;

/** So many characters go in one write. */
const writeCharacters = 64 * 1024;

export class FeedStream implements Stream {
  readonly #res: ServerResponse;
  readonly #streams: Streams;
  readonly #options: FeedStreamOptions;
  #text = "";

  constructor(res: ServerResponse, streams: Streams, options: FeedStreamOptions) {
    this.#res = res;
    this.#streams = streams;
    this.#options = options;
  }

  /** Resolves when it is over. Never rejects. */
  async run(): Promise<void> {
    const { follower, follows } = this.#options;
    this.#begin();
    try {
      this.#append(this.#signOf("heartbeat"));
      await this.#flush();
      for await (const event of follower.events()) {
        if (event !== undefined) this.#append(event);
        if (event === undefined || this.#text.length >= writeCharacters) await this.#flush();
        if (this.#isOver) break;
      }
      if (!follows && !follower.isClosed) this.#append(this.#signOf("end"));
    } catch (error) {
      this.#append(this.#errorOf(error));
    }
    this.#end();
  }

  /** Where the reader stands: what was not for it is behind it too. */
  beat(): void {
    if (this.#isOver || this.#res.writableNeedDrain) return;
    const sign = this.#signOf("heartbeat");
    // Behind what was told and waits to be written.
    if (this.#text !== "") this.#append(sign);
    else this.#res.write(this.#print(sign));
    this.#recheck().catch(() => this.cut());
  }

  /** The reader asks again, and another process answers. */
  leave(): void {
    this.#end();
  }

  cut(): void {
    this.#res.destroy();
  }

  async #recheck(): Promise<void> {
    if (await this.#options.isWelcome()) return;
    this.#append(this.#errorOf(new Fault("E_UNAUTHORIZED", "the right to follow has ended")));
    this.#end();
  }

  get #isOver(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  #begin(): void {
    const res = this.#res;
    res.once("close", () => {
      this.#streams.remove(this);
      this.#options.follower.close();
    });
    this.#streams.add(this);
    const watched = watchedOf(res);
    if (watched !== undefined) watched.status = 200;
    res.writeHead(200, [
      "Content-Type",
      `${contentTypes[this.#options.format]}; charset=utf-8`,
      "Cache-Control",
      "no-cache, no-store",
      "X-Accel-Buffering",
      "no",
      "X-Content-Type-Options",
      "nosniff",
      ...(watched === undefined ? [] : [idHeader, watched.id]),
      ...this.#options.headers,
    ]);
  }

  #signOf(kind: "heartbeat" | "end"): FeedEvent {
    const { follower, clock } = this.#options;
    const { position } = follower;
    const time = new Date(clock.nowMs()).toISOString();
    const json = `{"kind":"${kind}","position":"${position}","time":"${time}"}`;
    return { kind, completes: position, json };
  }

  #errorOf(error: unknown): FeedEvent {
    const { follower, onBroken } = this.#options;
    if (!(error instanceof Fault)) onBroken(error);
    const { code, message } =
      error instanceof Fault
        ? error
        : { code: "E_INTERNAL", message: "the server's log tells why" };
    const { position } = follower;
    const json = JSON.stringify({ kind: "error", position, code, message });
    return { kind: "error", completes: undefined, json };
  }

  #append(event: FeedEvent): void {
    this.#text += this.#print(event);
  }

  #print({ kind, completes, json }: FeedEvent): string {
    if (this.#options.format === "lines") return `${json}\n`;
    const id = completes === undefined ? "" : `id: ${completes}\n`;
    return `${id}event: ${kind}\ndata: ${json}\n\n`;
  }

  async #flush(): Promise<void> {
    const res = this.#res;
    const text = this.#text;
    this.#text = "";
    if (text === "" || this.#isOver || res.write(text)) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        res.off("drain", go);
        res.off("close", go);
        resolve();
      };
      res.once("drain", go);
      res.once("close", go);
    });
  }

  #end(): void {
    this.#options.follower.close();
    if (this.#isOver) return;
    const text = this.#text;
    this.#text = "";
    this.#res.end(text);
  }
}
