/**
 * Records of who did what: one for each request that administers, alters, logs in, writes, or was refused, and for
 * queries where they are asked for. A record holds names: of the user, the key, the route, the operation and its root
 * fields. Bodies, parameters, variables and tokens are never in it.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { andThen } from "../base/maybe.ts";
import type { RequestNames } from "../graphql/service/describe-request.ts";
import type { ServerContext } from "./server-context.ts";
import { findRemoteAddress } from "./peer.ts";
import { observeAnswer } from "./reply.ts";
import { watchedOf, type WatchedRequest } from "./watched-request.ts";
import type { RouteRight } from "./rights.ts";
import { accessKeyOf } from "./shown-key.ts";

type AuditKind = "admin" | "alter" | "login" | "mutation" | "query";

/** What the handlers tell while a request is under way. */
interface AuditNotes {
  kind: AuditKind;
  operation?: RequestNames | undefined;
  /** What an alter does, and to what. */
  alter?: { readonly kind: string; readonly name?: string | undefined };
  /** Who tried to log in. */
  login?: { readonly user: string; readonly namespace: number };
  /** Why the request was not let in. */
  refusal?: string;
}

/** A request under way. */
interface Open {
  readonly notes: AuditNotes;
  hasFailed: boolean;
  isDropped: boolean;
}

const open = new WeakMap<ServerResponse, Open>();

/** Begins the record of a request, which is written when it was answered. */
export function beginRecord(
  right: RouteRight,
  req: IncomingMessage,
  res: ServerResponse,
  context: ServerContext,
): void {
  const { audit, clock } = context;
  if (audit === undefined) return;
  const ids = idsOf(watchedOf(res), context);
  const startMs = clock.tickMs();
  const { headers, method } = req;
  const address = findRemoteAddress(req);
  const record: Open = { notes: { kind: kindOf(right) }, hasFailed: false, isDropped: false };
  open.set(res, record);
  observeAnswer(res, (hasErrors) => (record.hasFailed = hasErrors));
  res.once("close", () => {
    if (record.isDropped) return;
    const status = res.headersSent ? res.statusCode : 0;
    const { refusal } = record.notes;
    const isError = record.hasFailed || status === 0 || status >= 400;
    const outcome = refusal !== undefined ? "refused" : isError ? "error" : "ok";
    const ms = Math.round((clock.tickMs() - startMs) * 10) / 10;
    const route = right.path;
    writeRecord(context, headers, record.notes, {
      ...ids,
      method,
      route,
      address,
      outcome,
      status,
      ms,
    });
  });
}

/** Its own, whatever id the sender has given: records are told apart by theirs. */
function idsOf(
  watched: WatchedRequest | undefined,
  { watch }: ServerContext,
): { readonly id: string; readonly request: string | undefined } {
  return watched?.isNamed === false
    ? { id: watched.id, request: undefined }
    : { id: watch.makeId(), request: watched?.id };
}

function kindOf({ path, audience, writes }: RouteRight): AuditKind {
  if (path === "/alter") return "alter";
  if (path === "/login") return "login";
  if (audience === "administrators") return "admin";
  return writes === true ? "mutation" : "query";
}

/** What is to be told of a request that is under way; nothing where no records are made. */
export function notesOf(res: ServerResponse): AuditNotes | undefined {
  return open.get(res)?.notes;
}

/** Another process answers the request, and records it. */
export function dropRecord(res: ServerResponse): void {
  const record = open.get(res);
  if (record !== undefined) record.isDropped = true;
}

/** A request of its own on a connection: an operation of a WebSocket. */
export function recordOperation(
  context: ServerContext,
  sender: { readonly headers: IncomingHttpHeaders; readonly remoteAddress: string },
  operation: RequestNames | undefined,
  outcome: "ok" | "error" | "refused",
): void {
  if (context.audit === undefined) return;
  const kind = operation?.operation === "mutation" ? "mutation" : "query";
  const notes: AuditNotes = {
    kind,
    operation,
    ...(outcome === "refused" ? { refusal: "judged" } : {}),
  };
  writeRecord(context, sender.headers, notes, {
    id: context.watch.makeId(),
    method: "WebSocket",
    route: "/graphql",
    address: sender.remoteAddress,
    outcome,
  });
}

/** What is told of a call of another protocol when it has ended. */
export interface CallRecord {
  readonly watched: WatchedRequest;
  readonly right: RouteRight;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** Its protocol, in place of a method. */
  readonly method: string;
  readonly route: string;
  readonly outcome: "ok" | "error" | "refused";
  readonly status: number;
  readonly ms: number;
  readonly notes: Omit<AuditNotes, "kind">;
}

export function recordCall(context: ServerContext, call: CallRecord): void {
  if (context.audit === undefined) return;
  const { right, headers, notes, address, method, route, outcome, status, ms } = call;
  const rest = { ...idsOf(call.watched, context), method, route, address, outcome, status, ms };
  writeRecord(context, headers, { ...notes, kind: kindOf(right) }, rest);
}

const textLengthMax = 200;

function writeRecord(
  context: ServerContext,
  headers: IncomingHttpHeaders,
  notes: AuditNotes,
  rest: { readonly id: string } & Readonly<Record<string, unknown>>,
): void {
  const { audit, acl, clock } = context;
  if (audit === undefined) return;
  const isPlain = notes.kind === "query" && notes.operation?.operation !== "mutation";
  if (isPlain && notes.refusal === undefined && !audit.queries) return;
  const time = new Date(clock.nowMs()).toISOString();
  const { kind, operation, alter, login, refusal } = notes;
  const finish = andThen(accessKeyOf(headers, context), (key) =>
    andThen(acl?.identify(headers), (principal) => {
      const isKnown = principal !== undefined && principal.refusal === undefined;
      audit.write(
        JSON.stringify({
          time,
          ...rest,
          kind: operation?.operation === "mutation" && kind === "query" ? "mutation" : kind,
          user: isKnown ? principal.user : undefined,
          namespace: isKnown ? principal.namespace : undefined,
          key: key === undefined ? undefined : { id: key.id, name: key.name },
          operation,
          alter,
          login: login && { ...login, user: login.user.slice(0, textLengthMax) },
          refusal,
        }),
      );
    }),
  );
  if (finish instanceof Promise) {
    finish.catch((error: unknown) => {
      context.logger.error("an audit record could not be made", { detail: String(error) });
    });
  }
}
