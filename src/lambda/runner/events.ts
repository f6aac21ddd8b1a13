/** Registered resolvers, and the events that they are called with (reference/graphql 7.4.1). */
import type { Asker, AuthHeader } from "./asker.ts";
import { Failed } from "./failures.ts";

/** A call as it comes over the wire (reference/graphql 7.2). */
export interface CallBody {
  readonly resolver?: string;
  readonly parents?: readonly unknown[] | null;
  readonly args?: Readonly<Record<string, unknown>> | null;
  readonly authHeader?: AuthHeader | null;
  readonly "X-Dgraph-AccessToken"?: string;
  readonly event?: Readonly<Record<string, unknown>>;
  readonly info?: unknown;
}

/** What resolvers get. `parents` is null for queries and mutations, `args` for fields of types and interfaces. */
interface LambdaEvent {
  readonly parents: readonly unknown[] | null;
  readonly args: Readonly<Record<string, unknown>> | null;
  readonly authHeader: AuthHeader | undefined;
  readonly accessJWT: string | undefined;
  readonly event: Readonly<Record<string, unknown>>;
  readonly info: unknown;
  readonly graphql: (query: string, vars?: object, authHeader?: AuthHeader) => Promise<unknown>;
  /** As `graphql`: the data alone. Throws where there are errors, with the message and the code of the first. */
  readonly request: (query: string, vars?: object, authHeader?: AuthHeader) => Promise<unknown>;
  readonly dql: {
    readonly query: (text: string, vars?: object) => Promise<unknown>;
    readonly mutate: (facts: string | object, commitNow?: boolean) => Promise<unknown>;
    readonly commit: (txn: object) => Promise<unknown>;
  };
}

type Resolver = (event: object) => unknown;
/** From the event to a list for all parents, or to a list of the one result of a query or mutation. */
type Handler = (event: LambdaEvent) => unknown;

const handlers = new Map<string, Handler>();

export function registeredNames(): string[] {
  return [...handlers.keys()];
}

/** The functions of `self`; each may be called any number of times, and a later resolver replaces an earlier one. */
export const registrations = {
  addGraphQLResolvers: (resolvers: Readonly<Record<string, Resolver>>): void => {
    for (const [name, resolver] of entriesOf(resolvers)) handlers.set(name, eachParent(resolver));
  },
  addMultiParentGraphQLResolvers: (resolvers: Readonly<Record<string, Resolver>>): void => {
    for (const [name, resolver] of entriesOf(resolvers)) {
      handlers.set(name, (event) => firstOfRoot(event, resolver(event)));
    }
  },
  addWebHookResolvers: (resolvers: Readonly<Record<string, Resolver>>): void => {
    for (const [name, resolver] of entriesOf(resolvers)) handlers.set(name, resolver);
  },
  /** The lowest level: whatever is handed to `respondWith` is the answer for all parents. */
  addEventListener: (name: string, listener: (event: object) => void): void => {
    handlers.set(name, (event) => {
      let answer: unknown;
      listener({ ...event, type: name, respondWith: (value: unknown) => (answer = value) });
      return firstOfRoot(event, answer);
    });
  },
  removeEventListener: (name: string): void => {
    handlers.delete(name);
  },
};

function entriesOf(resolvers: Readonly<Record<string, Resolver>>): [string, Resolver][] {
  return Object.entries(resolvers).map(([name, resolver]) => {
    if (typeof resolver === "function") return [name, resolver];
    throw new TypeError(`the resolver "${name}" is no function`);
  });
}

function eachParent(resolver: Resolver): Handler {
  return (event) => {
    if (event.parents === null) return resolver({ ...event, parent: null });
    const results = event.parents.map((parent) => attempt(() => resolver({ ...event, parent })));
    return results.some((one) => one instanceof Promise) ? Promise.all(results) : results;
  };
}

/** The failure of one parent is not that of its neighbours. */
function attempt(run: () => unknown): unknown {
  try {
    const value = run();
    if (!isThenable(value)) return value;
    return Promise.resolve(value).catch((error: unknown) => new Failed(error, true));
  } catch (error) {
    return new Failed(error, false);
  }
}

/** Without parents there is one result, and it is the first of the list. */
function firstOfRoot(event: LambdaEvent, value: unknown): unknown {
  if (event.parents !== null) return value;
  const first = (list: unknown): unknown =>
    Array.isArray(list) ? (list[0] as unknown) : undefined;
  return isThenable(value) ? Promise.resolve(value).then(first) : first(value);
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** There is none of that name in the script. */
export const noResolver = Symbol("no resolver");

/** Throws what a resolver throws; that of single parents stands in the list, as `Failed`. */
export function dispatch(asker: Asker, body: CallBody): unknown {
  const event = body.event ?? {};
  const name =
    body.resolver === "$webhook"
      ? `${String(event["__typename"])}.${String(event["operation"])}`
      : (body.resolver ?? "");
  const handler = handlers.get(name);
  if (handler === undefined) return body.resolver === "$webhook" ? undefined : noResolver;
  const result = handler(makeEvent(asker, body));
  return isThenable(result) ? Promise.resolve(result) : result;
}

/** Throws where there are errors; callers are told what the database was. */
function dataOf(answer: unknown): unknown {
  const { data, errors } = answer as {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message?: string; readonly extensions?: object }[];
  };
  const [first] = errors ?? [];
  if (first === undefined) return data;
  const { message = "the database refused the request", extensions } = first;
  throw Object.assign(new Error(message), { errors, ...(extensions && { extensions }) });
}

function makeEvent(asker: Asker, body: CallBody): LambdaEvent {
  const parents = body.parents ?? null;
  const token = body["X-Dgraph-AccessToken"];
  const auth = body.authHeader ?? undefined;
  return {
    parents,
    args: parents === null ? (body.args ?? {}) : null,
    authHeader: auth,
    accessJWT: token,
    event: body.event ?? {},
    info: body.info ?? null,
    graphql: (query, vars, header) => asker.graphql(query, vars, header ?? auth, token),
    request: async (query, vars, header) =>
      dataOf(await asker.graphql(query, vars, header ?? auth, token)),
    dql: {
      query: (text, vars) => asker.dqlQuery(text, vars, token),
      mutate: (facts, commitNow) => asker.dqlMutate(facts, commitNow ?? true, token),
      commit: (txn) => asker.dqlCommit(txn, token),
    },
  };
}
