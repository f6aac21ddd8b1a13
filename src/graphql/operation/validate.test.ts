/**
 * Requests that do not fit the schema: the words and places that clients know (reference/graphql 4.11,
 * reference/messages 5).
 */
import { describe, expect, test } from "vitest";
import { RequestRefused } from "./errors.ts";
import type { ResponseError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import { parseDocument } from "./parse.ts";
import { validateDocument } from "./validate.ts";
import { checkRequestVariables, variablesOf } from "./variables.ts";
import { compileSchema } from "../service/schema-compile.ts";

const schema = compileSchema(`
  enum Colour { RED GREEN }
  interface Named { id: ID!  name: String! @search(by: [exact, term]) }
  type Boat implements Named { length: Float @search  crew: [Sailor] @hasInverse(field: boat) }
  type Sailor implements Named { badge: Int! @id  pay: Int64 @search  colour: Colour @search  boat: Boat }
  union Thing = Boat | Sailor
  type Box { id: ID!  things: [Thing]  label: String }
`);

function errorsOf(query: string, variables: JsonObject = {}): readonly ResponseError[] {
  try {
    const document = parseDocument(query);
    validateDocument(schema, query, document, variables);
    for (const node of document.definitions) {
      if (node.kind === "OperationDefinition") {
        checkRequestVariables(variablesOf(schema, node), variables);
      }
    }
  } catch (error) {
    if (error instanceof RequestRefused) return error.errors;
    throw error;
  }
  return [];
}

function at(message: string, column: number, line = 1): ResponseError {
  return { message, locations: [{ line, column }] };
}

describe("syntax", () => {
  test.each([
    ["{ queryBoat {", "Expected Name, found <EOF>", 14],
    ['{"query": 1}', "Expected Name, found String", 3],
    ["query 1", "Expected {, found Int", 7],
    ["foo { a }", 'Unexpected Name "foo"', 1],
    ['{ a(b: "x) }', "Unexpected <Invalid>", 13],
    ['{ a(b: "x\\q") }', "Unexpected <Invalid>", 11],
    ["{ a(b: 01) }", "Unexpected <Invalid>", 9],
    ["{ a % }", "Expected Name, found <Invalid>", 5],
    ["{ a { } }", "expected at least one definition, found }", 7],
    ["query($a: Int = $b) { a }", "Unexpected $", 17],
    ["type A { b: Int }", 'Unexpected Name "type"', 1],
  ])("%s", (query, message, column) => {
    expect(errorsOf(query)).toEqual([at(message, column)]);
  });

  test("lists of arguments and variables may be empty", () => {
    expect(errorsOf("query q() { queryBoat( # none\n) { id } }")).toEqual([]);
    expect(errorsOf("{ queryBoat() { zork } }")).toEqual([
      at('Cannot query field "zork" on type "Boat".', 17),
    ]);
  });

  test("many empty lists in a row are refused at once", () => {
    const [error] = errorsOf(`{ queryBoat${"()".repeat(20_000)} { id } }`);
    expect(error?.message).toBe("Expected Name, found )");
  });

  test("columns count characters, not code units", () => {
    expect(errorsOf('{ queryBoat(filter: {name: {eq: "😀"}}) { nme } }')).toEqual([
      at('Cannot query field "nme" on type "Boat". Did you mean "name"?', 42),
    ]);
  });
});

describe("fields and arguments", () => {
  test.each([
    ["{ queryBoat { nam } }", 'Cannot query field "nam" on type "Boat". Did you mean "name"?', 15],
    [
      "{ queryNamed { badge } }",
      'Cannot query field "badge" on type "Named". Did you mean to use an inline fragment on "Sailor"?',
      16,
    ],
    [
      "{ queryBoat(filters: {}) { id } }",
      'Unknown argument "filters" on field "queryBoat" of type "Query". Did you mean "filter"?',
      3,
    ],
    [
      "{ queryBoat }",
      'Field "queryBoat" of type "[Boat]" must have a selection of subfields. Did you mean "queryBoat { ... }"?',
      3,
    ],
    ["{ queryBoat { id @upper } }", 'Unknown directive "upper".', 19],
    [
      "{ queryBoat { x: id x: name } }",
      'Fields "x" conflict because id and name are different fields. Use different aliases on the fields to fetch both if this was intentional.',
      21,
    ],
    [
      '{ queryBoat { crew { id } } ... on Query { queryBoat(filter: {name: {eq: "a"}}) { id } } }',
      'Fields "queryBoat" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.',
      44,
    ],
    [
      '{ queryBoat @cascade(fields: ["nope"]) { id } }',
      "Field `nope` is not present in type `Boat`. You can only use fields in cascade which are in type `Boat`",
      14,
    ],
  ])("%s", (query, message, column) => {
    expect(errorsOf(query)).toEqual([at(message, column)]);
  });

  test("directives are told before the selection, their place last", () => {
    expect(errorsOf("{ queryBoat @no { id @no } }")).toEqual([
      at('Unknown directive "no".', 14),
      at('Unknown directive "no".', 23),
    ]);
    expect(errorsOf("query @skip(of: 1) { queryBoat { id } }")).toEqual([
      at('Unknown argument "of" on directive "@skip". Did you mean "if"?', 8),
      at('Directive "@skip" argument "if" of type "Boolean!" is required but not provided.', 8),
      at('Directive "skip" may not be used on QUERY.', 8),
    ]);
  });

  test("the faults of one field, of one operation and of one fragment have their order", () => {
    const messages = (query: string): string[] => errorsOf(query).map(({ message }) => message);
    expect(messages("{ getSailor(zz: 1, zz: 2) }")).toEqual([
      'Unknown argument "zz" on field "getSailor" of type "Query".',
      'Unknown argument "zz" on field "getSailor" of type "Query".',
      'There can be only one argument named "zz".',
      'Field "getSailor" of type "Sailor" must have a selection of subfields. Did you mean "getSailor { ... }"?',
    ]);
    expect(messages("mutation { addBoat }")).toEqual([
      'Field "addBoat" of type "AddBoatPayload" must have a selection of subfields. Did you mean "addBoat { ... }"?',
      'Field "addBoat" argument "input" of type "[AddBoatInput!]!" is required but not provided.',
    ]);
    expect(messages("query($a: Zork) { a: queryBoat { id } a: queryBox { id } }")).toEqual([
      'Variable "$a" is never used.',
      'Fields "a" conflict because queryBoat and queryBox are different fields. Use different aliases on the fields to fetch both if this was intentional.',
      'Unknown type "Zork".',
    ]);
    expect(
      messages("{ queryBoat { id } } fragment F on Saylor { id } fragment G on Boat { ...F }"),
    ).toEqual([
      'Fragment "F" is never used.',
      expect.stringMatching(/^Unknown type "Saylor"\. Did you mean .*"Sailor"/),
      'Fragment "G" is never used.',
    ]);
  });

  test("@cascade is told of its first wrong name; a scalar has none that is right", () => {
    const message = (type: string): string =>
      `Field \`a\` is not present in type \`${type}\`. You can only use fields in cascade which are in type \`${type}\``;
    expect(errorsOf('{ queryBoat @cascade(fields: ["id", "a", "b"]) { id } }')).toEqual([
      at(message("Boat"), 14),
    ]);
    expect(errorsOf('{ queryBoat { name @cascade(fields: "a") } }')).toEqual([
      at(message("String"), 21),
    ]);
  });

  test("numbers beyond 64 bits spoil all that holds them", () => {
    const beyond = "99999999999999999999";
    expect(errorsOf(`{ getSailor(badge: ${beyond}) { id } }`)).toEqual([
      at(`Out of range value '${beyond}', for type \`Int\``, 20),
      at(`Expected type Int, found ${beyond}.`, 20),
    ]);
    expect(errorsOf(`{ querySailor(filter: {badge: {eq: ${beyond}}}) { id } }`)).toEqual([
      at(`Out of range value '${beyond}', for type \`Int\``, 36),
      at(`Expected type Int, found ${beyond}.`, 36),
      at(`Expected type IntFilter, found {eq:${beyond}}.`, 31),
      at(`Expected type SailorFilter, found {badge:{eq:${beyond}}}.`, 23),
    ]);
  });

  test("operations without a name have one name", () => {
    const message = "This anonymous operation must be the only defined operation.";
    expect(errorsOf("{ queryBoat { id } } { queryBoat { id } }")).toEqual([
      at(message, 1),
      at(message, 22),
      at('There can be only one operation named "".', 22),
    ]);
  });

  test("what is inside is told before what holds it", () => {
    expect(errorsOf("{ queryBoat(limit: 1) { name { a } } }")).toEqual([
      at('Cannot query field "a" on type "String".', 32),
      at('Field "name" must not have a selection since type "String" has no subfields.', 25),
      at('Unknown argument "limit" on field "queryBoat" of type "Query".', 3),
    ]);
  });

  test("fragments in a circle, unused, impossible", () => {
    expect(
      errorsOf(
        "{ queryBoat { ...A } } fragment A on Boat { crew { boat { ...B } } } fragment B on Boat { ...A } fragment C on Boat { id }",
      ),
    ).toEqual([
      at('Cannot spread fragment "A" within itself via B.', 94),
      at('Fragment "C" is never used.', 98),
    ]);
    expect(errorsOf("{ queryBoat { ... on Box { id } } }")).toEqual([
      at(
        'Fragment cannot be spread here as objects of type "Boat" can never be of type "Box".',
        19,
      ),
    ]);
  });

  test("a field repeated a thousand times is no burden", () => {
    const query = `{ queryBoat { ${"crew { id } ".repeat(3000)} } }`;
    expect(errorsOf(query)).toEqual([]);
  });
});

describe("values", () => {
  test.each([
    [
      "{ querySailor(first: 1.5) { id } }",
      ['strconv.ParseInt: parsing "1.5": invalid syntax', "Expected type Int, found 1.5."],
      22,
    ],
    [
      "{ querySailor(filter: {badge: {eq: 2147483648}}) { id } }",
      ["Out of range value '2147483648', for type `Int`"],
      36,
    ],
    [
      "{ querySailor(filter: {pay: {eq: 1.0}}) { id } }",
      ["Type mismatched for Value `1.0`, expected: Int64, got: 'Float'"],
      34,
    ],
    [
      "{ querySailor(filter: {colour: {eq: BLUE}}) { id } }",
      ["Expected type Colour, found BLUE."],
      37,
    ],
    [
      "{ querySailor(filter: {has: shoe}) { id } }",
      ["Expected type SailorHasFilter, found shoe."],
      29,
    ],
    [
      "{ querySailor(filter: {badge: {ge: 1, le: 2}}) { id } }",
      ["IntFilter filter expects only one filter function, got: 2"],
      31,
    ],
    ["{ querySailor(filter: {id: [null]}) { id } }", ["Expected type ID!, found null."], 29],
    [
      'mutation { addSailor(input: [{name: "a"}]) { numUids } }',
      ["Field AddSailorInput.badge of required type Int! was not provided."],
      30,
    ],
  ])("%s", (query, messages, column) => {
    expect(errorsOf(query)).toEqual(messages.map((message) => at(message, column)));
  });
});

describe("variables", () => {
  test("uses that do not fit", () => {
    expect(errorsOf("query($n: String) { queryBoat(first: $n) { id } }", { n: "1" })).toEqual([
      at("Variable type provided String is incompatible with expected type Int", 38),
      at('Variable "$n" of type "String" used in position expecting type "Int".', 38),
    ]);
    expect(errorsOf("query Q { queryBoat(first: $n) { id } }")).toEqual([
      at('Variable "$n" is not defined by operation "Q".', 1),
    ]);
    expect(errorsOf("query($n: Int) { queryBoat { id } }")).toEqual([
      at('Variable "$n" is never used.', 7),
    ]);
  });

  test("a default makes up for a type that may be null", () => {
    expect(errorsOf("query($b: Boolean = true) { queryBoat { id @skip(if: $b) } }")).toEqual([]);
  });

  test.each<[string, JsonObject, string, (string | number)[]]>([
    ["query($b: Int!) { getSailor(badge: $b) { id } }", {}, "must be defined", ["variable", "b"]],
    [
      "query($b: Int!) { getSailor(badge: $b) { id } }",
      { b: null },
      "cannot be null",
      ["variable", "b"],
    ],
    [
      "query($b: Int!) { getSailor(badge: $b) { id } }",
      { b: "1" },
      "cannot use string as Int",
      ["variable", "b"],
    ],
    [
      "query($f: SailorFilter) { querySailor(filter: $f) { id } }",
      { f: { and: [{ not: { x: 1 } }] } },
      "unknown field",
      ["variable", "f", "and", 0, "not", "x"],
    ],
    [
      "query($f: SailorFilter) { querySailor(filter: $f) { id } }",
      { f: { badge: { in: "a" } } },
      "cannot use string as Int",
      ["variable", "f", "badge", "in", 0],
    ],
    [
      "query($b: Int!) { getSailor(badge: $b) { id } }",
      { b: [1] },
      "cannot use  as Int",
      ["variable", "b"],
    ],
    [
      "query($f: SailorFilter) { querySailor(filter: $f) { id } }",
      { f: 5 },
      "must be a SailorFilter",
      ["variable", "f"],
    ],
    [
      "query($c: Colour) { querySailor(filter: {colour: {eq: $c}}) { id } }",
      { c: "BLUE" },
      "BLUE is not a valid Colour",
      ["variable", "c"],
    ],
  ])("%s", (query, variables, message, path) => {
    expect(errorsOf(query, variables)).toEqual([{ message, path }]);
  });
});
