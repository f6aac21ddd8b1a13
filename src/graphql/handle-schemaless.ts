/** Requests while there is no schema. */
import { checkDepth } from "./document-depth.ts";
import { tooManyRoots } from "./document-meter.ts";
import type { DocumentLimits } from "./document-meter.ts";
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
  limits: DocumentLimits,
  extensions: (() => string) | undefined,
): Uint8Array {
  return writeRefusal(errorsWithoutSchema(request, limits), extensions);
}

export function errorsWithoutSchema(
  request: GraphqlRequest,
  limits: DocumentLimits,
): ResponseError[] {
  const fields =
    request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
  checkQuery(fields.query, limits.depthMax);
  const document = parseDocument(fields.query, limits);
  checkDepth(document, limits);
  const operations = document.definitions.flatMap((node) =>
    node.kind === "OperationDefinition" ? [{ node }] : [],
  );
  const { node } = chooseOperation(undefined, operations, fields.operationName);
  const keys = selectKeys(document, node);
  if (keys.length > limits.documentRootsMax) throw tooManyRoots(limits);
  return keys.map((key) => ({
    message: `Not resolving ${key}. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema`,
  }));
}
