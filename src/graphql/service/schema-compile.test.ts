/** What an SDL may say, and the words in which it is refused (reference/graphql 1, reference/messages 4). */
import { describe, expect, test } from "vitest";
import { Fault } from "../../model/fault.ts";
import { compileSchema, validateSdl } from "./schema-compile.ts";

/** [what it is about, SDL, messages]. */
type Row = readonly [topic: string, sdl: string, ...messages: string[]];

function check(rows: readonly Row[]): void {
  test.each(rows.map(([topic, sdl, ...messages]) => ({ topic, sdl, messages })))(
    "$topic",
    ({ sdl, messages }) => {
      expect(validateSdl(sdl)).toEqual(messages);
    },
  );
}

describe("syntax", () => {
  check([
    ["nothing", "", "input: No schema specified"],
    ["blanks", " \n ", "input: No query or mutation found in the generated schema"],
    ["comments alone", "# none\n", "input: No query or mutation found in the generated schema"],
    ["an end too early", "type Oak {", "input:1: Expected Name, found <EOF>"],
    ["a missing colon", "type Oak {\n  age Int\n}", "input:2: Expected :, found Name"],
    ["a missing name", "type Oak {\n  : Int\n}", "input:2: Expected Name, found :"],
    ["empty braces", "type Oak {\n}", "input:2: expected at least one definition, found }"],
    ["an unknown word", "tree Oak { a: Int }", 'input:1: Unexpected Name "tree"'],
    ["a request", "type Oak { a: Int }\n{ a }", "input:2: Unexpected {"],
    ["a named request", "type A { a: Int } query Q { a }", 'input:1: Unexpected Name "query"'],
    ["JSON", '{"schema": "type A { b: Int }"}', "input:1: Unexpected {"],
    [
      "an interface of interfaces",
      "interface A { a: Int }\ninterface B implements A { b: Int }",
      'input:2: Unexpected Name "implements"',
    ],
    ["an odd character", "type A { a: ? }", 'input:1: Cannot parse the unexpected character "?".'],
    ["an open string", 'type A { a: "x }', "input:1: Unterminated string."],
    [
      "too many brackets",
      `type A { a: ${"[".repeat(100_000)} }`,
      "input:1: the document is nested too deeply",
    ],
  ]);
});

describe("names", () => {
  const reserved = (name: string, what: string): string =>
    `${name} is a reserved word, so you can't declare a ${what} with this name. Pick a different name for the ${what}.`;
  check([
    ["built-in scalars", "type Float { a: Int }", `input:1: ${reserved("Float", "type")}`],
    ["as, in any case", "type AS { a: Int }", `input:1: ${reserved("AS", "type")}`],
    [
      "the subscription root",
      "union Subscription = A",
      `input:1: ${reserved("Subscription", "type")}`,
    ],
    [
      "scalars of the user",
      "scalar Colour",
      "input:1: You can't add scalar definitions. Only type, interface, union, input and enums are allowed in initial schema.",
    ],
    [
      "names that generation takes",
      "type Oak { a: Int }\ninput OakPatch { a: Int }\nenum DeleteOakPayload { A }",
      `input:2: ${reserved("OakPatch", "INPUT_OBJECT")}`,
      `input:3: ${reserved("DeleteOakPayload", "ENUM")}`,
    ],
    [
      "a plain root field",
      "type Oak { a: Int }\ntype Query { tallest: Oak }",
      "input:2: GraphQL Query and Mutation types are only allowed to have fields with @custom/@lambda directive. Other fields are built automatically for you. Found Query tallest without @custom/@lambda.",
    ],
    [
      "fields",
      "type Oak {\n  uid: Int\n  leavesAggregate: Int\n  leaf(order: Int): Int\n}",
      "input:2: Type Oak; Field uid: uid is a reserved keyword and you cannot declare a field with this name.",
      "input:3: Type Oak; Field leavesAggregate: Aggregate is a reserved keyword and you cannot declare a field with Aggregate as suffix.",
      "input:4: Type Oak; Field leaf: can't have order as an argument because it is a reserved argument.",
    ],
    [
      "introspection's",
      "type __Oak { a: Int }",
      'input:1: Name "__Oak" must not begin with "__", which is reserved by GraphQL introspection.',
    ],
  ]);
});

describe("structure", () => {
  check([
    ["an unknown type", "type Oak {\n  in: Forest\n}", "input:2: Undefined type Forest."],
    [
      "an unknown interface",
      "type Oak implements Tree { a: Int }",
      'input:1: Undefined type "Tree".',
    ],
    ["an unknown directive", "type Oak { a: Int @tall }", "input:1: Undefined directive tall."],
    [
      "a directive in a wrong place",
      'type Oak { a: Int @secret(field: "b") }',
      "input:1: Directive secret is not applicable on FIELD_DEFINITION.",
    ],
    [
      "a directive of fields on a type",
      "type Oak @search { a: Int }",
      "input:1: Type Oak; has the @search directive, but it is not applicable at type level.",
    ],
    [
      "an unknown argument of a directive",
      "type Oak { a: String @search(with: [term]) }",
      "input:1: with is not supported as an argument for search directive.",
    ],
    [
      "two types of a name",
      "type Oak { a: Int }\ntype Oak { b: Int }",
      "input:2: Cannot redeclare type Oak.",
    ],
    [
      "two fields of a name",
      "type Oak {\n a: Int\n a: Int\n}",
      "input:3: Field Oak.a can only be defined once.",
    ],
    [
      "an enum value twice",
      "enum Leaf { GREEN GREEN }",
      "input:1: Enum value Leaf.GREEN can only be defined once.",
    ],
    [
      "a union of unions",
      "type A { a: Int } union U = A union V = U",
      'input:1: UNION type "U" must be OBJECT.',
    ],
    [
      "an input as a field",
      "input I { a: Int } type Oak { i: I }",
      "input:1: OBJECT Oak: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM.",
    ],
    [
      "a field that differs from its interface's",
      "interface Tree { age: Int }\ntype Oak implements Tree { age: Int! }",
      "input:2: For type Oak to implement interface Tree the field age must have type Int",
    ],
    [
      "a field of two interfaces",
      "interface A {\n x: Int }\ninterface B {\n x: Int }\ntype C implements A & B { y: Int }",
      "input:2: Field C.x can only be defined once.",
    ],
    [
      "only an ID",
      "type Oak { id: ID! }",
      "input:1: Type Oak; is invalid, a type must have atleast one field that is not of ID! type and doesn't have @custom/@lambda directive.",
    ],
    [
      "all of the last stage, in order",
      "type Oak {\n  a: ID\n  b: [ID!]\n  c: [[Int]]\n  d: [Boolean]\n}",
      "input:2: Fields a and b are listed as IDs for type Oak, but a type can have only one ID field. Pick a single field as the ID for type Oak.",
      "input:3: Type Oak; Field b: ID lists are invalid.",
      "input:4: Type Oak; Field c: Nested lists are invalid.",
      "input:5: Type Oak; Field d: Boolean lists are invalid.",
    ],
    [
      "an interface with an ID alone",
      "interface Tree { id: ID! } type Oak implements Tree { a: Int }",
    ],
    [
      "an ID of two interfaces",
      "interface A { id: ID! a: Int } interface B { id: ID! b: Int } type C implements A & B { c: Int }",
    ],
    [
      "a directive of the user's own",
      "directive @tall on FIELD_DEFINITION type Oak { a: Int @tall }",
    ],
  ]);
});

describe("@search", () => {
  const oak = (field: string): string => `enum Leaf { GREEN } type Oak { id: ID! ${field} }`;
  const where = "input:1: Type Oak; Field a:";
  check([
    ["hash, trigram and exact together", oak("a: String @search(by: [hash, trigram, exact])")],
    ["quoted and bare arguments", oak('a: [String] @search(by: ["term", fulltext])')],
    [
      "a single argument",
      oak("a: String @search(by: term)"),
      `${where} the @search directive requires a list argument, like @search(by: ["hash"])`,
    ],
    [
      "an unknown argument",
      oak("a: DateTime @search(by: [bogus])"),
      `${where} the argument to @search bogus isn't valid.Fields of type DateTime can have @search by day, hour, month and year.`,
    ],
    [
      "another type's argument",
      oak("a: Boolean @search(by: [hour])"),
      `${where} has the @search directive but the argument hour doesn't apply to field type Boolean.  Search by hour applies to fields of type DateTime. Fields of type Boolean are searchable by just @search.`,
    ],
    [
      "an enum's",
      oak("a: Leaf @search(by: [term])"),
      `${where} has the @search directive but the argument term doesn't apply to field type Leaf which is an Enum. Enum only supports hash, exact, regexp and trigram`,
    ],
    [
      "the same index twice",
      oak("a: String @search(by: [regexp, trigram])"),
      `${where} the argument to @search 'trigram' is the same as the index 'regexp' provided before and shouldn't be used together`,
    ],
    [
      "two of a date",
      oak("a: DateTime @search(by: [day, year])"),
      `${where} has the search directive on DateTime. DateTime allows only one argument for @search.`,
    ],
    [
      "objects",
      oak("a: Oak @search"),
      `${where} has the @search directive but fields of type Oak can't have the @search directive.`,
    ],
    [
      "vectors without @embedding",
      oak("a: [Float!] @search(by: [hnsw])"),
      `${where} has the @search directive but the argument hnsw requires the field also has @embedding directive.`,
    ],
    [
      "malformed options",
      oak('a: [Float!] @embedding @search(by: ["hnsw(metric:cosine)"])'),
      `${where} has the @search directive but the argument 'hnsw(metric:cosine)' with search options is malformed. Search options are comma-separated key-value pairs in YAML format => <optionName><COLON><SPACE><VALUE>`,
    ],
  ]);
});

describe("keys, secrets, defaults, vectors", () => {
  check([
    [
      "@id elsewhere",
      "type Oak {\n a: [Int] @id\n b: Boolean @id\n c: String @id\n}",
      "input:2: Type Oak; Field a: with @id directive must be of type String, Int or Int64, not [Int]",
      "input:3: Type Oak; Field b: with @id directive must be of type String, Int or Int64, not Boolean",
    ],
    [
      "@id for all types of an interface, in a type",
      "type Oak { a: Int @id(interface: true) }",
      "input:1: Type Oak; Field a: @id field with interface argument can only be defined in interface,not in Type",
    ],
    [
      "secrets",
      'type A @secret(field: "") { a: Int }\ntype B @secret(field: "b") { b: Int }\ntype C @secret(field: "x") @secret(field: "y") { c: Int }',
      'input:1: Type A; Argument "field" of secret directive is empty',
      "input:2: Type B; has a secret directive and field of the same name b",
      "input:3: Type C; has more than one secret fields x,y",
    ],
    [
      "defaults that do not fit",
      [
        "type Oak {",
        ' a: Int @default(add: {value: "old"})',
        ' b: Int64 @default(update: {value: "9223372036854775808"})',
        ' c: String @default(add: {value: "$now"})',
        ' d: [Int] @default(add: {value: "1"})',
        ' e: Oak @default(add: {value: "1"})',
        ' f: String @id @default(add: {value: "x"})',
        ' g: Boolean @default(add: {value: "TRUE"})',
        "}",
      ].join("\n"),
      'input:2: Type Oak; Field a: @default directive provides value "old" which cannot be used with Int',
      'input:3: Type Oak; Field b: @default directive provides value "9223372036854775808" which cannot be used with Int64',
      'input:4: Type Oak; Field c: @default directive provides value "$now" which cannot be used with String',
      "input:5: Type Oak; Field d: cannot use @default directive on field with list type [Int]",
      "input:6: Type Oak; Field e: cannot use @default directive on field with non-scalar type Oak",
      "input:7: Type Oak; Field f: cannot use @default directive on field with @id directive",
      'input:8: Type Oak; Field g: @default directive provides value "TRUE" which cannot be used with Boolean',
    ],
    ["a default without a value", "type Oak { a: Int @default(add: {}) b: Int @default }"],
    ["an unquoted default", "type Oak { a: Int @default(add: {value: 1}) }"],
    [
      "@embedding elsewhere",
      "type Oak {\n a: Float @embedding\n b: [Float] @embedding\n c: [Float!]! @embedding\n}",
      "input:2: Type Oak; Field a: The field with @embedding directive is of type Float, but @embedding directive only applies to fields of type [Float!].",
      "input:3: Type Oak; Field b: The field with @embedding directive is of type [Float], but @embedding directive only applies to fields of type [Float!].",
    ],
    [
      "@onDelete that says nothing, or what cannot be",
      'type Oak {\n a: Elm @onDelete(action: DELETE)\n b: Elm! @onDelete(action: NULLIFY)\n c: Int @onDelete(action: CASCADE)\n d: [Elm] @dgraph(pred: "~Elm.e") @onDelete(action: CASCADE)\n f: Point @onDelete(action: CASCADE)\n g: [Elm!]! @onDelete(action: NULLIFY)\n}\ntype Elm { n: Int e: Oak @onDelete(action: RESTRICT) }',
      "input:2: Type Oak; Field a: @onDelete directive needs the argument action, one of RESTRICT, CASCADE, NULLIFY.",
      "input:3: Type Oak; Field b: @onDelete(action: NULLIFY) would take away what the field's type requires: leave out the ! or choose RESTRICT or CASCADE.",
      "input:4: Type Oak; Field c: @onDelete directive only applies to fields that lead to stored nodes.",
      "input:5: Type Oak; Field d: @onDelete directive stands at the edge itself, not at a field that reads it backwards.",
      "input:6: Type Oak; Field f: @onDelete directive only applies to fields that lead to stored nodes.",
    ],
    [
      "@generate with other values",
      'type Oak @generate(query: {get: 1}, mutation: true, subscription: "yes") { a: Int }',
      "input:1: Type Oak; get field inside query argument of @generate directive can only be true/false, found: `1",
      "input:1: Type Oak; mutation argument for @generate directive should be of type Object.",
      "input:1: Type Oak; subscription argument in @generate directive can only be true/false, found: `yes`.",
    ],
  ]);
});

describe("edges", () => {
  check([
    [
      "inverses",
      [
        "type Oak {",
        " a: Bird @hasInverse",
        " b: Bird @hasInverse(field: none)",
        " c: Bird @hasInverse(field: song)",
        " d: Int @hasInverse(field: x)",
        " e: [Bird] @hasInverse(field: oak)",
        " f: [Bird] @hasInverse(field: oak)",
        "}",
        "type Bird { song: String oak: Oak }",
      ].join("\n"),
      "input:2: Type Oak; Field a: @hasInverse directive doesn't have field argument.",
      "input:3: Type Oak; Field b: inverse field none doesn't exist for type Bird.",
      "input:4: Type Oak; Field c: @hasInverse is required to link the fields of same type, but the field song is of the type String instead of Oak. To link these make sure the fields are of the same type.",
      "input:5: Type Oak; Field d: Field d is of type Int, but @hasInverse directive only applies to fields with object types.",
      "input:7: Type Oak; Field f: @hasInverse should be consistant. Oak.f is the inverse of Bird.oak, but Bird.oak is the inverse of Oak.e.",
    ],
    [
      "reverse edges",
      [
        "type Oak {",
        ' a: Bird @dgraph(pred: "~sings")',
        ' b: [Bird] @dgraph(pred: "~none")',
        ' c: [Int] @dgraph(pred: "~x")',
        ' d: [Bird] @dgraph(pred: "~eats")',
        " e: Int",
        "}",
        'type Bird { sings: Oak @dgraph(pred: "sings") eats: Bird @dgraph(pred: "eats") }',
      ].join("\n"),
      "input:2: Type Oak; Field a: with a dgraph directive that starts with ~ should be of type list.",
      "input:3: Type Oak; Field b: pred argument: ~none is not supported as forward edge doesn't exist for type Bird.",
      "input:4: Type Oak; Field c is of type Int, but reverse predicate in @dgraph directive only applies to fields with object types.",
      "input:8: Type Bird; Field eats: should be of type Oak to be compatible with @dgraph reverse directive but is of type Bird.",
    ],
    [
      "languages",
      [
        "type Oak {",
        ' a: Int @dgraph(pred: "n@sv")',
        ' b: String @dgraph(pred: "n@*")',
        ' c: String @dgraph(pred: "n@")',
        ' d: String @dgraph(pred: "n@sv@no")',
        ' e: String @dgraph(pred: "n@sv:no") @search',
        ' f: String @dgraph(pred: "n@da") @id',
        "}",
      ].join("\n"),
      "input:2: Type Oak; Field a: Expected type `String` for language tag field but got `Int`",
      "input:3: Type Oak; Field b: `*` language tag not supported in GraphQL",
      "input:4: Type Oak; Field c: empty language tag not supported",
      "input:5: Type Oak; Field d: multiple language tag not supported",
      "input:6: Type Oak; Field e: @search directive not applicable on language tag field with multiple languages",
      "input:7: Type Oak; Field f: @id directive not supported on language tag fields",
    ],
    [
      "mapping",
      'type Oak @dgraph(type: "as") {\n a: Int @dgraph(pred: "")\n b: Int @dgraph(pred: 3)\n c: Int @dgraph(pred: "uid")\n id: ID! @dgraph(pred: "x")\n}',
      "input:1: Type Oak; type argument 'as' for @dgraph directive is a reserved keyword.",
      "input:2: Type Oak; Field a: pred argument for @dgraph directive should not be empty.",
      "input:3: Type Oak; Field b: pred argument for @dgraph directive should be of type String.",
      "input:4: Type Oak; Field c: pred argument 'uid' for @dgraph directive is a reserved keyword.",
      "input:5: Type Oak; Field id: has the @dgraph directive but fields of type ID can't have the @dgraph directive.",
    ],
    [
      "one predicate for two things",
      [
        "interface Tree {",
        ' t: String @dgraph(pred: "p")',
        "}",
        "type Oak implements Tree {",
        ' own: String @dgraph(pred: "p")',
        "}",
        "type Bird {",
        ' a: Int @dgraph(pred: "p")',
        ' b: String @id @dgraph(pred: "p")',
        "}",
      ].join("\n"),
      "input:5: Type Oak; Field own: has the @dgraph directive, which conflicts with interface Tree; field t, that this type implements. These fields must use different Dgraph predicates.",
      "input:8: Type Bird; Field a: has type Int, which is different to type Tree; field t, which has the same @dgraph directive but type String. These fields must have either the same GraphQL types, or use different Dgraph predicates.",
      "input:2: Type Tree; Field t: doesn't have @id directive, which conflicts with type Bird; field b, which has the same @dgraph directive along with @id directive. Both these fields must either use @id directive, or use different Dgraph predicates.",
    ],
    [
      "a password's predicate",
      'type Oak @secret(field: "s", pred: "p") { a: Int }\ntype Bird { b: String @dgraph(pred: "p") }',
      "input:2: Type Bird; Field b: has the @dgraph predicate, but that conflicts with type Oak @secret directive on the same predicate. @secret predicates are stored encrypted and so the same predicate can't be used as a String.",
    ],
    [
      "predicates shared by fields that agree",
      'type Oak { a: String! @dgraph(pred: "p") } type Bird { a: String @dgraph(pred: "p") aSv: String @dgraph(pred: "p@sv") }',
    ],
  ]);
});

describe("comment lines", () => {
  test("origins and secrets are read", () => {
    const { meta } = compileSchema(
      'type Oak { a: Int }\n# Dgraph.Allow-Origin "https://a.example"\n#Dgraph.Other\n  #  Dgraph.Secret key "a value"\n',
    );
    expect(meta.allowOrigins).toEqual(["https://a.example"]);
    expect([...meta.secrets]).toEqual([["key", "a value"]]);
  });

  check([
    [
      "an origin without quotes",
      "# Dgraph.Allow-Origin https://a.example\ntype Oak {",
      'incorrect format for specifying Dgraph.Allow-Origin found for comment: `# Dgraph.Allow-Origin https://a.example`, it should be `# Dgraph.Allow-Origin "http://example.com"`',
    ],
    [
      "a secret without quotes",
      "# Dgraph.Secret key value\ntype Oak { a: Int }",
      "incorrect format for specifying Dgraph secret found for comment: `# Dgraph.Secret key value`, it should be `# Dgraph.Secret key value`",
    ],
    [
      "two authorizations",
      "# Dgraph.Authorization {}\n# Dgraph.Authorization []\ntype Oak { a: Int }",
      "Dgraph.Authorization should be only be specified once in a schema, found second mention: # Dgraph.Authorization []",
    ],
  ]);
});

describe("faults", () => {
  function faultOf(sdl: string): Fault {
    try {
      compileSchema(sdl);
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
    throw new Error("the SDL compiled");
  }

  test("each problem with a place ends its line", () => {
    const fault = faultOf("type Oak {\n a: [Boolean]\n b: [[Int]]\n}");
    expect(fault.code).toBe("E_GRAPHQL_SCHEMA");
    expect(fault.message).toBe(
      "input:2: Type Oak; Field a: Boolean lists are invalid.\ninput:3: Type Oak; Field b: Nested lists are invalid.\n",
    );
  });

  test("a problem without a place stands alone", () => {
    expect(faultOf("").message).toBe("input: No schema specified");
  });

  test.each([
    [
      'type A @key(fields: "x y") { x: String! @id }',
      "Type A; @key directive uses a field x y which is not defined inside the type.",
    ],
    [
      'type A @key(fields: "y") { x: String! @id  y: Int }',
      "Type A: Field y: used inside @key directive should be of type ID or have @id directive.",
    ],
    [
      'type A @key(fields: "x") @key(fields: "x") { x: String! @id }',
      "Type A; @key directive should not be defined more than once.",
    ],
    [
      'type A @remote @key(fields: "x") { x: ID! y: Int }',
      "Type A; @remote directive cannot be defined with @key directive",
    ],
    [
      "extend type A { x: String!  y: Int }",
      "Type A; Type Extension cannot be defined without @key directive",
    ],
    [
      'type A @key(fields: "x") { x: String! @id  y: Int @external }',
      "Type A: Field y: @external directive can only be defined on fields in type extensions. i.e., the type must have `@extends` or use `extend` keyword.",
    ],
    [
      'extend type A @key(fields: "x") { x: String! @id @external  y: Int @external @search  z: Int }',
      "Type A: Field y: @search directive can not be defined on @external fields that are not @key.",
    ],
    [
      'type A @key(fields: "x") { x: String! @id  y: Int  z: Int @requires(fields: "y") }',
      "Type A: Field z: @requires directive can only be defined on fields in type extensions. i.e., the type must have `@extends` or use `extend` keyword.",
    ],
    [
      'extend type A @key(fields: "x") { x: String! @id @external  y: Int  z: Int @requires(fields: "y") }',
      "Type A; Field y must be @external.",
    ],
    [
      'type A @key(fields: "x") { x: String! @id  b: B @provides(fields: "x") }\ntype B { x: String! @id }',
      "Type A; Field b does not return a type that has a @key.",
    ],
    [
      'type A @key(fields: "x") { x: String! @id  b: B @provides(fields: "q") }\ntype B @key(fields: "x") { x: String! @id }',
      "Type A; Field b: @provides field q doesn't exist for type B.",
    ],
  ])("federation: %s", (sdl, message) => {
    expect(validateSdl(sdl)).toEqual([`input:1: ${message}`]);
  });

  test("types of other services alone make no API", () => {
    expect(faultOf("type Oak @remote { a: Int }").message).toBe(
      "input: No query or mutation found in the generated schema",
    );
  });
});
