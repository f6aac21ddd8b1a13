/** Documents that are short and stand for long ones, and long ones whose parts could be compared with each other. */
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../model/limits.ts";
import { checkDepth } from "./document-depth.ts";
import { DocumentMeter } from "./document-meter.ts";
import { RequestRefused } from "./errors.ts";
import type { ResponseError } from "./errors.ts";
import { RequestCache } from "./cache.ts";
import type { JsonObject } from "./json.ts";
import { isTooDeep } from "./lift.ts";
import { makeLocator, parseDocument } from "./parse.ts";
import { validateDocument } from "./validate.ts";
import { compileSchema } from "../service/schema-compile.ts";

const schema = compileSchema(`
  interface Named { id: ID!  name: String @search(by: [hash]) }
  type Person implements Named { age: Int @search  best: Person  friends: [Person] }
  type Place implements Named { size: Int  owner: Person }
`);

const list = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(" ");

/** Texts of these tests are long where others stand for long ones. */
const roomy = { ...defaultLimits, documentFieldsMax: 30_000, documentTokensMax: 1e7 };

function errorsOf(
  query: string,
  variables: JsonObject = {},
  limits = roomy,
): readonly ResponseError[] {
  const cache = new RequestCache(schema, limits);
  try {
    cache.prepare({ query, operationName: "", variables, extensions: undefined });
  } catch (error) {
    if (error instanceof RequestRefused) return error.errors;
    throw error;
  }
  return [];
}

/** Steps that validation takes. */
function stepsOf(query: string): number {
  const meter = new DocumentMeter({ ...roomy, documentFieldsMax: 1e9 });
  try {
    validateDocument(schema, query, parseDocument(query), {}, meter);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
  }
  return meter.steps;
}

const chain = (count: number, body: (i: number) => string): string =>
  list(count, (i) => `fragment f${i} on Person { ${i === count - 1 ? "id" : body(i + 1)} }`);

describe("the work of validation is in proportion to the document", () => {
  test.each<[string, (n: number) => string]>([
    ["roots", (n) => `{ ${list(n, (i) => `a${i}: queryPerson { id }`)} }`],
    ["fields of one name", (n) => `{ queryPerson { ${"name ".repeat(n)} } }`],
    [
      "nested fields of one name",
      (n) => `{ queryPerson { ${"best { best { id } } ".repeat(n)} } }`,
    ],
    ["directives", (n) => `{ queryPerson { id ${"@include(if: true) ".repeat(n)} } }`],
    ["fragments unused", (n) => `{ queryPerson { id } } ${chain(n, () => "id")}`],
    [
      "fragments used",
      (n) => `{ queryPerson { ${list(n, (i) => `...f${i}`)} } } ${chain(n, () => "id")}`,
    ],
    ["fragments in a chain", (n) => `{ queryPerson { ...f0 } } ${chain(n, (i) => `...f${i} age`)}`],
    [
      "a chain from its end",
      (n) => `{ queryPerson { ...f0 } } ${chain(n, (i) => `...f${i} ...f${i}`)}`,
    ],
    [
      "variables",
      (n) =>
        `query(${list(n, (i) => `$v${i}: Int`)}) { queryPerson { ${list(n, (i) => `a${i}: friends(first: $v${i}) { id }`)} } }`,
    ],
    ["inline fragments", (n) => `{ queryNamed { ${"... on Person { id } ".repeat(n)} } }`],
    [
      "types below abstract ones",
      (n) =>
        `{ queryNamed { ${"... on Person { best { id } } ... on Place { owner { id } } ".repeat(n)} } }`,
    ],
  ])("%s", (_, make) => {
    const steps = stepsOf(make(100));
    expect(steps).toBeGreaterThan(90);
    expect(stepsOf(make(200))).toBeLessThan(2.1 * steps);
  });
});

const tooLarge = [{ message: expect.stringContaining("(--limit document-fields)") }];

describe("short documents that stand for long ones", () => {
  const doubling = (i: number): string => `a: best { ...f${i} } b: best { ...f${i} }`;

  test("fragments that spread each other twice, below fields", () => {
    expect(errorsOf(`{ queryPerson { ...f0 } } ${chain(12, doubling)}`)).toEqual([]);
    expect(errorsOf(`{ queryPerson { ...f0 } } ${chain(24, doubling)}`)).toEqual(tooLarge);
  });

  test("what they come to is counted without putting them in their places", () => {
    // A trillion fields: whoever made them would not come to an end.
    const many = { ...roomy, documentFieldsMax: 1e11 };
    expect(errorsOf(`{ queryPerson { ...f0 } } ${chain(40, doubling)}`, {}, many)).toEqual(
      tooLarge,
    );
  });

  test("in one place they are one", () => {
    const flat = chain(40, (i) => `...f${i} ...f${i}`);
    expect(errorsOf(`{ queryPerson { ...f0 } } ${flat}`)).toEqual([]);
  });

  test("below fields of one name they are one, too", () => {
    const merged = chain(40, (i) => `best { ...f${i} } best { ...f${i} }`);
    expect(errorsOf(`{ queryPerson { ...f0 } } ${merged}`)).toEqual([]);
  });

  test("a large fragment in many places", () => {
    const query = `{ ${list(400, (i) => `a${i}: queryPerson { ...f }`)} } fragment f on Person { ${list(400, (i) => `b${i}: id`)} }`;
    expect(errorsOf(query)).toEqual(tooLarge);
  });

  test("a large fragment in many operations", () => {
    const query = `${list(2_000, (i) => `query q${i} { queryPerson { ...f } }`)} fragment f on Person { ${list(2_000, (i) => `b${i}: id`)} }`;
    expect(errorsOf(query)).toEqual(tooLarge);
  });

  test("chains and circles of fragments count as levels", () => {
    const tooDeep = [{ message: expect.stringContaining("(--limit depth)") }];
    expect(errorsOf(`{ queryPerson { ...f0 } } ${chain(5_000, (i) => `...f${i}`)}`)).toEqual(
      tooDeep,
    );
    const circle = list(5_000, (i) => `fragment f${i} on Person { ...f${(i + 1) % 5_000} }`);
    expect(errorsOf(`{ queryPerson { ...f0 } } ${circle}`)).toEqual(tooDeep);
    const small = list(3, (i) => `fragment f${i} on Person { best { ...f${(i + 1) % 3} } }`);
    expect(errorsOf(`{ queryPerson { ...f0 } } ${small}`)[0]?.message).toContain(
      "Cannot spread fragment",
    );
  });

  test("a circle is found whichever comes first", () => {
    const document = parseDocument("fragment a on A { b { ...b } } fragment b on A { ...a }");
    expect(checkDepth(document, defaultLimits)).toBe(true);
    expect(checkDepth(parseDocument("fragment a on A { b }"), defaultLimits)).toBe(false);
  });

  test("tokens are counted", () => {
    const query = "{ queryPerson { name age } }";
    expect(errorsOf(query, {}, { ...roomy, documentTokensMax: 16 })).toEqual([]);
    expect(errorsOf(query, {}, { ...roomy, documentTokensMax: 12 })).toEqual([
      { message: "the document has more than 6 tokens (--limit document-tokens)" },
    ]);
  });

  test("root fields are counted", () => {
    const query = `{ ${list(2_001, (i) => `a${i}: getPerson(id: "1") { id }`)} }`;
    expect(errorsOf(query)).toEqual([
      { message: "the operation has more than 2000 root fields (--limit document-roots)" },
    ]);
  });
});

describe("what is wrong is told, up to a number", () => {
  const many = 20_000;
  test.each<[string, string, string]>([
    [
      "directives",
      `{ queryPerson { id ${list(many, (i) => `@d${i}`)} } }`,
      'Unknown directive "d0".',
    ],
    [
      "fields",
      `{ queryPerson { ${list(many, (i) => `x${i}`)} } }`,
      'Cannot query field "x0" on type "Person".',
    ],
    [
      "variables",
      `query(${list(many, (i) => `$v${i}: Int`)}) { queryPerson { id } }`,
      'Variable "$v0" is never used.',
    ],
    [
      "fields at odds",
      `{ queryPerson { ${list(many, (i) => `x: friends(first: ${i}) { id }`)} } }`,
      'Fields "x" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.',
    ],
    [
      "deeper fields at odds",
      `{ queryPerson { ${list(many, (i) => `best { x: friends(first: ${i}) { id } }`)} } }`,
      'Fields "best" conflict because subfields "x" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.',
    ],
  ])("%s", (_, query, first) => {
    const errors = errorsOf(query);
    expect(errors[0]?.message).toBe(first);
    expect(errors.at(-1)).toEqual({ message: "Too many faults: the rest is not told." });
    expect(errors.length).toBeLessThan(300);
  });
});

describe("texts", () => {
  test("comments and blanks in front of a document are read once", () => {
    expect(parseDocument(`${"#".repeat(100_000)}\n{ a }`).definitions).toHaveLength(1);
    expect(parseDocument(`${"# #\n ,".repeat(50_000)}{ a }`).definitions).toHaveLength(1);
    expect(parseDocument(" \u00a0,\ufeff#x").definitions).toHaveLength(0);
  });

  test("braces in strings and comments do not nest", () => {
    expect(isTooDeep('{ a(b: "{{{", c: """{{{ \\""" {{{""") # {{{{\n }', 2)).toBe(false);
    expect(isTooDeep("{ a { b { c } } }", 2)).toBe(true);
    expect(isTooDeep('{ a(b: """ \\""" """) { { {', 3)).toBe(true);
  });

  test("places of a text are found line by line", () => {
    const text = "a😀b\r\nc\rd\n😀e";
    const locate = makeLocator(text);
    const places = [0, 3, 6, 8, 12].map((offset) => locate(offset));
    expect(places.map(({ line, column }) => `${line}:${column}`)).toEqual([
      "1:1",
      "1:3",
      "2:1",
      "3:1",
      "4:2",
    ]);
  });
});

describe("what is kept is counted by what it became", () => {
  const fields = (
    query: string,
    variables: JsonObject = {},
  ): Parameters<RequestCache["prepare"]>[0] => ({
    query,
    operationName: "",
    variables,
    extensions: undefined,
  });

  test("documents", () => {
    const cache = new RequestCache(schema, defaultLimits);
    cache.prepare(fields("{ queryPerson { id } }"));
    const small = cache.weight;
    cache.prepare(
      fields(
        `{ queryPerson { ...f0 } } ${chain(11, (i) => `a: best { ...f${i} } b: best { ...f${i} }`)}`,
      ),
    );
    expect(cache.weight - small).toBeGreaterThan(500 * 4_090);
    for (let i = 0; i < 24; i++) {
      cache.prepare(
        fields(
          `{ z${i}: queryPerson { ...f0 } } ${chain(11, (k) => `a: best { ...f${k} } b: best { ...f${k} }`)}`,
        ),
      );
    }
    expect(cache.weight).toBeLessThan(33 * 1024 * 1024);
  });

  test("variants of one operation, and the requests that hold it", () => {
    const forgotten: string[] = [];
    const cache = new RequestCache(schema, defaultLimits, (bodies) => forgotten.push(...bodies));
    const names = Array.from({ length: 12 }, (_, i) => `v${i}`);
    const query = `query(${names.map((name) => `$${name}: Boolean!`).join()}) { queryPerson { ${names.map((name) => `${name}: id @include(if: $${name}) ${list(20, (i) => `${name}x${i}: id`)}`).join(" ")} } }`;
    const run = (i: number): ReturnType<RequestCache["prepare"]> =>
      cache.prepare(
        fields(query, Object.fromEntries(names.map((name, k) => [name, ((i >> k) & 1) === 1]))),
      );
    const first = run(0);
    first.source.bodies.add("a body");
    const one = cache.weight;
    for (let i = 1; i < 64; i++) run(i);
    const full = cache.weight;
    expect(full).toBeGreaterThan(10 * one);
    for (let i = 64; i < 160; i++) run(i);
    expect(cache.weight).toBeLessThan(full * 1.1);
    expect(cache.keeps(first)).toBe(true);
    first.values.grow(64 * 1024 * 1024);
    expect([cache.keeps(first), forgotten]).toEqual([false, ["a body"]]);
  });
});
