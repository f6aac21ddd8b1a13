/**
 * A client of a Weft server, for Node, browsers and edge runtimes: GraphQL with types from the texts of documents, DQL
 * by templates, transactions, subscriptions. Needs `fetch` and what the language has; imports nothing of a platform.
 */
import type {
  AnyFragment,
  DatabaseClient,
  ClientOptions,
  Connect,
  Documents,
  DqlMutation,
  DqlTransaction,
  GraphqlOptions,
  GraphqlResult,
  MakeDocument,
  WebSocketMaker,
  Signal,
} from "./api.ts";
import { errorOf } from "./database-error.ts";
import { composeDocument, isChange, documentTextOf } from "./document-text.ts";
import { RemoteSession, readAnswer, runRemoteTransaction } from "./dql-session.ts";
import { listenByEvents } from "./event-stream.ts";
import { Http } from "./http.ts";
import type { Listen } from "./listening.ts";
import { listenBySocket, type SocketListening } from "./socket.ts";
import { Subscription } from "./subscription.ts";

export { dql } from "./dql-text.ts";

export const connect: Connect = <Schema>(options: ClientOptions) =>
  // The types of documents are the compiler's affair: what runs is the same for all schemas.
  makeClient(options) as unknown as DatabaseClient<Schema>;

/** Documents that know their types, by the types of a schema: `const graphql = documents<Schema>()`. */
export const documents: Documents = <Schema>() => {
  const make = (text: string, fragments: readonly AnyFragment[] = []): unknown =>
    composeDocument(text, fragments);
  return make as MakeDocument<Schema>;
};

function makeClient(options: ClientOptions): DatabaseClient {
  const http = new Http(options);
  const session = new RemoteSession(http);
  const { listen, close } = openListening(http, options);
  const ask = async (
    document: unknown,
    variables?: unknown,
    { headers, operationName, signal }: GraphqlOptions = {},
  ): Promise<{ readonly status: number; readonly result: GraphqlResult<unknown> }> => {
    const query = documentTextOf(document);
    const body = JSON.stringify({ query, variables, operationName });
    const isRepeatable = !isChange(query);
    const type = "application/json";
    const { status, text } = await http.ask({ path: "/graphql", type, body, headers, isRepeatable, signal }); // prettier-ignore
    return { status, result: readAnswer(text, status) as GraphqlResult<unknown> };
  };
  return {
    graphql: async <Data>(document: unknown, variables?: unknown, given?: GraphqlOptions) =>
      (await ask(document, variables, given)).result as GraphqlResult<Data>,
    request: async <Data>(document: unknown, variables?: unknown, given?: GraphqlOptions) => {
      const { status, result } = await ask(document, variables, given);
      if (result.errors !== undefined) throw errorOf(result.errors, status);
      return result.data as Data;
    },
    subscribe: <Data>(document: unknown, variables?: unknown, given: GraphqlOptions = {}) => {
      const { headers = {}, operationName, signal } = given;
      const body = JSON.stringify({ query: documentTextOf(document), variables, operationName });
      return new Subscription<Data>({ body, headers, listen, client: options, signal });
    },
    dql: session.dql,
    mutate: (mutation: DqlMutation) => session.mutate(mutation),
    transaction: <T>(work: (transaction: DqlTransaction) => Promise<T>) =>
      runRemoteTransaction(http, work),
    close,
  };
}

/** The platform's, where it has one: Node has from 22 on. */
function openListening(
  http: Http,
  options: ClientOptions,
): Pick<SocketListening, "close"> & { readonly listen: Listen } {
  const control = new AbortController();
  const platform = (globalThis as { readonly WebSocket?: WebSocketMaker }).WebSocket;
  const maker = options.WebSocket ?? platform;
  if (maker === undefined || options.subscriptions === "event-stream") {
    const listen = listenByEvents(http);
    return { listen: endingWith(control.signal, listen), close: () => control.abort() };
  }
  const url = http.urlOf("/graphql");
  const { listen } = listenBySocket({ url, WebSocket: maker, headers: () => http.headers() });
  return { listen: endingWith(control.signal, listen), close: () => control.abort() };
}

/** A client that is closed ends what it listens to. */
function endingWith(closed: Signal, listen: Listen): Listen {
  return async (body, headers, listener, signal) => {
    if (closed.aborted) return { kind: "done" };
    const control = new AbortController();
    const end = (): void => control.abort();
    closed.addEventListener("abort", end, { once: true });
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      return await listen(body, headers, listener, control.signal);
    } finally {
      closed.removeEventListener("abort", end);
      signal.removeEventListener("abort", end);
    }
  };
}
