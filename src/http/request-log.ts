/** What the log says of requests that have ended: each one, slow ones with their plans, and those that a limit refused. */
import type { RequestSpan } from "../model/request-observer.ts";
import { findRemoteAddress } from "./peer.ts";
import { redactText } from "./redact.ts";
import type { WatchOptions } from "./watch-options.ts";
import type { WatchedRequest } from "./watched-request.ts";

export function logEnded(options: WatchOptions, watched: WatchedRequest, ms: number): void {
  if (options.logsAccess) logAccess(options, watched, ms);
  if (options.slowMs !== undefined && ms >= options.slowMs) logSlow(options, watched, ms);
  if (watched.errors !== undefined || watched.refusal !== undefined)
    logRefused(options, watched, ms);
}

function about(watched: WatchedRequest, ms: number): Readonly<Record<string, unknown>> {
  const { id, operation, tag, budget } = watched;
  return {
    id,
    operation,
    ...(tag === undefined ? {} : { tag }),
    address: findRemoteAddress(watched.req),
    ms: Math.round(ms * 10) / 10,
    work: budget?.work ?? 0,
  };
}

function logAccess({ logger }: WatchOptions, watched: WatchedRequest, ms: number): void {
  const { req, status, outcome, answerBytes } = watched;
  const path = (req.url ?? "/").split("?")[0];
  logger.info("access", {
    ...about(watched, ms),
    method: req.method,
    path,
    status,
    outcome,
    bytes: answerBytes,
  });
}

function logSlow({ logger }: WatchOptions, watched: WatchedRequest, ms: number): void {
  const { observer, text } = watched;
  logger.warn("slow request", {
    ...about(watched, ms),
    ...(text === undefined ? {} : { text: redactText(text) }),
    spans: observer?.spans.map(describeSpan),
    plan: observer?.plans.map((plan) => plan.print()).join("\n"),
  });
}

function describeSpan({ name, startMs, endMs }: RequestSpan): string {
  return `${name} ${(endMs - startMs).toFixed(1)} ms`;
}

/** Each setting that refuses names itself at the end of its words. */
const limitPattern =
  /\((?<limit>(?:--(?:limit|rate|memory|audit|security|lambda-limit)|setNamespaceQuota)[ \w.-]*)\)/;

/** The setting that has refused a request; undefined where none has. */
export function limitOf({ errors, refusal }: WatchedRequest): string | undefined {
  if (errors !== undefined) return limitPattern.exec(errors)?.groups?.["limit"];
  return refusal;
}

/** A client that is refused again and again fills no disk. */
const linesPerSecond = 10;
let second = 0;
let lines = 0;
let unsaid = 0;

function logRefused({ logger, clock }: WatchOptions, watched: WatchedRequest, ms: number): void {
  const limit = limitOf(watched);
  if (limit === undefined) return;
  const now = Math.floor(clock.nowMs() / 1000);
  if (now !== second) {
    second = now;
    lines = 0;
  }
  if (++lines > linesPerSecond) {
    unsaid++;
    return;
  }
  logger.warn("a request was refused", {
    ...about(watched, ms),
    limit,
    ...(unsaid > 0 ? { unsaid } : {}),
  });
  unsaid = 0;
}
