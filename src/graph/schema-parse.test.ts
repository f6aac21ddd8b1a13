import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import { parseSchemaText } from "./schema-parse.ts";
import { runs } from "../../test/support/runs.ts";

function refusalOf(text: string): string {
  try {
    parseSchemaText(text, 0);
    return "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}

test("predicates with everything they can have", () => {
  const text = `
# a comment
  name : STRING @index( Term ,EXACT ) @lang @upsert .   # behind
<größe>: [int] @index(int) @count .
[0x0] friend: [uid] @reverse @count @noconflict .
emb: float32vector @index(hnsw(metric: "cosine", exponent:"5")) .
type Person {
  name
  friend: [Person!]!
  <~friend>
}
type: string .`;
  const { predicates, types } = parseSchemaText(text, 0);
  expect(predicates.map(({ name }) => name)).toEqual(["name", "größe", "friend", "emb", "type"]);
  expect(predicates[0]).toMatchObject({
    kind: "string",
    list: false,
    indexes: [{ tokenizer: "term" }, { tokenizer: "exact" }],
    lang: true,
    upsert: true,
    reverse: false,
  });
  expect(predicates[1]).toMatchObject({ kind: "int", list: true, count: true });
  expect(predicates[2]).toMatchObject({ kind: "uid", list: true, reverse: true, noconflict: true });
  expect(predicates[3]?.indexes).toEqual([
    {
      tokenizer: "hnsw",
      options: [
        { key: "metric", value: "cosine" },
        { key: "exponent", value: "5" },
      ],
    },
  ]);
  expect(types).toEqual([{ name: "Person", fields: ["name", "friend", "~friend"] }]);
});

test("hash and exact go together", () => {
  expect(refusalOf("a: string @index(hash, trigram, exact) .")).toBe("");
});

test.each([
  ["name string .", "line 1 column 5: Missing colon"],
  ["name: .", "line 1 column 6: Missing Type"],
  ["name: text .", "line 1 column 6: Undefined Type"],
  ["name: string", "line 1 column 12: Invalid ending"],
  ["p: int . q: int .", "line 1 column 9: Invalid ending"],
  ["name@en: string .", "line 1 column 4: Invalid '@' in name"],
  ["\nage: int @reverse .", "line 2 column 10: Cannot reverse for non-UID type"],
  [
    "age: int @lang .",
    "line 1 column 10: @lang directive can only be specified for string type. Got: [int] for attr: [0-age]",
  ],
  ["flags: [bool] .", "line 1 column 8: Unsupported type for list: [bool]."],
  [
    "kin: [uid] @index(exact) .",
    "line 1 column 12: Indexing not allowed on predicate 0-kin of type uid",
  ],
  [
    "name: string @index .",
    "line 1 column 14: Require type of tokenizer for pred: 0-name for indexing.",
  ],
  [
    "name: string @index() .",
    "line 1 column 20: Expected token or VectorFactory name, but found ')'",
  ],
  ["name: string @index(phonetic) .", "line 1 column 20: Invalid tokenizer phonetic"],
  [
    "name: string @index(term, term) .",
    "line 1 column 24: Duplicate tokenizers defined for predicate 0-name",
  ],
  [
    "born: datetime @index(year, day) .",
    "line 1 column 26: Only one index tokenizer can be sortable for 0-born",
  ],
  [
    "age: int @index(exact) .",
    "line 1 column 16: Tokenizer: exact isn't valid for predicate: age of type: int",
  ],
  [
    'v: float32vector @index(hnsw(colour: "red")) .',
    "IndexFactory: hnsw issues this error: 'option colour is not allowed!'",
  ],
  [
    "v: float32vector @index(hnsw(metric: cosine)) .",
    "unexpected 'cosine' found when expecting quoted text",
  ],
  ["name: string @fast .", "line 1 column 14: Invalid index specification"],
  ["p: int .\np: string .", "predicate p defined multiple times"],
  ["type T {\n}\ntype T {\n}", "type T defined multiple times"],
  ["type T {\n a\n a\n}", "Duplicate fields with name: a"],
  ["{}", 'line 1 column 0: Unexpected token: lex.Item [7] "{" at 1:0 while parsing schema'],
  ["größe: int .", "while lexing größe: int . at line 1 column 2: Invalid schema. Unexpected ö"],
])("%j is refused", (text, message) => {
  expect(refusalOf(text)).toContain(message);
});

test("whatever is done to a text, it gives definitions or a fault", () => {
  const text =
    'name: [string] @index(term) .\ntype T {\n name: [string!]!\n <~p>\n}\nv: float32vector @index(hnsw(metric:"cosine")) .';
  const edit = fc.record({
    at: fc.nat(),
    drop: fc.nat(4),
    insert: fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }),
      fc.constantFrom("[", "]", "<", "@", "(", '"', "\n", "}", "type"),
    ),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      let changed = text;
      for (const { at, drop, insert } of edits) {
        const place = at % (changed.length + 1);
        changed = changed.slice(0, place) + insert + changed.slice(place + drop);
      }
      refusalOf(changed);
    }),
    { numRuns: runs(3000) },
  );
});
