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

/** An error of validation or of a variable. */
export function rewordProblem(error: GraphQLError): ResponseError {
  const missing = missingField.exec(error.message)?.groups;
  const message =
    missing === undefined
      ? error.message
      : `Field ${missing["field"]} of required type ${missing["type"]} was not provided.`;
  return error.locations === undefined ? { message } : { message, locations: error.locations };
}
