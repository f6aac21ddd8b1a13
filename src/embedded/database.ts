/** The methods of an embedded database over an engine and its GraphQL service. */
import type { Engine } from "../engine/engine.ts";
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import type {
  EmbeddedDatabase,
  GraphqlHeaders,
  GraphqlResult,
  DqlMutation,
  DqlMutationResult,
  DqlTransaction,
} from "./api.ts";
import { showingFaults, toAnswerError } from "./database-error.ts";
import { textOfDocument } from "./document-text.ts";
import { DqlSession, runTransaction } from "./dql-session.ts";
import { AnswerStream } from "./answer-stream.ts";

interface DatabaseParts {
  readonly engine: Engine;
  readonly graphql: GraphqlService;
  readonly close: () => Promise<void>;
}

export function makeDatabase({ engine, graphql, close }: DatabaseParts): EmbeddedDatabase {
  const session = new DqlSession(engine);
  const ask = async <Data>(
    document: unknown,
    variables?: unknown,
    options?: GraphqlHeaders,
  ): Promise<GraphqlResult<Data>> => {
    const answer = await graphql.handle(makeRequest(document, variables, options));
    return readJson(answer.body) as GraphqlResult<Data>;
  };
  return {
    graphql: ask,
    request: async <Data>(document: unknown, variables?: unknown, options?: GraphqlHeaders) => {
      const { data, errors } = await ask<Data>(document, variables, options);
      if (errors !== undefined) throw toAnswerError(errors);
      return data as Data;
    },
    subscribe: <Data>(document: unknown, variables?: unknown, options?: GraphqlHeaders) =>
      new AnswerStream<Data>(graphql, makeRequest(document, variables, options)),
    dql: session.dql,
    mutate: (mutation: DqlMutation): Promise<DqlMutationResult> =>
      showingFaults(() => session.mutate(mutation)),
    transaction: <T>(work: (transaction: DqlTransaction) => Promise<T>) =>
      showingFaults(() => runTransaction(engine, work)),
    setSchema: (schema) =>
      showingFaults(async () => {
        await graphql.updateSchema(0, schema);
      }),
    alter: (text) =>
      showingFaults(() => engine.alter({ kind: "schema", text, runInBackground: false }, 0)),
    dropData: () => showingFaults(() => engine.alter({ kind: "dropData" }, 0)),
    close,
  };
}

function makeRequest(
  document: unknown,
  variables: unknown,
  { headers = {}, operationName }: GraphqlHeaders = {},
): GraphqlRequest {
  const query = textOfDocument(document);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    kind: "json",
    body: JSON.stringify({ query, variables, operationName }),
    headers: Object.fromEntries(lower) as Record<string, string>,
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  };
}

function readJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
