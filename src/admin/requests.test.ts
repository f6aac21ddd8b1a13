// Goal: requests to /admin are judged in the words of /graphql: every fault, in its place.
import { beforeAll, expect, test } from "vitest";
import { buildSchema } from "graphql";
import type { CompiledSchema } from "../graphql/schema/compiled-schema.ts";
import { RequestRefused, type ResponseError } from "../graphql/operation/errors.ts";
import { convertSchema } from "../graphql/schema/plain-schema.ts";
import { checkRequest } from "../graphql/service/foreign-request.ts";
import type { JsonObject } from "../graphql/operation/json.ts";
import { adminSdl } from "./admin-sdl.ts";

let schema: CompiledSchema;
beforeAll(() => {
  schema = convertSchema(buildSchema(adminSdl));
});

function refusalOf(
  query: string,
  variables: JsonObject = {},
  operationName = "",
): readonly ResponseError[] {
  try {
    checkRequest(schema, { query, operationName, variables, extensions: undefined });
    return [];
  } catch (error) {
    if (error instanceof RequestRefused) return error.errors;
    throw error;
  }
}

const at = (column: number): object => ({ locations: [{ line: 1, column }] });

test.each<[string, string, object[]]>([
  ["nothing", "", [{ message: "no query string supplied in request" }]],
  [
    "a name that is only nearly there",
    "{ getSchema { schema } }",
    [
      {
        message:
          'Cannot query field "getSchema" on type "Query". Did you mean "getGQLSchema" or "__schema"?',
        ...at(3),
      },
    ],
  ],
  [
    "a text that is none",
    "mutation { updateGQLSchema(input: {set: {schema: 12}}) { gqlSchema { schema } } }",
    [{ message: "Expected type String!, found 12.", ...at(50) }],
  ],
  [
    "an unknown member of an enum",
    "mutation { assign(input: {what: SHOES, num: 1}) { response { startId } } }",
    [{ message: "Expected type AssignKind!, found SHOES.", ...at(33) }],
  ],
  [
    "a missing member",
    "mutation { assign(input: {what: UID}) { response { startId } } }",
    [{ message: "Field AssignInput.num of required type UInt64! was not provided.", ...at(26) }],
  ],
  [
    "a number below zero",
    "mutation { assign(input: {what: UID, num: -1}) { response { startId } } }",
    [{ message: 'strconv.ParseUint: parsing "-1": invalid syntax', ...at(43) }],
  ],
  [
    "a number with a fraction",
    "mutation { assign(input: {what: UID, num: 1.5}) { response { startId } } }",
    [{ message: "Type mismatched for Value `1.5`, expected: UInt64, got: 'Float'", ...at(43) }],
  ],
  [
    "two operations and no name",
    "query a { health { status } } query b { health { status } }",
    [{ message: "Operation name must by supplied when query has more than 1 operation." }],
  ],
])("%s", (_what, query, expected) => {
  expect(refusalOf(query)).toEqual(expected);
});

test("variables", () => {
  const query = "mutation($i: AssignInput!) { assign(input: $i) { response { startId } } }";
  expect(refusalOf(query)).toEqual([{ message: "must be defined", path: ["variable", "i"] }]);
  expect(refusalOf(query, { i: { what: "SHOES", num: 1 } })).toEqual([
    { message: "SHOES is not a valid AssignKind", path: ["variable", "i", "what"] },
  ]);
  expect(refusalOf(query, { i: { what: "UID", num: 1 } })).toEqual([]);
});

test("introspection and fragments are fine", () => {
  const query =
    "query q { __schema { types { ...t } } } fragment t on __Type { name fields(includeDeprecated: true) { name } }";
  expect(refusalOf(query, {}, "q")).toEqual([]);
});
