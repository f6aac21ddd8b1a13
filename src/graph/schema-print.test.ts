import { expect, test } from "vitest";
import { makeTestSchema } from "../../test/support/memory-graph.ts";
import { parseSchemaText } from "./schema-parse.ts";
import { printSchemaAnswer } from "./schema-print.ts";

const text = `
age: int @index(int) @upsert @noconflict .
emb: float32vector @index(hnsw(metric: "cosine", exponent: "5")) .
friend: [uid] @reverse @count .
name: string @index(term, exact) @lang @unique .
plain: default .
type Person {
  name
  <~friend>
}`;
const { predicates, types } = parseSchemaText(text, 0);
const schema = makeTestSchema(predicates, types);
const all = { predicates: undefined, types: undefined, fields: [] };

test("only what is true is printed, in a fixed order", () => {
  const names = predicates.map(({ name }) => name);
  expect(JSON.parse(printSchemaAnswer(schema, { ...all, predicates: names }))).toEqual({
    schema: [
      {
        predicate: "age",
        type: "int",
        index: true,
        tokenizer: ["int"],
        upsert: true,
        no_conflict: true,
      },
      {
        predicate: "emb",
        type: "float32vector",
        tokenizer: ['hnsw("exponent":"5","metric":"cosine")'],
        index_specs: [
          {
            name: "hnsw",
            options: [
              { key: "metric", value: "cosine" },
              { key: "exponent", value: "5" },
            ],
          },
        ],
      },
      { predicate: "friend", type: "uid", reverse: true, count: true, list: true },
      {
        predicate: "name",
        type: "string",
        index: true,
        tokenizer: ["term", "exact"],
        lang: true,
        unique: true,
      },
      { predicate: "plain", type: "default" },
    ],
  });
});

test("fields choose, types and predicates exclude each other, nothing is {}", () => {
  const question = { ...all, predicates: ["name", "nosuch"], fields: ["index", "type", "colour"] };
  expect(printSchemaAnswer(schema, question)).toBe(
    '{"schema":[{"predicate":"name","type":"string","index":true}]}',
  );
  expect(printSchemaAnswer(schema, { ...all, types: ["Person"] })).toBe(
    '{"types":[{"fields":[{"name":"name"},{"name":"~friend"}],"name":"Person"}]}',
  );
  expect(printSchemaAnswer(schema, { ...all, predicates: ["nosuch"] })).toBe("{}");
  expect(Object.keys(JSON.parse(printSchemaAnswer(schema, all)) as object)).toEqual([
    "schema",
    "types",
  ]);
});
