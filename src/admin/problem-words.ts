/** What graphql-js finds wrong with a request to /admin, in the words that clients know (graphql-messages.md E.1). */
import type { GraphQLError } from "graphql";
import type { ResponseError } from "../graphql/errors.ts";
import { toSyntaxProblem } from "../graphql/syntax-problem.ts";

const missingField =
  /^Field "(?<field>[^"]+)" of required type "(?<type>[^"]+)" was not provided\.$/;

/** A syntax error. */
export function rewordSyntax(error: unknown): ResponseError {
  const { message, line, column } = toSyntaxProblem(error);
  return { message, locations: [{ line, column }] };
}

const unknownOperation = /^Unknown operation named "(?<name>.*)"\.$/;

/** Of a document with several operations (graphql.md 4.1). */
function rewordOperation(message: string): string {
  if (message === "Must provide operation name if query contains multiple operations.") {
    return "Operation name must by supplied when query has more than 1 operation.";
  }
  const name = unknownOperation.exec(message)?.groups?.["name"];
  return name === undefined
    ? message
    : `Supplied operation name ${name} isn't present in the request.`;
}

/** An error of validation or of a variable. */
export function rewordProblem(error: GraphQLError): ResponseError {
  const missing = missingField.exec(error.message)?.groups;
  const message =
    missing === undefined
      ? rewordOperation(error.message)
      : `Field ${missing["field"]} of required type ${missing["type"]} was not provided.`;
  return error.locations === undefined ? { message } : { message, locations: error.locations };
}
