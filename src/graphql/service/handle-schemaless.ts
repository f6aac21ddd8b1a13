/** Requests while there is no schema. */
import { checkDepth } from "../operation/document-depth.ts";
import { tooManyRoots } from "../operation/document-meter.ts";
import type { DocumentLimits } from "../operation/document-meter.ts";
import type { ResponseError } from "../operation/errors.ts";
import { writeRefusal } from "../resolve/answer.ts";
import { readGraphqlBody, readJsonBody } from "../operation/body.ts";
import { checkQuery, chooseOperation } from "../operation/cache.ts";
import { parseDocument } from "../operation/parse.ts";
import { selectKeys } from "../operation/prepare.ts";
import type { GraphqlRequest } from "../operation/request.ts";

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
