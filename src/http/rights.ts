/**
 * THE TABLE OF RIGHTS: who may use each route, looked up and judged in one place before any of the route's work. (The
 * fields of /admin have their own rows in `admin/rights.ts`, which are asked after the route's.) A route without a row
 * ends the start of the process.
 */
import type { KeyScope } from "../auth/access-key.ts";
import { Broken } from "../base/assert.ts";

/**
 * everyone: no credentials are looked at. clients: whoever may use the data, which is anyone while anonymous access is
 * on, else the holder of a key of one of the row's scopes. logins: as clients, and with the administration token where one is
 * set. administrators: a key of one of the row's scopes from anywhere, or while anonymous access is on any request from a trusted address
 * that no foreign page has sent; both with the token where one is set. A shown key that is not valid is refused, also
 * where none is needed.
 */
export type Audience = "everyone" | "clients" | "logins" | "administrators";

/** Whose words and envelope a refusal has: statuses and texts differ between the reference's handlers. */
export type RefusalForm = "native" | "login" | "alter" | "admin" | "graphql" | "assign" | "feed";

export interface RouteRight {
  readonly path: string;
  readonly audience: Audience;
  readonly form: RefusalForm;
  /** Of these a shown key needs one; none: any key will do. */
  readonly scopes: readonly KeyScope[];
  /** It changes data: where no credentials are needed, not for foreign pages. (/graphql tells by the operation.) */
  readonly writes?: true;
}

const administrators = { audience: "administrators", scopes: ["admin"] } as const;

/** Who sets a schema may also have the services asked that it names. */
export const schemaRight: RouteRight = { path: "/admin/schema", ...administrators, form: "admin" };

export const routeRights: readonly RouteRight[] = [
  { path: "/query", audience: "clients", form: "native", scopes: ["query"] },
  { path: "/query/", audience: "clients", form: "native", scopes: ["query"] },
  { path: "/mutate", audience: "clients", form: "native", scopes: ["mutate"], writes: true },
  { path: "/mutate/", audience: "clients", form: "native", scopes: ["mutate"], writes: true },
  {
    path: "/commit",
    audience: "clients",
    form: "native",
    scopes: ["query", "mutate"],
    writes: true,
  },
  // The opening of a WebSocket too.
  { path: "/graphql", audience: "clients", form: "graphql", scopes: ["graphql"] },
  { path: "/login", audience: "logins", form: "login", scopes: [] },
  { path: "/state", audience: "clients", form: "native", scopes: ["query", "admin"] },
  { path: "/alter", audience: "administrators", form: "alter", scopes: ["alter"] },
  { path: "/assign", ...administrators, form: "assign" },
  // Every fact of the namespace, whatever rules hide: an Admin key has the scope too.
  { path: "/changes", audience: "administrators", form: "feed", scopes: ["changes"] },
  { path: "/admin", ...administrators, form: "graphql" },
  schemaRight,
  // Reads and changes nothing; the reference wants no token for it.
  { path: "/admin/schema/validate", audience: "clients", form: "native", scopes: [] },
  { path: "/admin/draining", ...administrators, form: "admin" },
  { path: "/admin/shutdown", ...administrators, form: "admin" },
  { path: "/admin/config/cache_mb", ...administrators, form: "admin" },
  // Counts, and names of operations and root fields; `--metrics open` lets everybody read them.
  { path: "/metrics", ...administrators, form: "admin" },
  { path: "/debug/prometheus_metrics", ...administrators, form: "admin" },
  // For load balancers and first looks: nothing of the data is told.
  { path: "/health", audience: "everyone", form: "native", scopes: [] },
  { path: "/probe/graphql", audience: "everyone", form: "native", scopes: [] },
  { path: "/ui/keywords", audience: "everyone", form: "native", scopes: [] },
  { path: "/ui/console/:name", audience: "everyone", form: "native", scopes: [] },
  { path: "/", audience: "everyone", form: "native", scopes: [] },
];

/** /graphql with `explain` or `profile`: their numbers tell of nodes that rules hide from the caller. */
export const explainRight: RouteRight = {
  path: "/graphql",
  ...administrators,
  form: "graphql",
};

/** A call of gRPC that reads or writes: which of the two is told by its message, and judged again when that was read. */
export const callRight: RouteRight = {
  path: "/query",
  audience: "clients",
  form: "native",
  scopes: ["query", "mutate"],
};

/** What is not there is nobody's secret. */
export const elsewhere: RouteRight = {
  path: "*",
  audience: "everyone",
  form: "native",
  scopes: [],
};

const byPath: ReadonlyMap<string, RouteRight> = new Map(
  routeRights.map((right) => [right.path, right]),
);

export function rightOf(path: string): RouteRight {
  const right = byPath.get(path);
  if (right === undefined) throw new Broken(`route ${path} has no row in the table of rights`);
  return right;
}
