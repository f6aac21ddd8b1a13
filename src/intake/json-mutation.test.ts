import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import type { NQuad } from "../model/nquad.ts";
import { parseJsonMutation } from "./json-mutation.ts";
import { JsonNumber, type JsonTree, readJson } from "./json-reader.ts";
import { runs } from "../../test/support/runs.ts";

function refusalOf(parsing: () => unknown): string {
  try {
    parsing();
    return "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}

function setFacts(json: unknown): readonly NQuad[] {
  return parseJsonMutation(JSON.stringify({ set: json })).mutations[0]?.set ?? [];
}

function deleteFacts(json: unknown): readonly NQuad[] {
  return parseJsonMutation(JSON.stringify({ delete: json })).mutations[0]?.delete ?? [];
}

function valueOf(json: unknown): unknown {
  const object = setFacts({ uid: "0x1", p: json })[0]?.object;
  return object?.kind === "value" ? object.value : object;
}

test("scalars have their types, and whole numbers all their digits", () => {
  expect(valueOf("x")).toEqual({ kind: "string", text: "x" });
  expect(valueOf(5)).toEqual({ kind: "int", int: 5 });
  expect(valueOf(1.5)).toEqual({ kind: "float", float: 1.5 });
  expect(valueOf(true)).toEqual({ kind: "bool", bool: true });
  const big = '{"set":{"uid":"0x1","p":9007199254740995,"q":9007199254740995.0}}';
  expect(parseJsonMutation(big).mutations[0]?.set.map(({ object }) => object)).toEqual([
    { kind: "value", value: { kind: "int", int: 9007199254740995n } },
    { kind: "value", value: { kind: "float", float: 9007199254740996 } },
  ]);
  expect(valueOf("[1, 2.5]")).toEqual({ kind: "float32vector", vector: Float32Array.of(1, 2.5) });
  expect(valueOf({ type: "Point", coordinates: [1, 2] })).toEqual({
    kind: "geo",
    geometry: { type: "Point", coordinates: [1, 2] },
  });
  expect(valueOf(" val( x ) ")).toEqual({ kind: "val", name: "x" });
});

test("nested objects are nodes, new ones where they have no uid", () => {
  const facts = setFacts({
    uid: "_:a",
    "name@en": "x",
    friend: [{ uid: 2, "friend|since": "2006" }, { name: "new" }],
    none: null,
    empty: {},
  });
  expect(facts.map(({ predicate, language }) => [predicate, language])).toEqual([
    ["name", "en"],
    ["friend", ""],
    ["name", ""],
    ["friend", ""],
  ]);
  expect(facts[1]).toMatchObject({
    object: { kind: "node", node: { kind: "uid", uid: 2 } },
    facets: [{ key: "since", value: { kind: "datetime" } }],
  });
  const [created, edge] = [facts[2]?.subject, facts[3]?.object];
  expect(created?.kind).toBe("blank");
  expect(edge).toEqual({ kind: "node", node: created });
});

test("a language tag is one: what would leave its place in a query or an answer is refused", () => {
  for (const tag of ["en", "EN", "pt-BR", "zh-Hant-TW", "de:en", "en_GB", "x-a1"]) {
    expect(setFacts({ uid: "1", [`name@${tag}`]: "x" })[0]?.language).toBe(tag);
  }
  const hostile = [
    "e)n",
    'en"',
    "en en",
    "*",
    ".",
    "en,de",
    "en\n",
    "é",
    'en")){uid} l(func:has(name',
  ];
  for (const tag of hostile) {
    expect(() => setFacts({ uid: "1", [`name@${tag}`]: "x" }), tag).toThrow(
      "Has invalid characters",
    );
  }
});

test("facets of lists go by index", () => {
  const facts = setFacts({ uid: "1", alt: ["a", "b"], "alt|kind": { "1": "x" } });
  expect(facts.map(({ facets }) => facets)).toEqual([
    undefined,
    [{ key: "kind", value: { kind: "string", text: "x" } }],
  ]);
});

test("in a delete, nothing but a uid means everything, and empty values mean all values", () => {
  expect(deleteFacts({ uid: "0x1" })).toMatchObject([{ predicate: "*", object: { kind: "star" } }]);
  expect(deleteFacts({ uid: "0x1", a: null, b: "", c: false, d: 0, e: "x" })).toMatchObject([
    { object: { kind: "star" } },
    { object: { kind: "star" } },
    { object: { kind: "star" } },
    { object: { kind: "value", value: { kind: "int", int: 0 } } },
    { object: { kind: "value" } },
  ]);
});

test("hints say single or list", () => {
  const json = { uid: "1", a: "x", b: ["x"], c: { name: "y" }, d: [{ a: "z", d: { uid: "2" } }] };
  const { hints } = parseJsonMutation(JSON.stringify({ set: json })).mutations[0] ?? {};
  expect(Object.fromEntries(hints ?? [])).toEqual({
    a: "single",
    b: "list",
    c: "single",
    name: "single",
    d: "list",
  });
});

test("the single form comes first, entries without facts are dropped", () => {
  const request = parseJsonMutation(
    JSON.stringify({
      query: "{ q(func: uid(1)) { v as uid } }",
      cond: "@if(eq(len(v), 0))",
      set: { uid: "uid(v)", a: 1 },
      mutations: [{ cond: "@if(x)" }, { delete: { uid: "0x1", a: null } }, null],
    }),
  );
  expect(request.query).toBe("{ q(func: uid(1)) { v as uid } }");
  expect(request.mutations.map(({ condition }) => condition)).toEqual(["@if(eq(len(v), 0))", ""]);
  expect(request.mutations[0]?.set[0]?.subject).toEqual({ kind: "variable", name: "v" });
});

test.each([
  ['{"set":[{"a":1},5]}', "only array of map allowed at root"],
  ['{"set":{"uid":"alice","a":1}}', 'strconv.ParseUint: parsing "alice": invalid syntax'],
  ['{"set":{"a":[true]}}', "got unsupported type for list: a"],
  [
    '{"set":{"a":9223372036854775808}}',
    "unexpected type for val for attr: a while converting to nquad",
  ],
  ['{"set":{"a":"uid(x"}}', "while processing 'uid(x', brackets are not closed properly"],
  ['{"set":{"a":"x","a|f":["y"]}}', "facet: a|f: facet value can only be string/number/bool"],
  [
    '{"set":{"a":["x"],"a|f":"y"}}',
    "facets format should be of type map for scalarlist predicates, found: y for facet: a|f",
  ],
  [
    '{"set":{"uid":"1","full name":"x"}}',
    'key error: subject:"1" predicate:"full name" object_value:{str_val:"x"}: predicate "full name": Must not contain spaces',
  ],
  ['{"delete":{"a":1}}', "UID must be present and non-zero while deleting edges"],
  ['{"query":"a\\/b"}', "invalid syntax"],
  [
    "{ set",
    "Error parsing JSON at line 1, character 4: invalid character 's' looking for beginning of object key string\n",
  ],
  [
    '{"set":\n{"a" 1}}',
    "Error parsing JSON at line 2, character 8: invalid character '1' after object key\n",
  ],
  ['{"set"', "unexpected end of JSON input"],
])("%j is refused", (text, message) => {
  expect(refusalOf(() => parseJsonMutation(text))).toContain(message);
});

test("nesting is bounded", () => {
  const deep = `{"set":${'{"a":'.repeat(1000)}1${"}".repeat(1001)}`;
  expect(refusalOf(() => parseJsonMutation(deep))).toContain("depth limit");
});

function toPlain(json: JsonTree): unknown {
  if (json instanceof JsonNumber) return Number(json.text);
  if (json instanceof Map) {
    return Object.fromEntries([...json].map(([key, value]) => [key, toPlain(value)]));
  }
  return Array.isArray(json) ? (json as readonly JsonTree[]).map(toPlain) : json;
}

test("it reads what JSON.parse reads", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      expect(JSON.stringify(toPlain(readJson(text)))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("it refuses what JSON.parse refuses, and never breaks", () => {
  const edit = fc.record({
    text: fc.json({ maxDepth: 3 }),
    at: fc.nat(),
    drop: fc.nat(2),
    insert: fc.constantFrom("", '"', "{", "]", ",", "1", "-", "\\", "e", "null", " "),
  });
  fc.assert(
    fc.property(edit, ({ text, at, drop, insert }) => {
      const place = at % (text.length + 1);
      const changed = text.slice(0, place) + insert + text.slice(place + drop);
      const isValid = ((): boolean => {
        try {
          JSON.parse(changed);
          return true;
        } catch {
          return false;
        }
      })();
      expect(refusalOf(() => readJson(changed)) === "").toBe(isValid);
      refusalOf(() => parseJsonMutation(`{"set":${changed}}`));
    }),
    { numRuns: runs(2000) },
  );
});
