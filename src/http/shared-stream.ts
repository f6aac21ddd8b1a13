/**
 * An event stream that carries the answers of several operations, which come by requests of their own ("single connection
 * mode" of GraphQL over server-sent events): reserved first, opened by whoever shows its token, once. What is answered
 * before it is opened waits for it, within the bounds of one reader.
 */
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import type { SubscriptionEnd } from "../graphql/service/service.ts";
import { Outbox, viewOf } from "./outbox.ts";
import type { Lane } from "./outbox.ts";
import type { ServerContext } from "./server-context.ts";
import { eventStreamHead, signOfLife } from "./event-format.ts";
import type { Stream } from "./streams.ts";

/** Of one stream, by the name that its sender gave it. */
export interface StreamOperation extends Lane {
  readonly id: string;
  /** The other side does not want it any more. */
  readonly isStopped: boolean;
}

export interface SharedStreamParts {
  readonly bytesMax: number;
  readonly memory: ServerContext["memory"];
  /** Whether who has reserved it would still be let in. */
  readonly isWelcome: () => Promise<boolean>;
  /** Called once: nothing of it is left. */
  readonly onEnd: () => void;
}

class Operation implements StreamOperation {
  readonly id: string;
  isStopped = false;
  /** Ends the subscription below; undefined before it began, and for queries and mutations. */
  leave: (() => void) | undefined;
  readonly #out: PassThrough;
  readonly #name: string;

  constructor(id: string, out: PassThrough) {
    this.id = id;
    this.#out = out;
    this.#name = JSON.stringify(id);
  }

  write(answer: Uint8Array): void {
    const out = this.#out;
    if (out.destroyed || out.writableEnded) return;
    out.cork();
    out.write(`event: next\ndata: {"id":${this.#name},"payload":`);
    out.write(viewOf(answer));
    out.write("}\n\n");
    out.uncork();
  }

  close(): void {
    if (this.#out.destroyed || this.#out.writableEnded) return;
    this.#out.write(`event: complete\ndata: {"id":${this.#name}}\n\n`);
  }
}

export class SharedStream implements Stream {
  readonly #parts: SharedStreamParts;
  /** What is written before the stream is open waits in it. */
  readonly #out = new PassThrough();
  readonly #outbox: Outbox;
  readonly #operations = new Map<string, Operation>();
  #res: ServerResponse | undefined = undefined;
  #isBehind = false;

  constructor(parts: SharedStreamParts) {
    this.#parts = parts;
    const { bytesMax, memory } = parts;
    this.#outbox = new Outbox(this.#out, { bytesMax, memory, overflow: () => this.cut() });
    // A reader that is gone is no news.
    this.#out.on("error", () => {});
    this.#out.once("close", () => this.#end());
  }

  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  get operationCount(): number {
    return this.#operations.size;
  }

  /** `origins`: headers, flat. */
  open(res: ServerResponse, origins: readonly string[]): void {
    this.#res = res;
    res.writeHead(200, [...eventStreamHead, ...origins]);
    res.write(signOfLife);
    res.once("close", () => this.#out.destroy());
    if (res.destroyed) this.#out.destroy();
    else this.#out.pipe(res);
  }

  has(id: string): boolean {
    return this.#operations.has(id);
  }

  begin(id: string): StreamOperation {
    const operation = new Operation(id, this.#out);
    this.#operations.set(id, operation);
    return operation;
  }

  next({ id }: StreamOperation, answer: Uint8Array): void {
    const operation = this.#operations.get(id);
    if (operation !== undefined) this.#outbox.push(operation, answer);
  }

  /** The operation goes on until it is stopped, or the stream ends; `leave` then ends it below. */
  hold({ id }: StreamOperation, leave: () => void): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) leave();
    else operation.leave = leave;
  }

  /** Behind its last answer. */
  complete({ id }: StreamOperation): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    this.#operations.delete(id);
    this.#outbox.close(operation);
  }

  /** Ended from below: for a changed schema the whole stream is, since libraries then ask again. */
  ended(operation: StreamOperation, reason: SubscriptionEnd): void {
    if (reason === "schema") this.leave();
    else this.complete(operation);
  }

  /** Nothing of it follows. */
  stop(id: string): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    this.#operations.delete(id);
    operation.isStopped = true;
    operation.leave?.();
    this.#outbox.forget(operation);
  }

  beat(): void {
    if (this.#res === undefined) return;
    if (this.#isBehind && this.#outbox.isFull) this.cut();
    this.#isBehind = this.#outbox.isFull;
    if (!this.#isBehind && !this.#out.writableEnded) this.#out.write(signOfLife);
    this.#recheck().catch(() => this.cut());
  }

  /** A key that is revoked, or has expired, does not go on listening. */
  async #recheck(): Promise<void> {
    if (!(await this.#parts.isWelcome())) this.leave();
  }

  /** Without a last word: the reader's library then asks again. */
  leave(): void {
    this.#stopAll();
    if (this.#res === undefined) this.cut();
    else this.#out.end();
  }

  cut(): void {
    this.#out.destroy();
    this.#res?.destroy();
  }

  #stopAll(): void {
    for (const id of this.#operations.keys()) this.stop(id);
  }

  #end(): void {
    this.#stopAll();
    this.#parts.onEnd();
  }
}
