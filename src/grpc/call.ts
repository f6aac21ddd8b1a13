/** One call on its way through this module, and what the methods share. */
import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Cancellation } from "../base/cancellation.ts";
import type { Principal } from "../model/principal.ts";
import { RequestBudget } from "../model/request-budget.ts";
import type {
  CallRecord,
  RequestHold,
  RouteRight,
  ServerContext,
  WatchedRequest,
} from "../http/interface.ts";

/** Namespaces as a whole, which only the server's own administrators reach. */
interface Namespaces {
  create(): Promise<number>;
  /** Of one that is there, and is not 0. */
  drop(namespace: number): Promise<void>;
  list(): Promise<readonly number[]>;
}

export interface GrpcContext extends ServerContext {
  readonly namespaces: Namespaces;
  readonly version: string;
}

export interface Call {
  readonly context: GrpcContext;
  readonly stream: ServerHttp2Stream;
  /** What the metadata say, by the names of HTTP. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** It comes from another process of this server, which has counted it. */
  readonly isPrivate: boolean;
  /** `debug` in the metadata. */
  readonly debug: boolean;
  /** What the client gives it from its beginning, in milliseconds; Infinity: nothing is said. */
  readonly timeoutMs: number;
  readonly hold: RequestHold;
  readonly watched: WatchedRequest;
  /** What is told of it when it has ended. */
  readonly notes: { -readonly [K in keyof CallRecord["notes"]]: CallRecord["notes"][K] };
  /** By which it is judged; another one when its message was read. */
  right: RouteRight;
}

/** For what is counted of namespaces: users have one. */
export function noteCaller(call: Call, principal: Principal): void {
  if (call.context.acl === undefined || principal.refusal !== undefined) return;
  call.watched.namespace = principal.namespace;
}

/** What is left of the client's time, in milliseconds; Infinity: nothing is said. May be negative. */
export function leftMs({ timeoutMs, watched, context }: Call): number {
  if (timeoutMs === Infinity) return Infinity;
  return timeoutMs - (context.clock.tickMs() - watched.startMs);
}

/** The same for a budget, to which 0 says that there is none. */
export function budgetMs(call: Call): number {
  const left = leftMs(call);
  return left === Infinity ? 0 : left <= 0 ? -1 : left;
}

/** What this call may use. */
export function openCallBudget(call: Call): RequestBudget {
  const { context, watched } = call;
  const { clock, limits, memory } = context;
  const signal = new CallerGone(call);
  const timeoutMs = budgetMs(call);
  const budget = new RequestBudget({ clock, limits, timeoutMs, signal, account: memory });
  watched.budget = budget;
  budget.observer = watched.observer;
  return budget;
}

/** Whether who called has gone, or an administrator has ended the call. */
class CallerGone implements Cancellation {
  readonly #stream: ServerHttp2Stream;
  readonly #watched: WatchedRequest;

  constructor({ stream, watched }: Call) {
    this.#stream = stream;
    this.#watched = watched;
  }

  get aborted(): boolean {
    return this.#watched.cancelled !== undefined || this.#stream.destroyed;
  }

  get reason(): string | undefined {
    return this.#watched.cancelled;
  }
}

/** Of its message, in bytes: small: names and numbers. text: what somebody writes. data: facts, values, variables. */
type MessageSize = "small" | "text" | "data";

/** A method of the service. `Message`: as `api.ts` reads it. */
export interface Method<Message> {
  readonly name: string;
  /** Kinds of messages. */
  readonly request: string;
  readonly response: string;
  readonly size: MessageSize;
  /** By which a call is let in before its message is read. */
  readonly right: RouteRight;
  /** Where the message tells more: by which it is judged again, and what operators know it by. */
  exact?(message: Message): { readonly right: RouteRight; readonly operation: string };
  /** What is run, for operators. */
  textOf?(message: Message): string;
  /** Whose process has to answer; 0: any. */
  startTs(message: Message): number;
  /** Whether the outcome is unknown when the answer is lost. */
  mayCommit(message: Message): boolean;
  /** Whether faults of the engine are told as `/query` and `/mutate` tell them: with an empty reason in front. */
  readonly runsEngine?: boolean;
  /** Whether it is refused while the server is draining. */
  readonly isDrained: boolean;
  answer(message: Message, call: Call): Promise<object>;
}
