/** One request as operators see it: by its id in answers and in the log, while it runs, and when it has ended. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { RequestBudget } from "../model/request-budget.ts";
import type { RequestObserver } from "../model/request-observer.ts";

const watchedKey = Symbol("watched");

interface Marked {
  [watchedKey]?: WatchedRequest;
}

/** What is asked of a request's head, whatever protocol it came through. */
export type RequestHead = Pick<IncomingMessage, "headers" | "method" | "url" | "socket">;

export class WatchedRequest {
  readonly id: string;
  /** Whether the sender has given the id: others may have the same. */
  readonly isNamed: boolean;
  /** Among the running ones; undefined when it has ended. */
  place: number | undefined = undefined;
  readonly req: RequestHead;
  /** On the clock's tick scale. */
  readonly startMs: number;
  /** Its route, as `query`; a call of gRPC tells it when its message was read. */
  operation: string;
  /** By which its sender finds it again; undefined for none. */
  readonly tag: string | undefined;
  /** What was sent to be run, as it came. */
  text: string | undefined = undefined;
  budget: RequestBudget | undefined = undefined;
  observer: RequestObserver | undefined = undefined;
  /** Of the answer, without its head. */
  answerBytes = 0;
  /** Of the body, where no header tells it. */
  bodyBytes = 0;
  status = 0;
  /** Of the newest commit that this machine has, for the answer to name; undefined: it names none. */
  seenTs: (() => number) | undefined = undefined;
  /** The beginning of an answer that tells errors. */
  errors: string | undefined = undefined;
  /** What stood in its way before its work began. */
  refusal: string | undefined = undefined;
  /** Of the user who sent it, once that is known; undefined where nobody logs in. */
  namespace: number | undefined = undefined;
  /** Another process answers it, and counts it. */
  isHandedOver = false;
  /** Who has ended it, in words; undefined: nobody. */
  cancelled: string | undefined = undefined;

  constructor(
    req: RequestHead,
    about: Pick<WatchedRequest, "id" | "isNamed" | "startMs" | "operation">,
    tag: string | undefined,
  ) {
    this.req = req;
    this.id = about.id;
    this.isNamed = about.isNamed;
    this.startMs = about.startMs;
    this.operation = about.operation;
    this.tag = tag;
  }

  /** Before it is packed. */
  noteAnswer(body: Uint8Array | string): void {
    this.answerBytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    if (!beginsWithErrors(body)) return;
    this.errors =
      typeof body === "string"
        ? body.slice(0, errorsKept)
        : Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, errorsKept)).toString();
  }

  get outcome(): "ok" | "error" | "refused" {
    if (this.refusal !== undefined) return "refused";
    return this.errors !== undefined || this.status >= 400 ? "error" : "ok";
  }
}

const errorsKept = 2_000;

/** `{"errors":`, told by its third byte: answers begin with that or with `{"data":`. */
const letterE = 0x65;

function beginsWithErrors(body: Uint8Array | string): boolean {
  return typeof body === "string"
    ? body.startsWith('{"errors":')
    : body[2] === letterE && body[3] === 0x72;
}

export function setWatched(res: object, watched: WatchedRequest): void {
  (res as Marked)[watchedKey] = watched;
}

/** Undefined for answers that nobody watches: of a connection that was refused before it was read. */
export function watchedOf(res: object): WatchedRequest | undefined {
  return (res as Marked)[watchedKey];
}
