/** The rules of `@custom(http:)`, and the messages of those who break them (reference/graphql 8.2). */
import { expect, test } from "vitest";
import { validateSdl } from "../service/schema-compile.ts";

const base = "type Bird { id: ID! name: String! size: Int nest: Nest ";
const types = "}\ntype Nest { id: ID! at: String }\ninput In { a: Int }\n";

const field = (http: string): string => `${base}\n  x: String @custom(http: {${http}})\n${types}`;
const query = (http: string, given = ""): string =>
  `${base}${types}type Query {\n  q${given}: String @custom(http: {${http}})\n}`;

const url = 'url: "http://a.example/"';
const posted = `${url}, method: POST`;

test.each([
  [query("method: GET"), ["q; url field inside @custom directive is mandatory."]],
  [query(url), ["q; method field inside @custom directive is mandatory."]],
  [query('url: "a.example", method: GET'), ["q; url field inside @custom directive is invalid."]],
  [
    query('url: "http://a/%zz", method: GET'),
    ["q; url field inside @custom directive is invalid."],
  ],
  [
    query(`${url}, method: HEAD`),
    ["q; method field inside @custom directive can only be GET/POST/PUT/PATCH/DELETE."],
  ],
  [
    query('url: "http://a/$i", method: GET', "(i: ID)"),
    ["q; url path inside @custom directive uses an argument i that can be null."],
  ],
  [
    query('url: "http://a/?i=$i", method: GET'),
    ["q; url query inside @custom directive uses an argument i that is not defined."],
  ],
  [
    query(`${posted}, mode: BATCH`),
    ["q; mode field inside @custom directive can't be present on Query/Mutation."],
  ],
  [
    query(`${posted}, body: "{a: $a}"`),
    ["q; body template inside @custom directive uses an argument a that is not defined."],
  ],
  [
    query(`${posted}, body: "{a: word}"`),
    ["q; body template inside @custom directive could not be parsed: found unexpected value: word"],
  ],
  [
    query(`${posted}, body: "{a"`),
    ["q; body template inside @custom directive could not be parsed: input:1: Expected :, found )"],
  ],
  [
    query(`${posted}, body: "99999999999999999999"`),
    [
      'q; body template inside @custom directive could not be parsed: strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
  ],
  [
    query(`${posted}, graphql: ""`),
    [
      "q: inside graphql in @custom directive, found 0 operations, it can have exactly one operation.",
    ],
  ],
  [
    query(`${posted}, graphql: "{ a } { b }"`),
    [
      "q: inside graphql in @custom directive, found 2 operations, it can have exactly one operation.",
    ],
  ],
  [
    query(`${posted}, graphql: "subscription { a }"`),
    [
      "q: inside graphql in @custom directive, found `subscription` operation, it can only have query/mutation.",
    ],
  ],
  [
    query(`${posted}, graphql: "{ b: a @x { c } }"`),
    [
      "q: inside graphql in @custom directive, found query `a` with alias `b`, it can't have any alias.",
      "q: inside graphql in @custom directive, found query `a` with directives, it can't have any directives.",
      "q: inside graphql in @custom directive, found query `a` with a selection set, it can't have any selection set.",
    ],
  ],
  [
    query(`${posted}, graphql: "{ a(i: $i) }", skipIntrospection: maybe`),
    [
      "q; @custom directive, graphql must use fields with a variable definition, found `i`.",
      "q; skipIntrospection in @custom directive can only be true/false, found: `maybe`.",
    ],
  ],
  [
    query(`${posted}, graphql: "{ a }", introspectionHeaders: ["X:NO"]`),
    [
      "q; introspectionHeaders in @custom directive should use secrets to store the header value. To do that specify `NO` in this format '#Dgraph.Secret name value' at the bottom of your schema file.",
    ],
  ],
  [
    query(`${posted}, body: "1", forwardHeaders: ["X-A"], secretHeaders: ["x-a:KEY"]`),
    [
      "q; secretHeaders and forwardHeaders in @custom directive cannot have overlapping headers, found: `x-a:KEY`.",
    ],
  ],
  [
    query(`${url}, method: GET, forwardHeaders: ["Host", "a b"]`),
    [
      "q; the header `Host` in @custom directive is the server's own to set.",
      "q; `a b` in @custom directive is not the name of a header.",
    ],
  ],
  [
    field(`${posted}, body: "{x: $x, n: $nest, o: $other}"`),
    [
      "x; @custom directive, body template must use scalar fields, found field `nest` of type `Nest`.",
      "x; @custom directive, body template must use fields defined within the type, found `other`.",
      "x; @custom directive, body template can't require itself.",
      "x; @custom directive, body template can't use another field with @custom/@lambda directive, found field `x` with @custom/@lambda.",
      "x: @custom directive, body template must use a field with type ID! or a field with @id directive.",
    ],
  ],
  [
    field('url: "http://a/$size", method: GET, mode: BATCH'),
    [
      "x; url path inside @custom directive uses a field size that can be null.",
      "x; has parameters in url inside @custom directive while mode is BATCH, url can't contain parameters if mode is BATCH.",
    ],
  ],
  [
    field(
      `${posted}, mode: BATCH, body: "{i: $id}", graphql: "query($a: In, $b: In) { q(a: $a, b: $b) }"`,
    ),
    [
      "x: inside graphql in @custom directive, for BATCH mode, query `q` can have only one argument whose value should be a variable.",
    ],
  ],
])("%s", (sdl, expected) => {
  const found = validateSdl(sdl).map((problem) =>
    problem.replace(/^input:\d+: Type \w+; Field /, ""),
  );
  expect(found).toEqual(expected);
});

test("what the reference accepts beside", () => {
  for (const http of [
    'url: "/relative", method: GET',
    `${url}, method: "GET", retries: 3`,
    `${url}, method: GET, forwardHeaders: "X-A"`,
    `${posted}, body: " "`,
  ]) {
    expect(validateSdl(query(http))).toEqual([]);
  }
  expect(validateSdl(field(`${posted}, mode: BATCH`))).toEqual([]);
});

test("@lambdaOnMutate wants booleans, a lambda server, and nodes", () => {
  const sdl = 'type A @lambdaOnMutate(add: bad, delete: "false") { b: Int }';
  expect(validateSdl(sdl)).toEqual([
    "input:1: Type A; add argument in @lambdaOnMutate directive can only be true/false, found: `bad`.",
    'input:1: Type A; delete argument in @lambdaOnMutate directive can only be true/false, found: `"false"`.',
  ]);
  expect(validateSdl("type A @lambdaOnMutate(add: true) { b: Int }", false)).toEqual([
    "input:1: Type A: has the @lambdaOnMutate directive, but the `--graphql lambda-url` flag wasn't specified during alpha startup.",
  ]);
  expect(
    validateSdl("type A @remote @lambdaOnMutate(add: true) { b: Int }\ntype B { c: Int }"),
  ).toEqual([
    "input:1: Type A; @lambdaOnMutate directive not allowed along with @remote directive.",
  ]);
});
