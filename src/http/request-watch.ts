/**
 * The requests of a process while they run and when they have ended: found by id or tag, ended by an administrator,
 * counted, and told to the log. A request that nobody looks at costs a few assignments and two looks at the clock.
 */
import { RequestObserver } from "../model/request-observer.ts";
import { single } from "./access.ts";
import { logEnded } from "./request-log.ts";
import { countRequest } from "./request-metrics.ts";
import { redactText } from "./redact.ts";
import { findRemoteAddress } from "./peer.ts";
import type { RunningRequest } from "./running-request.ts";
import type { RequestTrace, RequestTracer, WatchOptions } from "./watch-options.ts";
import { type RequestHead, WatchedRequest } from "./watched-request.ts";

/** Who is behind the headers of a request. */
type Describe = (
  watched: WatchedRequest,
) => Promise<Pick<RunningRequest, "user" | "key" | "namespace">>;

const idPattern = /^[\w.:/+=-]{1,128}$/;
const tagPattern = /^[\x20-\x7e]{1,100}$/;

export class RequestWatch {
  readonly #options: WatchOptions;
  /** Each knows its place: a Set that requests come into and go from holds what is gone, see `PendingTable`. */
  readonly #running: WatchedRequest[] = [];
  readonly #traces = new Map<WatchedRequest, RequestTrace>();
  readonly #prefix: string;
  #lastId = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#prefix = `${process.pid.toString(36)}-${options.clock.nowMs().toString(36)}-`;
  }

  get runningCount(): number {
    return this.#running.length;
  }

  /** `search`: the parameters as they came; the tag may stand there, too. */
  begin(req: RequestHead, operation: string, search: string): WatchedRequest {
    const { clock, slowMs, tracer } = this.#options;
    const { headers } = req;
    const given = headers["x-request-id"];
    const isNamed = typeof given === "string" && idPattern.test(given);
    const id = isNamed ? given : this.makeId();
    const tag =
      headers["x-weft-tag"] === undefined && !search.includes("tag=")
        ? undefined
        : readTag(req, search);
    const watched = new WatchedRequest(
      req,
      { id, isNamed, startMs: clock.tickMs(), operation },
      tag,
    );
    watched.place = this.#running.push(watched) - 1;
    if (tracer !== undefined) this.#trace(watched, tracer);
    if (slowMs !== undefined) watched.observer ??= new RequestObserver(clock);
    return watched;
  }

  #trace(watched: WatchedRequest, tracer: RequestTracer): void {
    const trace = tracer.begin(watched);
    if (trace === undefined) return;
    this.#traces.set(watched, trace);
    watched.observer = new RequestObserver(this.#options.clock, trace.traceparent);
  }

  /** Another id than any before, of any process. */
  makeId(): string {
    return this.#prefix + (++this.#lastId).toString(36);
  }

  end(watched: WatchedRequest): void {
    if (!this.#remove(watched)) return;
    const { clock, counts, tracer } = this.#options;
    const ms = clock.tickMs() - watched.startMs;
    if (counts && !watched.isHandedOver) countRequest(watched, ms);
    logEnded(this.#options, watched, ms);
    if (tracer === undefined) return;
    this.#traces.get(watched)?.end(watched);
    this.#traces.delete(watched);
  }

  #remove(watched: WatchedRequest): boolean {
    const { place } = watched;
    if (place === undefined) return false;
    watched.place = undefined;
    const last = this.#running.pop();
    if (last === undefined || last === watched) return true;
    this.#running[place] = last;
    last.place = place;
    return true;
  }

  async list(describe: Describe): Promise<readonly RunningRequest[]> {
    const nowMs = this.#options.clock.tickMs();
    const own = this.#running.filter(({ isHandedOver }) => !isHandedOver);
    return await Promise.all(
      own.map(async (watched) => ({
        id: watched.id,
        operation: watched.operation,
        tag: watched.tag,
        address: findRemoteAddress(watched.req),
        ...(await describe(watched)),
        ms: Math.round(nowMs - watched.startMs),
        work: watched.budget?.work ?? 0,
        bytes: watched.budget?.bytes ?? 0,
        text: watched.text === undefined ? undefined : redactText(watched.text),
      })),
    );
  }

  /** How many of this process's requests it ends. `id`: of one; `tag`: of all that have it. */
  cancel(wish: { readonly id?: string | undefined; readonly tag?: string | undefined }): number {
    let count = 0;
    for (const watched of this.#running) {
      const isMeant =
        wish.id === watched.id || (wish.tag !== undefined && wish.tag === watched.tag);
      if (!isMeant || watched.isHandedOver || watched.cancelled !== undefined) continue;
      watched.cancelled = "the request was ended by an administrator";
      count++;
    }
    return count;
  }
}

function readTag(req: RequestHead, search: string): string | undefined {
  const text = single(req.headers["x-weft-tag"]) ?? new URLSearchParams(search).get("tag") ?? "";
  return tagPattern.test(text) ? text : undefined;
}
