/**
 * THE TABLE OF RIGHTS: who may use each route, looked up and judged in one place before any of the route's work. (The
 * fields of /admin have their own rows in `admin/rights.ts`, which are asked after the route's.) A route without a row
 * ends the start of the process.
 */
import { Broken } from "../base/assert.ts";

/**
 * everyone: no credentials are looked at. clients: whoever may use the data, which is anyone while anonymous access is
 * on, else the holder of an Admin or a Client key. logins: as clients, and with the administration token where one is
 * set. administrators: an Admin key from anywhere, or while anonymous access is on any request from a trusted address
 * that no foreign page has sent; both with the token where one is set. A shown key that is not valid is refused, also
 * where none is needed.
 */
export type Audience = "everyone" | "clients" | "logins" | "administrators";

/** Whose words and envelope a refusal has: statuses and texts differ between the reference's handlers. */
export type RefusalForm = "native" | "login" | "alter" | "admin" | "graphql" | "assign";

export interface RouteRight {
  readonly path: string;
  readonly audience: Audience;
  readonly form: RefusalForm;
}

export const routeRights: readonly RouteRight[] = [
  { path: "/query", audience: "clients", form: "native" },
  { path: "/query/", audience: "clients", form: "native" },
  { path: "/mutate", audience: "clients", form: "native" },
  { path: "/mutate/", audience: "clients", form: "native" },
  { path: "/commit", audience: "clients", form: "native" },
  // The opening of a WebSocket too.
  { path: "/graphql", audience: "clients", form: "graphql" },
  { path: "/login", audience: "logins", form: "login" },
  { path: "/state", audience: "clients", form: "native" },
  { path: "/alter", audience: "administrators", form: "alter" },
  { path: "/assign", audience: "administrators", form: "assign" },
  { path: "/admin", audience: "administrators", form: "graphql" },
  { path: "/admin/schema", audience: "administrators", form: "admin" },
  // Reads and changes nothing; the reference wants no token for it.
  { path: "/admin/schema/validate", audience: "clients", form: "native" },
  { path: "/admin/draining", audience: "administrators", form: "admin" },
  { path: "/admin/shutdown", audience: "administrators", form: "admin" },
  { path: "/admin/config/cache_mb", audience: "administrators", form: "admin" },
  // For load balancers and first looks: nothing of the data is told.
  { path: "/health", audience: "everyone", form: "native" },
  { path: "/probe/graphql", audience: "everyone", form: "native" },
  { path: "/ui/keywords", audience: "everyone", form: "native" },
  { path: "/", audience: "everyone", form: "native" },
];

/** /graphql with `explain` or `profile`: their numbers tell of nodes that rules hide from the caller. */
export const explainRight: RouteRight = {
  path: "/graphql",
  audience: "administrators",
  form: "graphql",
};

/** What is not there is nobody's secret. */
export const elsewhere: RouteRight = { path: "*", audience: "everyone", form: "native" };

const byPath: ReadonlyMap<string, RouteRight> = new Map(
  routeRights.map((right) => [right.path, right]),
);

export function rightOf(path: string): RouteRight {
  const right = byPath.get(path);
  if (right === undefined) throw new Broken(`route ${path} has no row in the table of rights`);
  return right;
}
