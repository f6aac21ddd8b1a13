/** A small lending library, for goldens and tests of queries. */
import { MemoryGraph, definePredicate, makeTestSchema, type TestFact } from "./memory-graph.ts";
import type { Value } from "../../src/model/value.ts";

function text(value: string): Value {
  return { kind: "string", text: value };
}

function int(value: number): Value {
  return { kind: "int", int: value };
}

export const librarySchema = makeTestSchema(
  [
    definePredicate("title", "string", {
      indexes: [{ tokenizer: "exact" }, { tokenizer: "term" }, { tokenizer: "trigram" }],
      lang: true,
    }),
    definePredicate("pages", "int", { indexes: [{ tokenizer: "int" }] }),
    definePredicate("price", "float"),
    definePredicate("shelf", "string", { indexes: [{ tokenizer: "hash" }] }),
    definePredicate("keyword", "string", { list: true, indexes: [{ tokenizer: "exact" }] }),
    definePredicate("author", "uid", { list: true, reverse: true, count: true }),
    definePredicate("sequel", "uid", { reverse: true }),
    definePredicate("name", "string", { indexes: [{ tokenizer: "exact" }] }),
    definePredicate("pin", "password"),
  ],
  [
    { name: "Book", fields: ["title", "pages", "price", "shelf", "author", "sequel"] },
    { name: "Person", fields: ["name", "~author"] },
  ],
);

function book(
  uid: number,
  title: string,
  pages: number | undefined,
  shelf: string,
): readonly TestFact[] {
  return [
    { subject: uid, predicate: "dgraph.type", object: text("Book") },
    { subject: uid, predicate: "title", object: text(title) },
    { subject: uid, predicate: "shelf", object: text(shelf) },
    ...(pages === undefined ? [] : [{ subject: uid, predicate: "pages", object: int(pages) }]),
  ];
}

function person(uid: number, name: string): readonly TestFact[] {
  return [
    { subject: uid, predicate: "dgraph.type", object: text("Person") },
    { subject: uid, predicate: "name", object: text(name) },
  ];
}

function author(subject: number, object: number, share: number): TestFact {
  const facets = [{ key: "share", value: int(share) }];
  return { subject, predicate: "author", object, facets };
}

export const libraryFacts: readonly TestFact[] = [
  ...book(1, "Salt Roads", 320, "A"),
  ...book(2, "Salt Harbours", 280, "A"),
  ...book(3, "The Quiet Engine", 410, "B"),
  ...book(4, 'Letters <from> a "Lighthouse"', undefined, "B"),
  ...book(5, "Atlas of Small Islands", 96, "C"),
  ...person(16, "Runa Vale"),
  ...person(17, "Ottis Brandt"),
  ...person(18, "Mei Castellan"),
  { subject: 1, predicate: "title", object: text("Les routes du sel"), language: "fr" },
  { subject: 1, predicate: "price", object: { kind: "float", float: 12.5 } },
  { subject: 3, predicate: "price", object: { kind: "float", float: 1234567 } },
  { subject: 1, predicate: "keyword", object: text("trade") },
  { subject: 1, predicate: "keyword", object: text("sea") },
  { subject: 5, predicate: "keyword", object: text("sea") },
  { subject: 1, predicate: "sequel", object: 2 },
  author(1, 16, 100),
  author(2, 16, 60),
  author(2, 17, 40),
  author(3, 17, 100),
  author(5, 18, 100),
];

export function openLibrary(): MemoryGraph {
  return new MemoryGraph(librarySchema, libraryFacts);
}
