/**
 * The exchange between the database and a lambda server (reference/graphql 7.2, 7.4): `POST /graphql-worker`, JSON both
 * ways. The same in both directions, so that either side may be another implementation.
 */

/** Where a lambda server answers. */
export const workerPath = "/graphql-worker";

/** Milliseconds that are left of the request whose call it is; what the resolver asks of the database has no more. */
export const timeLeftHeader = "x-weft-time-left";

/** Sent by callers that take the failures of single parents, as `PartialAnswer` has them. */
export const partialHeader = "x-weft-partial";

/** The answer to such a caller where some parents' values could not be computed: those are null in `data`. */
export interface PartialAnswer {
  readonly data: readonly unknown[];
  readonly errors: readonly ParentError[];
  /** Of failures that are not among the errors. */
  readonly more: number;
}

/** What a resolver throws, as a client may see it. Without a message: what it says is for its author alone. */
export interface ResolverError {
  readonly message?: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

interface ParentError extends ResolverError {
  /** Of the parent. */
  readonly index: number;
  readonly status: number;
}

/** Who asked, as resolvers may see and forward it. */
export interface ResolverCaller {
  /** The ACL's access token; empty for none. */
  readonly accessToken: string;
  /** The header of the schema's `Dgraph.Authorization` line and its value, without "Bearer"; empty for none. */
  readonly authKey: string;
  readonly authValue: string;
}

export const nobody: ResolverCaller = { accessToken: "", authKey: "", authValue: "" };

/** The call of a field of a type or interface. `parents`: the JSON text of a list of objects. */
export function fieldCallBody(resolver: string, parents: string, caller: ResolverCaller): string {
  return `{${callerMembers(caller)},"parents":${parents},"resolver":${JSON.stringify(resolver)}}`;
}

/** The call of a query or mutation. `args`: the JSON text of an object. */
export function rootCallBody(resolver: string, args: string, caller: ResolverCaller): string {
  const { accessToken, authKey, authValue } = caller;
  const header = `{"key":${JSON.stringify(authKey)},"value":${JSON.stringify(authValue)}}`;
  return `{"X-Dgraph-AccessToken":${JSON.stringify(accessToken)},"args":${args},"authHeader":${header},"resolver":${JSON.stringify(resolver)}}`;
}

/** The call that tells of a mutation. `event`: the JSON text of an object. */
export function webhookBody(
  event: string,
  { accessToken, authKey, authValue }: ResolverCaller,
  hasAuthorization: boolean,
): string {
  const token = accessToken === "" ? "" : `,"X-Dgraph-AccessToken":${JSON.stringify(accessToken)}`;
  const header = `,"authHeader":{"key":${JSON.stringify(authKey)},"value":${JSON.stringify(authValue)}}`;
  return `{"resolver":"$webhook"${token}${hasAuthorization ? header : ""},"event":${event}}`;
}

function callerMembers({ accessToken, authKey, authValue }: ResolverCaller): string {
  const header = `{"key":${JSON.stringify(authKey)},"value":${JSON.stringify(authValue)}}`;
  return `"X-Dgraph-AccessToken":${JSON.stringify(accessToken)},"authHeader":${header}`;
}

/** What a lambda server answers with. */
export interface WireAnswer {
  readonly status: number;
  /** JSON where the status says that all is well; `{"errors":[{"message"}]}` or anything else otherwise. */
  readonly body: string;
}

/** An answer whose errors the database hands on to the client as they are. */
export function failure(status: number, message: string): WireAnswer {
  return { status, body: JSON.stringify({ errors: [{ message }] }) };
}
