import { lexShape, parseCondition, parseQuery, parseUpsertQuery } from "../exec/dql.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import type { Field, PredicateField, QueryDocument } from "./ast.ts";
import { parseUpsert } from "./mutation-parser.ts";
import { readQueryParameters } from "./parameters.ts";
import { printQuery } from "./print.ts";
import { runs } from "../../test/support/runs.ts";

function parse(text: string, variables: Record<string, string> = {}): QueryDocument {
  return parseQuery(text, new Map(Object.entries(variables)));
}

function refusalOf(parsing: () => unknown): string {
  try {
    parsing();
    return "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}

function firstField(text: string): Field {
  const field = parse(text).blocks[0]?.children[0];
  if (field === undefined) throw new Error("no field");
  return field;
}

test("a block has its name, root, page, order, filter and fields", () => {
  const [block] = parse(`{
    q(func: eq(name@en, "Ada", [1, 2]), first: -5, offset: 2, orderdesc: born@de)
      @filter(has(age) and not (le(age, 5) or gt(count(~friend), 2))) @cascade(name, age) {
      id: uid
      friend (first: 3) @facets(since) @filter(type(Person)) { name }
    }
  }`).blocks;
  expect(block).toMatchObject({
    kind: "query",
    name: "q",
    root: {
      name: "eq",
      subject: { kind: "predicate", name: "name", reverse: false, languages: ["en"] },
      args: [
        { kind: "literal", literal: { text: "Ada", quoted: true } },
        { kind: "list", items: [{ text: "1" }, { text: "2" }] },
      ],
    },
    page: { first: { text: "-5" }, offset: { text: "2" } },
    order: [{ by: { name: "born", languages: ["de"] }, descending: true }],
    directives: { cascade: ["name", "age"] },
    filter: {
      kind: "and",
      filters: [
        { kind: "call", call: { name: "has" } },
        { kind: "not", filter: { kind: "or" } },
      ],
    },
  });
  expect(block?.children[0]).toMatchObject({ kind: "uid", alias: "id" });
  expect(block?.children[1]).toMatchObject({
    kind: "predicate",
    page: { first: { text: "3" } },
    facets: { all: false, fields: [{ key: "since" }] },
    children: [{ kind: "predicate", predicate: { name: "name" } }],
  });
});

test("not binds tighter than and, and tighter than or", () => {
  const [block] = parse(
    "{ q(func: uid(1)) @filter(has(a) or has(b) and not has(c)) { uid } }",
  ).blocks;
  expect(block?.filter).toMatchObject({
    kind: "or",
    filters: [{ kind: "call" }, { kind: "and", filters: [{ kind: "call" }, { kind: "not" }] }],
  });
});

test("minus binds tighter than plus, products left to right", () => {
  const field = firstField("{ q(func: uid(1)) { x: math(1 + 2 - 3 * 4 / 5) } }");
  expect(field).toMatchObject({
    kind: "math",
    expression: {
      operator: "+",
      operands: [
        { kind: "constant" },
        { operator: "-", operands: [{}, { operator: "/", operands: [{ operator: "*" }, {}] }] },
      ],
    },
  });
});

test("a query variable stands alone beside an operator word", () => {
  const document = parse(
    "query q($v: float32vector) { q(func: has(e)) { e as emb x: math(e dot $v) y: math($v dot e) } }",
    { $v: "[1, 2]" },
  );
  expect(document.blocks[0]?.children[2]).toMatchObject({
    expression: { operator: "dot", operands: [{ kind: "constant" }, { kind: "variable" }] },
  });
});

test("names take dashes, and anything between angle brackets", () => {
  expect(firstField("{ q(func: uid(1)) { tweet-a-b } }")).toMatchObject({
    predicate: { name: "tweet-a-b" },
  });
  expect(firstField("{ q(func: uid(1)) { <größe/x> } }")).toMatchObject({
    predicate: { name: "größe/x" },
  });
});

test("fragments are put in their places", () => {
  const document = parse(
    "{ q(func: uid(1)) { ...a friend { ...b } } } fragment a { name ...b } fragment b { age }",
  );
  const names = document.blocks[0]?.children.map(
    (field) => (field as PredicateField).predicate.name,
  );
  expect(names).toEqual(["name", "age", "friend"]);
  expect(refusalOf(() => parse("{ q(func: uid(1)) { ...a } }"))).toBe("Missing fragment: a");
  const circle = "{ q(func: uid(1)) { ...a } } fragment a { ...b } fragment b { ...a }";
  expect(refusalOf(() => parse(circle))).toBe("Cycle detected: a");
});

test("query variables are checked and put in", () => {
  const text = "query q($n: int = 3, $s: string!) { q(func: eq(name, $s), first: $n) { uid } }";
  expect(parse(text, { $s: "Ada" }).blocks[0]).toMatchObject({
    root: { args: [{ literal: { text: "Ada", parameter: "$s" } }] },
    page: { first: { text: "3" } },
  });
  expect(refusalOf(() => parse(text))).toBe("Variable $s should be initialised");
  expect(refusalOf(() => parse(text, { $s: "x", $n: "many" }))).toBe(
    'Expected an int but got many: strconv.ParseInt: parsing "many": invalid syntax',
  );
});

test("the values of another request can be read without parsing it again", () => {
  const text = "query q($ids: string, $n: int = 3) { q(func: uid($ids), first: $n) { uid } }";
  const { parameters } = parse(text, { $ids: "0x1" });
  if (parameters === undefined) throw new Error("no parameters");
  const values = readQueryParameters(parameters, new Map([["$ids", "0x22"]]));
  expect(values).toEqual(
    new Map([
      ["$ids", "0x22"],
      ["$n", "3"],
    ]),
  );
  expect(readQueryParameters(parameters, new Map([["$ids", "[1, 2]"]]))).toBeUndefined();
  expect(() => readQueryParameters(parameters, new Map([["$x", "1"]]))).toThrow(
    "Type of variable $x not specified",
  );
});

test.each([
  ["{ q { uid } }", 'line 1 column 4: Expected Left round brackets. Got: lex.Item [6] "{" at 1:4'],
  ["{ q(func: uid(1)) { a: b: c } }", "line 1 column 23: Invalid colon after alias declaration"],
  ["{ q(func: uid(1)) {\n na me; } }", "line 2 column 6: "],
  [
    "{ q(func: has(größe)) { uid } }",
    "column 16: Unrecognized character inside a func: U+00F6 'ö'",
  ],
  [
    "{ q(func: uid(v)) { uid } }",
    "Some variables are used but not defined\nDefined:[]\nUsed:[v]\n",
  ],
  ["{ v as var(func: uid(1)) }", "Some variables are defined but not used\nDefined:[v]\nUsed:[]\n"],
  ["{ q(func: uid(1)) {uid} q(func: uid(2)) {uid} }", "Duplicate aliases not allowed: q"],
  ['{ q(func: eq(name, "a\nb")) { uid } }', 'could not unquote "\\"a\\nb\\"":: invalid syntax'],
  [
    "{ q(func: uid(0x1ffffffffffffffff)) { uid } }",
    'The uid value "0x1ffffffffffffffff" is too large.',
  ],
  ["mutation { set { } }", "line 1 column 0: Mutation block no longer allowed."],
  ["foo { q }", "at line 1 column 0: Invalid operation type: foo"],
  ["{ q(func: uid(1)) { ..x } }", 'Expected 3 periods ("..."), got 2.'],
  [
    "{ q(func: has(a)) @groupby(a) { count(uid) { b } } }",
    "line 1 column 47: Cannot have children attributes when asking for count.",
  ],
  [
    "{ q(func: has(a)) @groupby(a) { count(uid) @groupby(b) { count(uid) } } }",
    "line 1 column 68: Cannot have children attributes when asking for count.",
  ],
  ["{ q(func: has(a)) { @groupby(a) { count(uid) } } }", "Invalid use of directive."],
  ["{ v as @groupby(a) { count(uid) } }", "Expected Left round brackets. Got: lex.Item"],
  ["{ a()() }", "line 1 column 5: Malformed Query. Missing {. Got ("],
])("%j is refused", (text, message) => {
  expect(refusalOf(() => parse(text))).toContain(message);
});

test("a directive behind `v as` belongs to what stands before it; the variable waits for a field", () => {
  const grouped = parse("{ q(func: has(a)) { v as @groupby(a) { count(uid) } } }");
  expect(grouped.blocks[0]?.directives.groupBy).toHaveLength(1);
  const filtered = parse("{ q(func: has(a)) { v as @filter(has(b)) a } w(func: uid(v)) { uid } }");
  expect(filtered.blocks[0]).toMatchObject({
    filter: { kind: "call", call: { name: "has" } },
    children: [{ kind: "predicate", variable: "v" }],
  });
});

test("a text nested without end is refused, not run into the stack", () => {
  const deep = 100_000;
  const texts = [
    `{ q(func: uid(1)) ${"{ a ".repeat(deep)}${"}".repeat(deep + 1)}`,
    `{ q(func: uid(1)) @filter(${"(".repeat(deep)}has(a)${")".repeat(deep)}) { uid } }`,
    `{ q(func: ${"eq(".repeat(deep)}a${")".repeat(deep)}) { uid } }`,
    `{ q(func: uid(1)) { x: math(${"(".repeat(deep)}1${")".repeat(deep)}) } }`,
    `{ q(func: uid(1)) { x: math(1${"+1".repeat(deep)}) } }`,
  ];
  for (const text of texts) expect(refusalOf(() => parse(text))).not.toBe("");
  const chain = `{ q(func: uid(1)) @filter(${"has(a) and ".repeat(5000)}has(b)) { uid } }`;
  expect(parse(chain).blocks[0]?.filter).toMatchObject({ kind: "and" });
});

const questions = [
  "{ q(func: has(name)) { uid name@en:fr:. n: count(friend) count(uid) } }",
  "{ v as var(func: uid(1, 2)) @cascade { a as age } q(func: uid(v), orderasc: val(a)) { val(a) } }",
  "{ q(func: regexp(name, /a\\/b/i), after: 0x5) @normalize { x: name @facets(a, b: c) expand(_all_) { uid } } }",
  "{ q(func: near(loc, [1.5, -2], 1000)) @filter(uid_in(friend, [0x1, 2])) { friend @facets(orderdesc: w) @facets(ge(w, 1)) { uid } } }",
  "{ p as shortest(from: 0x1, to: uid(t), numpaths: 2) { road @facets(km) } t as var(func: uid(3)) q(func: uid(p)) { uid } }",
  "{ q(func: has(a)) @groupby(a, x: b@en) { count(uid) m: max(c) } r(func: uid(1)) @recurse(depth: 3, loop: true) { a } }",
  '{ q(func: has(e)) { x as a y: math(cond(x > 1, -x, pow(x, 2)) + 3.5) z: math(logbase(x, 2) % 7) s: checkpwd(pw, "secret") } m() { min(val(x)) } }',
  '{ q(func: similar_to(e, 3, "[1, 2]", ef: 10)) @filter(eq(val(x), 1) or gt(len(y), 0)) { uid } x(func: uid(1)) { x as a y as b } }',
  '{ q(func: eq(name, "tab\\t \\"quoted\\" \\\\ é ☃")) @ignorereflex { friend { friend } } }',
  "schema(pred: [a, <b-c>]) { type index }",
];

test.each(questions)("printed and parsed again it is the same: %j", (text) => {
  const once = printQuery(parse(text));
  const again = parse(once);
  expect(printQuery(again)).toBe(once);
  expect(plain(again)).toEqual(plain(parse(text)));
});

/** Without places and token numbers. */
function plain(document: QueryDocument): unknown {
  return JSON.parse(
    JSON.stringify(document, (key, value: unknown) =>
      key === "at" || key === "token" ? undefined : value,
    ),
  );
}

test("whatever is done to a text, parsing it ends in a tree or a fault", () => {
  const seeds = [
    ...questions,
    'upsert { query { q(func: uid(1)) { v as uid } } mutation @if(eq(len(v), 1)) { set { <1> <a> "b" . } } }',
  ];
  const edit = fc.record({
    seed: fc.constantFrom(...seeds),
    at: fc.nat(),
    drop: fc.nat(6),
    insert: fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom(
        "{",
        "}",
        "(",
        ")",
        '"',
        "@",
        "[",
        "]",
        "$a",
        "<",
        "...",
        "#",
        "as",
        "val(",
        "\\",
      ),
    ),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      let text = edits[0]?.seed ?? "";
      for (const { at, drop, insert } of edits) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + insert + text.slice(place + drop);
      }
      refusalOf(() => parse(text, { $a: "1" }));
      refusalOf(() => parseUpsert(text));
      lexShape(text);
    }),
    { numRuns: runs(3000) },
  );
});

test("random characters end in a tree or a fault", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      refusalOf(() => parse(text));
      refusalOf(() => parse(`{ q(func: ${text}`));
      refusalOf(() => parse(`{ q(func: uid(1)) { ${text} } }`));
    }),
    { numRuns: runs(2000) },
  );
});

test("texts of one shape differ in nothing but their literals", () => {
  const shape = (name: string, age: number, first: number, uid: string): string =>
    `{ q(func: eq(name, "${name}"), first: ${first}) @filter(ge(age, ${age}) AND uid(${uid})) { uid c: math(${age} / 7) } }`.replace(
      "math(" + String(age),
      "math(1",
    );
  const word = fc.string({
    unit: fc.constantFrom("a", "b", " ", "é", "(", "{", "#", ","),
    maxLength: 8,
  });
  const request = fc.record({
    name: word,
    age: fc.integer({ min: 1, max: 99_999 }),
    first: fc.integer({ min: 1, max: 500 }),
    uid: fc.integer({ min: 1, max: 2 ** 40 }).map((uid) => `0x${uid.toString(16)}`),
  });
  fc.assert(
    fc.property(request, request, (a, b) => {
      const [textA, textB] = [a, b].map(({ name, age, first, uid }) =>
        shape(name, age, first, uid),
      );
      const [one, two] = [lexShape(textA ?? ""), lexShape(textB ?? "")];
      if (one === undefined || two === undefined) throw new Error("no shape");
      expect(one.shape).toBe(two.shape);
      expect(fill(parse(textA ?? ""), two.literals)).toEqual(plain(parse(textB ?? "")));
    }),
  );
});

/** The tree with the literals of another text of its shape. */
function fill(document: QueryDocument, literals: readonly string[]): unknown {
  const filled = JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    const literal = value as { token?: number };
    if (typeof value !== "object" || value === null || literal.token === undefined) return value;
    return literal.token < 0 ? value : { ...value, text: literals[literal.token] };
  }) as QueryDocument;
  return plain(filled);
}

test.each([
  "{ q(func: uid(1), first: 0) { uid } }",
  "{ q(func: uid(1)) { x: math(5 + 6) } }",
  "{ q(func: near(loc, [1, 2], 5)) { uid } }",
  "{ q(func: uid(1)) @cascade(a, 5) { a } }",
  "query q($a: int) { q(func: eq(a, $a), first: 5) { uid } }",
])("nothing is lifted where a literal decides about the tree: %j", (text) => {
  expect(lexShape(text)?.literals.filter((literal) => literal !== "1") ?? []).toEqual([]);
});

test("upsert blocks come apart", () => {
  const body = `upsert {
    query { q(func: eq(email, "a")) { v as uid } }
    mutation @if(eq(len(v), 0)) { set { _:a <email> "a" . } }
    mutation { delete { uid(v) <old> * . } set { uid(v) <new> "}" . } }
  }`;
  const { query, mutations } = parseUpsert(body);
  expect(mutations.map(({ condition }) => condition.trim())).toEqual(["@if(eq(len(v), 0))", ""]);
  expect(mutations[1]).toMatchObject({ set: ' uid(v) <new> "}" . ', delete: " uid(v) <old> * . " });
  const conditions = mutations.map(({ condition }) => condition);
  const parsed = parseUpsertQuery({ query: query ?? "", conditions, uses: ["v"] });
  expect(parsed.conditions[0]).toMatchObject({ kind: "call", call: { name: "eq" } });
  expect(parsed.conditions[1]).toBeUndefined();
  expect(refusalOf(() => parseUpsertQuery({ query: query ?? "", conditions, uses: ["w"] }))).toBe(
    "Some variables are used but not defined\nDefined:[__dgraph_upsertcheck_0__ v]\nUsed:[__dgraph_upsertcheck_0__ v w]\n",
  );
});

test.each([
  ["{ del { <1> <a> * . } }", "Invalid mutation operation."],
  ['{ set { <1> <a> "x . } }', "Unclosed mutation value"],
  ["{ set { <1> <a{> * . } }", "Invalid character '{' inside mutation text"],
  ["upsert { query { q(func: uid(1)) { uid } } }", "Empty mutation block"],
  ["upsert { mutation { set { } } }", "Query op not found in upsert block"],
  ["upsert { mutation @filter(x) { set { } } }", "Expected @if, found [@filter]"],
])("the body %j is refused", (text, message) => {
  expect(refusalOf(() => parseUpsert(text))).toContain(message);
});

test.each([
  ["@if eq(len(v), 1)", "must start with @if( or @filter("],
  ["@if(eq(len(v), 1)", "unbalanced parentheses"],
  ["@if(eq(len(v), 1)) { x }", "unexpected content after condition"],
])("the condition %j is refused", (condition, reason) => {
  expect(refusalOf(() => parseCondition(condition))).toBe(`invalid cond value: ${reason}`);
});

test("empty conditions are always true", () => {
  expect(parseCondition("@if()")).toBeUndefined();
  expect(parseCondition("@IF (eq(len(v), 1))")).toMatchObject({ kind: "call" });
});

test.each([
  ["{ q(func: eq((a), 1)) { a } }", 'line 1 column 12: Expected a function but got "("'],
  ["{ q(func: eq(a, (b))) { a } }", 'line 1 column 14: Expected a function but got ","'],
  [
    "{ q(func: eq(val(a), (b))) { a } }",
    "line 1 column 21: Multiple functions as arguments not allowed",
  ],
  ["{ q(func: uid(1 *)) { a } }", "line 1 column 17: Expected comma or language but got: )"],
  [
    "{ q(func: uid(1)) { a@... } }",
    "line 1 column 24: Expected only one dot(.) while parsing language list.",
  ],
  ["{ q(func: uid(1)) { a@da:.. } }", 'line 1 column 26: Expected 3 periods ("..."), got 1.'],
  [
    "{ q(func: uid(1)) { a (first: -) { b } } }",
    'line 1 column 33: Expecting argument name. Got: lex.Item [6] "{" at 1:33',
  ],
  ["{ q(func: uid(1)) { a (first: <>) { b } } }", "line 1 column 34: Got empty argument"],
  [
    "{ q(func: uid(1), first: <>) { b } }",
    "line 1 column 27: unable to get value when parsing key value pairs",
  ],
  [
    "{ q(func: uid(1)) { <> as math(1) } }",
    "line 1 column 30: Function math should be used with a variable or have an alias",
  ],
])("%s is refused in the place where it goes wrong", (text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test.each([
  ["eq(name, $, 5)", "Consecutive commas not allowed."],
  ["eq(name, $)", "Empty Argument"],
  ["eq(name $, 5)", "Invalid use of comma after dollar."],
  ["eq(name, $$a)", "Invalid use of $ in func args"],
  ["eq(name, -(5))", "Expected comma or language but got: 5"],
  ["eq(-)", "Expecting argument name."],
  ["eq(name $)", ""],
  ["eq(name, 5 $)", ""],
  ["eq($val(x), 5)", "Invalid use of comma after dollar."],
])("a dollar or an operator without a value: %s", (call, message) => {
  const text = `{ q(func: ${call}) { uid } }`;
  const refusal = refusalOf(() => parse(text));
  if (message === "") expect(refusal).toBe("");
  else expect(refusal).toContain(message);
});

test("a call loses the operator before it", () => {
  const [block] = parse("{ x as var(func: has(a)) q(func: eq(-val(x), 5)) { uid } }").blocks.slice(
    1,
  );
  expect(block?.root).toMatchObject({ subject: { kind: "val", variable: "x" } });
});
