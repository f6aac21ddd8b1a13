/**
 * Three thousand items of a shop, for goldens of what is chosen where sets are large. Values follow from an item's number:
 * a prime step through each range, so that no two predicates go together.
 */
import { convertValue } from "../../src/model/convert.ts";
import type { Schema } from "../../src/graph/schema.ts";
import type { Value } from "../../src/model/value.ts";
import { MemoryGraph, definePredicate, makeTestSchema, type TestFact } from "./memory-graph.ts";

const index = (...names: string[]): { readonly indexes: readonly { tokenizer: string }[] } => ({
  indexes: names.map((tokenizer) => ({ tokenizer })),
});

const makeItemsSchema = (): Schema =>
  makeTestSchema(
    [
      definePredicate("kind", "string", index("exact")),
      definePredicate("code", "string", index("hash")),
      definePredicate("words", "string", index("term", "trigram", "fulltext", "ngram")),
      definePredicate("price", "int", index("int")),
      definePredicate("weight", "float", index("float")),
      definePredicate("stars", "int", index("int")),
      definePredicate("open", "bool", index("bool")),
      definePredicate("made", "datetime", index("day")),
      definePredicate("place", "geo", index("geo")),
      definePredicate("note", "string"),
      definePredicate("label", "string", { ...index("exact"), lang: true }),
      definePredicate("parts", "uid", { list: true, reverse: true, count: true }),
      definePredicate("maker", "uid", { reverse: true }),
      definePredicate("pin", "password"),
    ],
    [{ name: "Item", fields: ["kind", "price", "stars", "words", "parts", "maker"] }],
  );

const itemCount = 3000;
const vocabulary = ["amber", "basin", "cedar", "drift", "ember", "fjord"];

function factsOf(i: number): readonly TestFact[] {
  const text = (value: string): Value => ({ kind: "string", text: value });
  const step = (prime: number, bound: number): number => (i * prime) % bound;
  const word = (prime: number): string => vocabulary[step(prime, 6)] ?? "";
  const subject = i + 1;
  const fact = (predicate: string, object: Value | number): TestFact => ({
    subject,
    predicate,
    object,
  });
  const day = new Date(Date.UTC(2020, 0, 1 + step(31, 700))).toISOString();
  const partCount = step(13, 4);
  return [
    fact("dgraph.type", text("Item")),
    fact("kind", text(step(7, 3) === 0 ? "lamp" : "chair")),
    fact("code", text(`c${step(11, 1500)}`)),
    fact("words", text(`${word(5)} ${word(7)} ${word(11)}`)),
    ...(i % 20 === 0 ? [] : [fact("price", { kind: "int", int: step(17, 900) })]),
    fact("weight", { kind: "float", float: step(19, 400) / 8 }),
    fact("stars", { kind: "int", int: step(23, 5) + 1 }),
    fact("open", { kind: "bool", bool: step(29, 2) === 0 }),
    fact("made", convertValue(text(day), "datetime")),
    fact("place", {
      kind: "geo",
      geometry: { type: "Point", coordinates: [step(37, 60), step(37, 60)] },
    }),
    ...(i % 100 === 0 ? [fact("note", text(`note ${i}`))] : []),
    ...(i % 50 === 0
      ? [
          fact("label", text(`Label ${i}`)),
          { ...fact("label", text(`Schild ${i}`)), language: "de" },
        ]
      : []),
    ...Array.from({ length: partCount }, (_, k) => fact("parts", ((i * 7 + k * 13) % 900) + 1)),
    fact("maker", (i % 12) + 1),
  ];
}

/** With a schema of its own, beside which runs keep what they counted: test files share a process. */
export function openItems(): MemoryGraph {
  return new MemoryGraph(
    makeItemsSchema(),
    Array.from({ length: itemCount }, (_, i) => factsOf(i)).flat(),
  );
}
