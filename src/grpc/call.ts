/** One call on its way through this module, and what the methods share. */
import type { IncomingHttpHeaders } from "node:http";
import type { Principal } from "../model/principal.ts";
import { RequestBudget } from "../model/request-budget.ts";
import {
  type CallRecord,
  type RequestHold,
  type RouteRight,
  type ServerContext,
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
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** `debug` in the metadata. */
  readonly debug: boolean;
  /** What the client gives it, in milliseconds; 0: nothing is said. */
  readonly timeoutMs: number;
  /** Whether who called has gone. */
  readonly signal: { readonly aborted: boolean };
  readonly hold: RequestHold;
  /** What is told of it when it has ended. */
  readonly notes: { -readonly [K in keyof CallRecord["notes"]]: CallRecord["notes"][K] };
  /** Once it was opened. */
  budget: RequestBudget | undefined;
  /** Of the user who called, once that is known; undefined where nobody logs in. */
  namespace: number | undefined;
}

/** For what is counted of namespaces: users have one. */
export function noteCaller(call: Call, principal: Principal): void {
  if (call.context.acl === undefined || principal.refusal !== undefined) return;
  call.namespace = principal.namespace;
}

/** What this call may use. */
export function openCallBudget(call: Call): RequestBudget {
  const { clock, limits, memory } = call.context;
  const { timeoutMs, signal } = call;
  call.budget = new RequestBudget({ clock, limits, timeoutMs, signal, account: memory });
  return call.budget;
}

/** A method of the service. `Message`: as `api.ts` reads it. */
export interface Method<Message> {
  readonly name: string;
  /** Kinds of messages. */
  readonly request: string;
  readonly response: string;
  right(message: Message): RouteRight;
  /** Whose process has to answer; 0: any. */
  startTs(message: Message): number;
  /** Whether the outcome is unknown when the answer is lost. */
  mayCommit(message: Message): boolean;
  /** Whether it is refused while the server is draining. */
  readonly isDrained: boolean;
  answer(message: Message, call: Call): Promise<object>;
}
