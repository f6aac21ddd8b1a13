/**
 * The routes that are answered before the framework's routing, as a table: a path costs one look-up. (The framework's
 * own way costs a third of the requests per second of a small answer: 0.92 of a bare echo without it, 0.65 with it.)
 */
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { drainingWords } from "../admin/interface.ts";
import { answerCacheMb, answerDraining, answerShutdown } from "./operation-routes.ts";
import { answerAdminSchema, answerAssign, answerSchemaCheck } from "./admin-routes.ts";
import { answerChanges } from "./changes-route.ts";
import { answerAlter, answerCommit, answerMutate, answerQuery } from "./database-routes.ts";
import type { Exchange } from "./exchange.ts";
import { beginRecord } from "./audit.ts";
import { admitFirst } from "./gate.ts";
import { answerAdmin, answerGraphql } from "./graphql-routes.ts";
import { settleOrigin } from "./origins.ts";
import { makeErrorBody, sendError, sendPreflight } from "./reply.ts";
import { type RouteRight, rightOf } from "./rights.ts";

type Answer = (exchange: Exchange) => Promise<void>;

export interface Route {
  readonly path: string;
  /** By which its requests are counted and found: `query`, `admin/schema`. */
  readonly operation: string;
  /** post: POST and PUT, the rest refused. any: the route looks for itself. */
  readonly methods: "post" | "any";
  readonly right: RouteRight;
  /** Whether `startTs` may send the request to the process that holds the transaction. */
  readonly hasTransaction: boolean;
  /** Whether a token of an event stream may send the request to the process that keeps the stream. */
  readonly hasStreams?: true;
  /** In which form it is refused while the server is draining; undefined where it is not, or sees to it itself. */
  readonly drained?: "withData" | "plain";
  /** Its preflight depends on the schema; the others' are all the same. */
  readonly ownPreflight?: true;
  readonly answer: Answer;
}

const post = { methods: "post", hasTransaction: false } as const;
const transaction = { methods: "post", hasTransaction: true, drained: "withData" } as const;
const any = { methods: "any", hasTransaction: false } as const;

const unguarded: readonly Omit<Route, "right" | "operation">[] = [
  { path: "/query", ...transaction, answer: answerQuery },
  { path: "/query/", ...transaction, answer: answerQuery },
  { path: "/mutate", ...transaction, answer: answerMutate },
  { path: "/mutate/", ...transaction, answer: answerMutate },
  // What was begun may be ended.
  { path: "/commit", ...post, hasTransaction: true, answer: answerCommit },
  { path: "/alter", ...post, drained: "plain", answer: answerAlter },
  { path: "/graphql", ...any, ownPreflight: true, hasStreams: true, answer: answerGraphql },
  { path: "/admin", ...any, answer: answerAdmin },
  { path: "/admin/schema", ...post, answer: answerAdminSchema },
  { path: "/admin/schema/validate", ...any, answer: answerSchemaCheck },
  { path: "/admin/draining", ...any, answer: answerDraining },
  { path: "/admin/shutdown", ...any, answer: answerShutdown },
  { path: "/admin/config/cache_mb", ...any, answer: answerCacheMb },
  { path: "/assign", ...any, answer: answerAssign },
  { path: "/changes", ...any, answer: answerChanges },
];

export const routes: readonly Route[] = unguarded.map((route) => ({
  ...route,
  right: rightOf(route.path),
  operation: operationOf(route.path),
}));

function operationOf(path: string): string {
  return path.replace(/^\/|\/$/g, "");
}

const byPath: ReadonlyMap<string, Route> = new Map(routes.map((route) => [route.path, route]));

export function findRoute(path: string): Route | undefined {
  return byPath.get(path) ?? (subtree.test(path) ? findSubtree(path) : undefined);
}

/** Whatever stands below a path that ends in a slash is that path. */
const subtree = /^\/(?:query|mutate)\/./;

function findSubtree(path: string): Route | undefined {
  return byPath.get(path.slice(0, path.indexOf("/", 1) + 1));
}

/** Rights and methods, before the route's own work. False when the request was refused and answered. */
export function receive(route: Route, exchange: Exchange): MaybePromise<boolean> {
  const { req, res, context } = exchange;
  if (route.right.audience === "administrators") res.setHeader("Cache-Control", "no-store");
  return andThen(settleOrigin(route.right, req, res, context), () => admitTo(route, exchange));
}

function admitTo(route: Route, exchange: Exchange): MaybePromise<boolean> {
  const { req, res } = exchange;
  // A preflight carries no credentials, and is told nothing but which headers may be sent.
  if (req.method === "OPTIONS") {
    if (route.ownPreflight === true) return true;
    sendPreflight(res);
    return false;
  }
  beginRecord(route.right, req, res, exchange.context);
  return andThen(admitFirst(route.right, exchange), (isAdmitted) => {
    if (!isAdmitted) return false;
    if (route.methods === "any" || req.method === "POST" || req.method === "PUT") {
      return isServing(route, exchange);
    }
    const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
    sendError(res, { status: 400, body, headers: [] });
    return false;
  });
}

function isServing(route: Route, { context, res }: Exchange): boolean {
  const { drained } = route;
  if (!context.controls.switches.isDraining || drained === undefined) return true;
  const code = drained === "plain" ? "Error" : "ErrorInvalidRequest";
  const body = makeErrorBody(drainingWords, code, drained === "withData");
  res.shouldKeepAlive = false;
  sendError(res, { status: 200, body, headers: [] });
  return false;
}
