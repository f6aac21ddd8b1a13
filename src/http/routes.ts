/**
 * The routes that are answered before the framework's routing, as a table: a path costs one look-up. (The framework's
 * own way costs a third of the requests per second of a small answer: 0.92 of a bare echo without it, 0.65 with it.)
 */
import { findRefusal, makeAdminFault, makeAlterFault, type Refusal } from "./access.ts";
import { answerAdminSchema, answerAssign, answerSchemaCheck } from "./admin-routes.ts";
import { answerAlter, answerCommit, answerMutate, answerQuery } from "./database-routes.ts";
import { type Exchange, findRemoteAddress } from "./exchange.ts";
import { answerAdmin, answerGraphql } from "./graphql-routes.ts";
import { sendRefusal } from "./refusal.ts";
import { everyOrigin, makeErrorBody, sendError, sendPreflight } from "./reply.ts";
import type { Fault } from "../model/fault.ts";

export type Answer = (exchange: Exchange) => Promise<void>;

export interface Route {
  readonly path: string;
  /** post: POST and PUT, OPTIONS for browsers, the rest refused. any: the route looks for itself. */
  readonly methods: "post" | "any";
  /** itself: the route asks, because its refusals have a form of their own. */
  readonly who: "anyone" | "alterer" | "administrator" | "itself";
  /** Whether `startTs` may send the request to the process that holds the transaction. */
  readonly hasTransaction: boolean;
  readonly answer: Answer;
}

const post = { methods: "post", who: "anyone", hasTransaction: false } as const;
const any = { methods: "any", who: "anyone", hasTransaction: false } as const;

export const routes: readonly Route[] = [
  { path: "/query", ...post, hasTransaction: true, answer: answerQuery },
  { path: "/query/", ...post, hasTransaction: true, answer: answerQuery },
  { path: "/mutate", ...post, hasTransaction: true, answer: answerMutate },
  { path: "/mutate/", ...post, hasTransaction: true, answer: answerMutate },
  { path: "/commit", ...post, hasTransaction: true, answer: answerCommit },
  { path: "/alter", ...post, who: "alterer", answer: answerAlter },
  { path: "/graphql", ...any, answer: answerGraphql },
  { path: "/admin", ...any, who: "itself", answer: answerAdmin },
  { path: "/admin/schema", ...post, who: "administrator", answer: answerAdminSchema },
  { path: "/admin/schema/validate", ...any, answer: answerSchemaCheck },
  { path: "/assign", ...any, who: "itself", answer: answerAssign },
];

const byPath: ReadonlyMap<string, Route> = new Map(routes.map((route) => [route.path, route]));

export function findRoute(path: string): Route | undefined {
  return byPath.get(path);
}

/** Methods and rights, then the route's own work. Undefined when the request was refused and answered. */
export function admit(route: Route, exchange: Exchange): boolean {
  const { req, res } = exchange;
  if (route.methods === "post" && req.method !== "POST" && req.method !== "PUT") {
    if (req.method === "OPTIONS") sendPreflight(res, everyOrigin);
    else {
      const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
      sendError(res, { status: 400, body, headers: [] });
    }
    return false;
  }
  const makeFault = refusers[route.who];
  if (makeFault === undefined) return true;
  const refusal = findRefusal(req, findRemoteAddress(req), exchange.house.security);
  if (refusal === undefined) return true;
  sendRefusal(exchange, refusal, makeFault(refusal));
  return false;
}

const refusers: Readonly<Record<Route["who"], ((refusal: Refusal) => Fault) | undefined>> = {
  anyone: undefined,
  itself: undefined,
  alterer: makeAlterFault,
  administrator: makeAdminFault,
};
