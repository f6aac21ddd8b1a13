/** Requests while there is no schema. */
import type { ResponseError } from "./errors.ts";
import { writeRefusal } from "./handle-answer.ts";
import { readGraphqlBody, readJsonBody } from "./request-body.ts";
import { checkQuery, chooseOperation } from "./request-cache.ts";
import { parseDocument } from "./request-parse.ts";
import { selectKeys } from "./request-prepare.ts";
import type { GraphqlRequest } from "./service.ts";

/** No schema: one error for each root field, and no data. */
export function withoutSchema(
  request: GraphqlRequest,
  depthMax: number,
  extensions: (() => string) | undefined,
): Uint8Array {
  return writeRefusal(errorsWithoutSchema(request, depthMax), extensions);
}

export function errorsWithoutSchema(request: GraphqlRequest, depthMax: number): ResponseError[] {
  const fields =
    request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
  checkQuery(fields.query, depthMax);
  const document = parseDocument(fields.query);
  const operations = document.definitions.flatMap((node) =>
    node.kind === "OperationDefinition" ? [{ node }] : [],
  );
  const { node } = chooseOperation(undefined, operations, fields.operationName);
  return selectKeys(document, node).map((key) => ({
    message: `Not resolving ${key}. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema`,
  }));
}
