import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import type { NQuad } from "../model/nquad.ts";
import { parseNQuadLine, parseNQuads, parseRdfMutation } from "./nquad-parser.ts";
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

function parseOne(line: string): NQuad {
  const fact = parseNQuadLine(line, line.includes("*") ? "delete" : "set");
  if (fact === undefined) throw new Error("no fact");
  return fact;
}

test("nodes are uids in any base, labels or variables", () => {
  const subjects = ["<0x1F>", "<31>", "<0b11111>", "<037>", "_:a-b.c", "uid( v )"].map(
    (name) => parseOne(`${name} <p> "x" .`).subject,
  );
  const same = { kind: "uid", uid: 31 };
  expect(subjects).toEqual([
    same,
    same,
    same,
    same,
    { kind: "blank", label: "a-b.c" },
    { kind: "variable", name: "v" },
  ]);
});

test.each([
  ['"5"', { kind: "default", text: "5" }],
  ['"5"^^<xs:int>', { kind: "int", int: 5 }],
  ['"9223372036854775807"^^<xs:integer>', { kind: "int", int: 9223372036854775807n }],
  ['"1.5"^^<http://www.w3.org/2001/XMLSchema#double>', { kind: "float", float: 1.5 }],
  ['"true"^^<xs:boolean>', { kind: "bool", bool: true }],
  ['"$2a$x"^^<xs:password>', { kind: "password", hash: "$2a$x" }],
  ['"a\\tb\\u00e9\\xc3\\xa9\\\\\\""', { kind: "default", text: 'a\tbéé\\"' }],
  ['""', { kind: "default", text: "" }],
  ['"[1, 2]"^^<xs:[]float32>', { kind: "float32vector", vector: Float32Array.of(1, 2) }],
])("the literal %s", (literal, value) => {
  expect(parseOne(`<1> <p> ${literal} .`).object).toEqual({ kind: "value", value });
});

test("languages stand in the predicate or behind the literal, which wins", () => {
  expect(parseOne('<1> <name@fr> "x" .')).toMatchObject({ predicate: "name", language: "fr" });
  expect(parseOne('<1> <name@fr> "x"@de-CH .')).toMatchObject({ language: "de-CH" });
});

test("facets have the types they look like", () => {
  const line =
    '<1> <p> <2> (text="a, b)", int=0x10, float=1e3, yes=true, year=2006, day=2006-01-02, none=) .';
  const kinds = (parseOne(line).facets ?? []).map(({ key, value }) => [key, value.kind]);
  expect(kinds).toEqual([
    ["day", "datetime"],
    ["float", "float"],
    ["int", "int"],
    ["none", "string"],
    ["text", "string"],
    ["year", "int"],
    ["yes", "bool"],
  ]);
});

test("stars, labels of graphs and comments", () => {
  expect(parseOne("<1> * * .")).toMatchObject({ predicate: "*", object: { kind: "star" } });
  expect(parseOne("<1> <p> * . # all of it")).toMatchObject({ object: { kind: "star" } });
  expect(parseOne('<1> <p> "x" <0x0> .')).toMatchObject({ predicate: "p" });
  expect(parseNQuads('\n# nothing\n  \r\n<1> <p> "x" .\r\n')).toHaveLength(1);
});

test.each([
  ['<1> <p> "x"', 'invalid end of input. Input: [<1> <p> "x"]'],
  ['<1> <p> "x" . <2>', "invalid end of input. Expected newline or # after ."],
  ["<1> <p> .", "invalid end of input. Input: [<1> <p> .]"],
  ["<1> . .", "invalid end of input"],
  ['<*> <p> "x" .', 'NQuad failed sanity check. Subject: "*"'],
  ['<1> <p> "x"^^<xs:token> .', "unrecognized rdf type xs:token"],
  ['<1> <p> ""^^<xs:int> .', "invalid ObjectValue"],
  ['<1> <p> "a\\qb" .', "line 1 column 8: Invalid escape character : 'q' in literal"],
  ['<1> <p> "it\\\'s" .', "while unquoting: invalid syntax"],
  ['<1> <p> "x"@ .', "column 12: Invalid language tag prefix: ' '"],
  ['<1> <p> "x"@en- .', "Invalid character - at the end of language literal."],
  ['<1> <p> "x"@en^^<xs:string> .', "column 14: Invalid input: ^ at lexText"],
  ["<1> <p> <2> (k=1, k=2) .", "Repeated keys are not allowed in facets. But got k"],
  ["<1> <p> <2> (k=word) .", "could not parse facet: Could not parse the facet value : [word]"],
  ['<alice> <p> "x" .', 'strconv.ParseUint: parsing "alice": invalid syntax'],
  ['<0> <p> "x" .', "UID must to be greater than 0"],
  ['val(n) <p> "x" .', 'strconv.ParseUint: parsing "val(n)": invalid syntax'],
  ['<1> <p q> "x" .', "Unexpected character ' ' while parsing IRI"],
  ['<1> <~p> "x" .', 'key error: subject:"1" predicate:"~p" object_value:{default_val:"x"}'],
  ["<1> <p> * .", 'Cannot use star in set n-quad: subject:"1" predicate:"p"'],
  ['0x1 <p> "x" .', "Invalid input: 0 at lexText"],
])("%j is refused", (line, message) => {
  expect(refusalOf(() => parseNQuads(line))).toContain(message);
});

test("uids reach to 2^53 - 1", () => {
  expect(parseOne('<9007199254740991> <p> "x" .').subject).toEqual({
    kind: "uid",
    uid: Number.MAX_SAFE_INTEGER,
  });
  expect(refusalOf(() => parseNQuads('<9007199254740992> <p> "x" .'))).toContain(
    "cannot be greater than lease",
  );
});

test("what cannot be read comes before what is not allowed", () => {
  const mutation = { set: '<zero> <p> "x" .\n<1> <p> * .', delete: "<1> <p> nonsense ." };
  expect(refusalOf(() => parseRdfMutation(mutation))).toContain("while lexing");
  expect(refusalOf(() => parseRdfMutation({ ...mutation, delete: "" }))).toContain(
    "Cannot use star",
  );
});

test("a predicate that a subject has twice is a list", () => {
  const { hints } = parseRdfMutation({
    set: '<1> <a> "x" .\n<1> <a> "y" .\n<1> <b> "x" .\n<2> <b> "y" .',
    delete: "<1> <b> * .\n<1> <b> * .",
  });
  expect([...hints]).toEqual([["a", "list"]]);
});

test("whatever is done to a line, it gives a fact, nothing, or a fault", () => {
  const lines = [
    '<0x1> <name@en> "a \\" b"@de (k=1, t="x y") <0x0> . # c',
    "_:a <friend> _:b (since=2006-01-02T15:04:05Z) .",
    "uid(v) <p> val(w) .",
    "<1> * * .",
    "<1> <g> \"{'type':'Point','coordinates':[1,2]}\"^^<geo:geojson> .",
  ];
  const edit = fc.record({
    line: fc.constantFrom(...lines),
    at: fc.nat(),
    drop: fc.nat(3),
    insert: fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }),
      fc.constantFrom('"', "<", "(", "*", ".", "\\", "^^<", "@", "_:"),
    ),
  });
  fc.assert(
    fc.property(edit, ({ line, at, drop, insert }) => {
      const place = at % (line.length + 1);
      const text = line.slice(0, place) + insert + line.slice(place + drop);
      refusalOf(() => parseNQuads(text));
      refusalOf(() => parseNQuads(text, "delete"));
    }),
    { numRuns: runs(4000) },
  );
});
