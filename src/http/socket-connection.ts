/**
 * One WebSocket and its operations (reference/graphql 9.2). What the messages are called is the dialect's matter; this
 * keeps what both need: whose headers count, which operations run, and that a reader who does not read costs little.
 */
import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { drainingWords } from "../admin/interface.ts";
import { Fault } from "../model/fault.ts";
import { describeRequest, type RequestNames } from "../graphql/service/describe-request.ts";
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { GraphqlService, Subscriber, SubscriptionEnd } from "../graphql/service/service.ts";
import {
  decodeJson,
  encodeJson,
  isJsonObject,
  JsonSyntaxError,
} from "../graphql/operation/json.ts";
import type { JsonObject, JsonValue } from "../graphql/operation/json.ts";
import { findAccessRefusal } from "./access.ts";
import { recordOperation } from "./audit.ts";
import { askingOf, findQuotaRefusal, findRateRefusal, mustBeRecorded } from "./gate.ts";
import { hasErrors } from "./reply.ts";
import type { ServerContext } from "./server-context.ts";
import { mayListen } from "./origins.ts";
import { Outbox, viewOf } from "./outbox.ts";
import type { Lane } from "./outbox.ts";
import { makeRefusalFault } from "./refusal.ts";
import { rightOf } from "./rights.ts";
import type { Closing, Conversation, Dialect, Refused } from "./socket-dialect.ts";
import { openFrame } from "./socket-frame.ts";
import type { Stream, Streams } from "./streams.ts";

interface ConnectionParts {
  readonly webSocket: WebSocket;
  /** Below it: answers are written to it directly, as one frame around bytes that all readers share. */
  readonly socket: Socket;
  readonly dialect: Dialect;
  readonly context: ServerContext;
  readonly streams: Streams;
  readonly service: Pick<GraphqlService, "subscribe">;
  /** Of the upgrade. */
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
}

/** An operation under way. */
interface Operation extends Lane {
  readonly id: string;
  /** The other side does not want it any more. */
  isStopped: boolean;
  close: () => void;
  /** Ends the subscription below; undefined before it began, and for queries and mutations. */
  leave: (() => void) | undefined;
}

/** Beyond what may wait for a reader: room for words about it. */
const wordsBytesMax = 64 * 1024;

/** Converses on a WebSocket until it closes. */
export function openConnection(parts: ConnectionParts): void {
  parts.streams.add(new SocketConnection(parts));
}

class SocketConnection implements Stream, Conversation {
  isGreeted = false;
  readonly #parts: ConnectionParts;
  readonly #outbox: Outbox;
  readonly #operations = new Map<string, Operation>();
  #headers: GraphqlRequest["headers"];
  #isAlive = true;
  #firstWord: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { webSocket, socket, context } = parts;
    const { socketBufferBytesMax, socketInitMs } = context.limits;
    this.#headers = parts.headers;
    this.#outbox = new Outbox(socket, {
      bytesMax: socketBufferBytesMax,
      memory: context.memory,
      overflow: () => this.cut(),
    });
    this.#firstWord = setTimeout(() => this.close(initTimeout), socketInitMs).unref();
    webSocket.on("message", (data: Buffer) => this.#hear(data));
    webSocket.on("ping", (data: Buffer) => this.#answerPing(data));
    webSocket.on("pong", () => (this.#isAlive = true));
    // The library closes the socket by itself, with the code that belongs to the fault.
    webSocket.on("error", () => {});
    webSocket.on("close", () => this.#gone());
  }

  introduce(payload: JsonObject): void {
    const headers: Record<string, string | string[] | undefined> = { ...this.#parts.headers };
    for (const [name, value] of Object.entries(payload)) {
      if (typeof value === "string") headers[name.toLowerCase()] = value;
    }
    // Pages write what they like into a message, but not into these.
    for (const name of fromBrowser) headers[name] = this.#parts.headers[name];
    this.#headers = headers;
    this.greet();
  }

  greet(): void {
    this.isGreeted = true;
    clearTimeout(this.#firstWord);
  }

  has(id: string): boolean {
    return this.#operations.has(id);
  }

  start(id: string, payload: JsonValue): void {
    const { dialect, context } = this.#parts;
    if (this.#operations.size >= context.limits.socketSubscriptionsMax) {
      const message = `there are ${this.#operations.size} operations on this connection already`;
      dialect.refuse(this, id, { kind: "refused", message, errors: [{ message }] });
      return;
    }
    const operation: Operation = {
      id,
      isStopped: false,
      leave: undefined,
      write: (answer) => this.#writeAnswer(id, answer),
      close: () => this.say(dialect.completion(id)),
    };
    this.#operations.set(id, operation);
    this.#run(operation, encodeJson(payload)).catch((error: unknown) => {
      this.#forget(operation);
      if (operation.isStopped) return;
      const message = this.#explain(error);
      dialect.refuse(this, id, { kind: "refused", message, errors: [{ message }] });
    });
  }

  stop(id: string): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    this.#forget(operation);
    operation.isStopped = true;
    operation.leave?.();
    this.#outbox.forget(operation);
  }

  say(message: object): void {
    const { webSocket, socket, context } = this.#parts;
    if (socket.writableLength > context.limits.socketBufferBytesMax + wordsBytesMax) this.cut();
    else if (webSocket.readyState === webSocket.OPEN) webSocket.send(JSON.stringify(message));
  }

  close({ code, reason }: Closing): void {
    this.#endAll();
    this.#parts.webSocket.close(code, reason);
  }

  beat(): void {
    if (!this.#isAlive) {
      this.cut();
      return;
    }
    this.#isAlive = false;
    const { webSocket } = this.#parts;
    if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
    this.#recheck().catch(() => this.cut());
  }

  leave(): void {
    const { dialect } = this.#parts;
    const ids = [...this.#operations.keys()];
    this.#endAll();
    for (const id of ids) {
      const last = dialect.farewell(id);
      if (last !== undefined) this.say(last);
    }
    this.close(goingAway);
  }

  cut(): void {
    this.#parts.webSocket.terminate();
  }

  #hear(data: Buffer): void {
    this.#isAlive = true;
    const { dialect } = this.#parts;
    try {
      const message = decodeJson(data.toString()) ?? {};
      if (isJsonObject(message)) dialect.hear(this, message);
      else dialect.misunderstand(this);
    } catch (error) {
      // No JSON, or nested deeper than the stack is high.
      if (!(error instanceof JsonSyntaxError || error instanceof RangeError)) throw error;
      dialect.misunderstand(this);
    }
  }

  #answerPing(data: Buffer): void {
    this.#isAlive = true;
    const { webSocket, socket, context } = this.#parts;
    if (socket.writableLength > context.limits.socketBufferBytesMax + wordsBytesMax) this.cut();
    else if (webSocket.readyState === webSocket.OPEN) webSocket.pong(data);
  }

  async #run(operation: Operation, body: string): Promise<void> {
    const { dialect, service } = this.#parts;
    const request = this.#request(operation, body);
    const refusal = (await this.#limit()) ?? (await this.#judge());
    const names = this.#parts.context.audit && describeRequest(request);
    if (refusal !== undefined) {
      this.#record(names, "refused");
      throw refusal;
    }
    const subscriber: Subscriber = {
      next: (answer) => {
        if (!operation.isStopped) this.#outbox.push(operation, answer);
      },
      end: (reason) => this.#end(operation, reason),
    };
    const outcome = await service.subscribe(request, subscriber, dialect.answersAll);
    if (outcome.kind === "open") {
      this.#record(names, "ok");
      if (operation.isStopped) outcome.close();
      else operation.leave = outcome.close;
      return;
    }
    if (outcome.kind === "answered") {
      const { body } = outcome.answer;
      this.#record(names, hasErrors(body) ? "error" : "ok");
      if (!operation.isStopped) this.#outbox.push(operation, body);
      this.#end(operation, "answered");
      return;
    }
    this.#forget(operation);
    this.#record(names, "error");
    if (operation.isStopped) return;
    dialect.refuse(this, operation.id, outcome.kind === "refused" ? outcome : noSubscription);
  }

  /** Each operation counts as a request of whoever is behind the headers. */
  async #limit(): Promise<Fault | undefined> {
    const { context, remoteAddress } = this.#parts;
    const refusal =
      (await findRateRefusal(this.#headers, remoteAddress, context)) ??
      (await findQuotaRefusal(rightOf("/graphql"), this.#headers, context));
    return refusal && makeRefusalFault(refusal, "graphql");
  }

  #record(names: RequestNames | undefined, outcome: "ok" | "error" | "refused"): void {
    const { context, remoteAddress } = this.#parts;
    recordOperation(context, { headers: this.#headers, remoteAddress }, names, outcome);
  }

  #request(operation: Operation, body: string): GraphqlRequest {
    const { remoteAddress, context } = this.#parts;
    return {
      kind: "json",
      body,
      headers: this.#headers,
      remoteAddress,
      timeoutMs: 0,
      closed: context.controls.switches.isDraining ? drainingWords : undefined,
      refusesMutations: mustBeRecorded(context) ? unrecorded : undefined,
      signal: {
        get aborted() {
          return operation.isStopped;
        },
      },
    };
  }

  /** The service ends it, or has answered. */
  #end(operation: Operation, reason: SubscriptionEnd | "answered"): void {
    this.#forget(operation);
    if (operation.isStopped) return;
    if (reason === "schema") this.close(schemaChanged);
    else if (reason === "failed") {
      this.#parts.dialect.refuse(this, operation.id, brokenSubscription);
    } else this.#outbox.close(operation);
  }

  #forget(operation: Operation): void {
    if (this.#operations.get(operation.id) === operation) this.#operations.delete(operation.id);
  }

  #writeAnswer(id: string, answer: Uint8Array): void {
    const { socket, webSocket, dialect } = this.#parts;
    if (webSocket.readyState !== webSocket.OPEN) return;
    socket.cork();
    socket.write(openFrame(dialect.answerHead(id), answer.length + closingBrace.length));
    socket.write(viewOf(answer));
    socket.write(closingBrace);
    socket.uncork();
  }

  /** What stands in the way of who is behind the headers. */
  async #judge(): Promise<Fault | undefined> {
    const { context, remoteAddress, headers } = this.#parts;
    const asking = askingOf(this.#headers, remoteAddress, context);
    const refusal = await findAccessRefusal(rightOf("/graphql"), asking);
    if (refusal !== undefined) return makeRefusalFault(refusal, "graphql");
    // Without logins the upgrade was judged by the one schema that there is.
    if (context.acl === undefined || (await mayListen(context, headers, this.#headers))) return;
    return new Fault("E_UNAUTHORIZED", `The page ${headers.origin ?? ""} may not read answers.`);
  }

  /** A key that is revoked, or has expired, does not go on listening. */
  async #recheck(): Promise<void> {
    if (this.#operations.size === 0) return;
    const refusal = await this.#judge();
    if (refusal !== undefined) this.close({ code: 4403, reason: refusal.message.slice(0, 120) });
  }

  #explain(error: unknown): string {
    if (error instanceof Fault) return error.message;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#parts.context.logger.error("a WebSocket's operation failed inside", { stack });
    return "Internal error; the server's log has the details";
  }

  #endAll(): void {
    for (const id of this.#operations.keys()) this.stop(id);
  }

  #gone(): void {
    clearTimeout(this.#firstWord);
    this.#endAll();
    this.#parts.streams.remove(this);
  }
}

/** What only the browser says of the page behind a connection. */
const fromBrowser = ["host", "origin", "sec-fetch-site"];

const unrecorded = {
  message: makeRefusalFault({ kind: "unrecorded" }, "graphql").message,
  status: 503,
};

const closingBrace = Buffer.from("}");
const initTimeout: Closing = { code: 4408, reason: "Connection initialisation timeout" };
/** Clients of both sub-protocols connect again, and ask again by the new schema; a `complete` would be the last word. */
const schemaChanged: Closing = { code: 1012, reason: "the schema has changed" };
const goingAway: Closing = { code: 1001, reason: "the server is shutting down" };

function refusal(message: string): Refused {
  return { kind: "refused", message, errors: [{ message }] };
}

const noSubscription = refusal("given GraphQL operation is not a subscription");
const brokenSubscription = refusal("the subscription failed; the server's log has the details");
