import { describe, expect, test } from "vitest";
import { readDqlSchema } from "./dql-schema.ts";
import {
  findColumns,
  findEdges,
  findPredicates,
  groupTypes,
  parseTypedUid,
  printEdges,
  printNode,
  printTypeCounts,
  printTypePage,
  printStored,
  readFacets,
  readLine,
} from "./graph-queries.ts";

const schema = readDqlSchema({
  schema: [
    { predicate: "Person.name", type: "string", index: true, tokenizer: ["term"], lang: true },
    { predicate: "Person.age", type: "int" },
    { predicate: "Person.secret", type: "password" },
    { predicate: "Person.knows", type: "uid", list: true, reverse: true },
    { predicate: "dgraph.type", type: "string", list: true },
  ],
  types: [
    {
      name: "Person",
      fields: ["Person.name", "Person.age", "Person.secret", "Person.knows", "gone"].map(
        (name) => ({
          name,
        }),
      ),
    },
  ],
});
const [person] = schema.types;

test("a schema's predicates, with their indexes and traits", () => {
  expect(schema.predicates[0]).toEqual({
    name: "Person.name",
    type: "string",
    isList: false,
    tokenizers: ["term"],
    traits: ["lang"],
  });
  expect(schema.predicates[3]).toMatchObject({ isList: true, traits: ["reverse"] });
});

describe("queries", () => {
  const columns = findColumns(schema, person!);

  test("a page of a type asks for values and counts, and never for passwords", () =>
    expect(printTypePage("Person", columns, "0x5")).toBe(
      '{ q(func: eq(dgraph.type, "Person"), first: 50, after: 0x5) { uid v0: <Person.name> v1: <Person.age> c0: count(<Person.knows>) } }',
    ));

  test("names of types are texts: none ends the query", () =>
    expect(printTypeCounts([{ name: 'a") { uid } x(func: uid("', fields: [] }])).toBe(
      '{ t0(func: eq(dgraph.type, "a\\") { uid } x(func: uid(\\"")) { count(uid) } }',
    ));

  test("a node is asked for its values in all languages, and for edges in both directions", () => {
    const predicates = findPredicates(schema, ["Person"]);
    expect(findEdges(predicates)).toEqual([
      { predicate: "Person.knows", isBackwards: false },
      { predicate: "Person.knows", isBackwards: true },
    ]);
    expect(printNode("0x1", predicates)).toBe(
      "{ values(func: uid(0x1)) { <Person.name>@* <Person.age> } counts(func: uid(0x1)) { uid c0: count(<Person.knows>) c1: count(<~Person.knows>) } }",
    );
  });

  test("edges come with facets and with what their nodes are called", () =>
    expect(printEdges("0x1", { predicate: "Person.knows", isBackwards: true }, schema, "")).toBe(
      "{ q(func: uid(0x1)) { e: <~Person.knows> (first: 50) @facets { uid dgraph.type <Person.name> } } }",
    ));

  test("of a large schema a node is asked for the fields of its types alone", () => {
    const many = Array.from({ length: 400 }, (_, i) => ({
      name: `p${i}`,
      type: "int",
      isList: false,
      tokenizers: [],
      traits: [],
    }));
    const large = { predicates: [...schema.predicates, ...many], types: schema.types };
    expect(findPredicates(large, ["Person"]).map(({ name }) => name)).toEqual([
      "Person.name",
      "Person.age",
      "Person.knows",
    ]);
  });
});

test("types are counted some at a time, and of very many the first alone", () => {
  const types = Array.from({ length: 730 }, (_, i) => ({ name: `T${i}`, fields: [] }));
  const groups = groupTypes(types);
  expect(groups.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 50));
  expect(groups.flat()).toEqual(types.slice(0, 500));
  expect(groupTypes(types.slice(0, 3)).map(({ length }) => length)).toEqual([3]);
});

test("a node is called by the text whose name promises a name", () =>
  expect(
    readLine({ uid: "0x1", "dgraph.type": ["A"], "A.code": "c", "A.name": "n", "A.age": 3 }),
  ).toEqual({ uid: "0x1", types: ["A"], label: "n" }));

test("facets of the edge that leads to a node", () =>
  expect(readFacets({ uid: "0x1", "e|since": 2006, name: "n" })).toEqual([["since", 2006]]));

test.each([
  ["0x1F", "0x1f"],
  [" 31 ", "0x1f"],
  ["0xffffffffffffffff", "0xffffffffffffffff"],
  ["0", undefined],
  ["18446744073709551616", undefined],
  ["0x1) { uid } x(func: uid(0x2", undefined],
  ["", undefined],
])("the uid of %j", (text, uid) => expect(parseTypedUid(text)).toBe(uid));

test.each([
  [undefined, ""],
  [["a", "b"], "a, b"],
  [{ type: "Point", coordinates: [1, 2] }, '{"type":"Point","coordinates":[1,2]}'],
  [true, "true"],
])("the value %j", (value, text) => expect(printStored(value)).toBe(text));
