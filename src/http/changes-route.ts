/** `GET /changes`: the change feed as server-sent events or as lines of JSON (docs/changes.md). */
import { explainRefusal } from "../admin/interface.ts";
import type { FollowRequest } from "../feed/change-feed.ts";
import { replyOf } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import { makeLimitFault } from "../model/limits.ts";
import type { Principal } from "../model/principal.ts";
import { single } from "./access.ts";
import { wantsEvents } from "./event-stream.ts";
import { readParameters, type Exchange } from "./exchange.ts";
import { FeedStream } from "./feed-stream.ts";
import { judge } from "./gate.ts";
import { parseBoolParameter } from "./parameters.ts";
import { makeErrorBody, originHeadersOf, sendError } from "./reply.ts";
import { rightOf } from "./rights.ts";
import { identify } from "./sender.ts";

/** Returns when the stream is open, or the request was refused and answered. */
export async function answerChanges(exchange: Exchange): Promise<void> {
  const { req, res, context, streams } = exchange;
  if (req.method !== "GET") {
    const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
    sendError(res, { status: 405, body, headers: ["Allow", "GET"] });
    return;
  }
  try {
    if (streams.isFull) {
      const text = `${context.limits.socketsMax} streams are open in this process (--limit sockets)`;
      throw new Fault("E_OVERLOADED", text);
    }
    const principal = await identify(exchange);
    checkGuardian(exchange, principal);
    const request = readRequest(exchange, principal);
    const follower = await context.changes.follow(request);
    if (res.destroyed) {
      follower.close();
      return;
    }
    const stream = new FeedStream(res, streams, {
      follower,
      follows: request.follows,
      format: wantsEvents(exchange) === "no" ? "lines" : "events",
      clock: context.clock,
      headers: originHeadersOf(res),
      isWelcome: () => isStillWelcome(exchange, principal),
      onBroken: (error) => context.logger.error("a change feed ended", { error: String(error) }),
    });
    void stream.run();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    sendFault(exchange, error);
  }
}

function sendFault({ res }: Exchange, { code, message }: Fault): void {
  const own: Partial<Record<Fault["code"], number>> = {
    E_UNAUTHORIZED: 403,
    E_PARAMETER: 400,
    E_LIMIT: 400,
  };
  const reply = replyOf(code);
  const status = own[code] ?? (reply.status === 200 ? 500 : reply.status);
  const headers = status === 503 ? reply.headers : [];
  sendError(res, { status, body: makeErrorBody(message, code, false), headers });
}

/** Rules and permissions of groups hide nothing of the feed: where users log in it is for guardians. */
function checkGuardian({ context }: Exchange, principal: Principal): void {
  const message = explainRefusal("guardian", { principal, acl: context.acl !== undefined });
  if (message !== undefined) throw new Fault("E_UNAUTHORIZED", message);
}

async function isStillWelcome(exchange: Exchange, before: Principal): Promise<boolean> {
  const { req, context } = exchange;
  if ((await judge(rightOf("/changes"), req, context)) !== undefined) return false;
  if (context.acl === undefined) return true;
  const { refusal, isGuardian, namespace } = await context.acl.identify(req.headers);
  return refusal === undefined && isGuardian && namespace === before.namespace;
}

const known = new Set(["from", "predicate", "type", "namespace", "follow"]);

/** Fault E_PARAMETER, E_LIMIT, E_UNAUTHORIZED. */
function readRequest(exchange: Exchange, principal: Principal): FollowRequest {
  const params = readParameters(exchange);
  for (const name of params.keys()) {
    if (known.has(name)) continue;
    const text = `there is no parameter ${JSON.stringify(name.slice(0, 60))}: ${[...known].join(", ")}`;
    throw new Fault("E_PARAMETER", text);
  }
  const { feedNamesMax } = exchange.context.limits;
  if (params.size > feedNamesMax) {
    const text = `a change feed names ${params.size} predicates, types and namespaces; at most ${feedNamesMax} are taken`;
    throw makeLimitFault("feed-names", text);
  }
  const follows = !params.has("follow") || parseBoolParameter(params, "follow");
  const last = single(exchange.req.headers["last-event-id"]) ?? "";
  const from = last === "" ? (params.get("from") ?? "") : last;
  return {
    from: from === "" ? (follows ? "newest" : "oldest") : from,
    follows,
    filter: {
      namespaces: readNamespaces(params.getAll("namespace"), exchange, principal),
      predicates: new Set(params.getAll("predicate")),
      types: new Set(params.getAll("type")),
    },
  };
}

/** The own one unless said otherwise; only guardians of namespace 0, and servers without users, have others. */
function readNamespaces(
  texts: readonly string[],
  { context }: Exchange,
  { namespace }: Principal,
): FollowRequest["filter"]["namespaces"] {
  const mayAll = context.acl === undefined || namespace === 0;
  if (texts.length === 0) return new Set([namespace]);
  if (texts.includes("all")) {
    if (mayAll) return "all";
    throw refuseNamespace(namespace);
  }
  const numbers = texts.map((text) => {
    if (/^(?:\d{1,15}|0x[\da-f]{1,12})$/i.test(text)) return Number(text);
    const shown = JSON.stringify(text.slice(0, 60));
    throw new Fault("E_PARAMETER", `while parsing namespace: a number or all, not ${shown}`);
  });
  if (!mayAll && numbers.some((one) => one !== namespace)) throw refuseNamespace(namespace);
  return new Set(numbers);
}

function refuseNamespace(own: number): Fault {
  const text = `Only guardians of namespace 0 follow other namespaces: yours is ${own}`;
  return new Fault("E_UNAUTHORIZED", text);
}
