import { describe, expect, test } from "vitest";
import { compileSchema } from "../service/schema-compile.ts";
import { printSchemaText } from "../../graph/schema-text.ts";
import { storageSchema } from "./storage-schema.ts";

function textOf(sdl: string): string {
  return printSchemaText(storageSchema(compileSchema(sdl)));
}

describe("storage schema", () => {
  test("@onDelete asks for the way back, of an interface's field once", () => {
    expect(
      textOf(`
        interface Owned { owner: Elm @onDelete(action: CASCADE) }
        type Oak implements Owned { n: Int elms: [Elm] @dgraph(pred: "elms") @onDelete(action: NULLIFY) plain: Elm }
        type Elm { n: Int }`)
        .split("\n")
        .filter((line) => line.includes("uid")),
    ).toEqual(["<Owned.owner>: uid @reverse .", "<elms>: [uid] @reverse .", "<Oak.plain>: uid ."]);
  });

  test("scalars, lists, enums and their indexes", () => {
    expect(
      textOf(`
        enum Leaf { GREEN }
        type Oak {
          id: ID!
          name: String! @search(by: [regexp, hash, exact])
          notes: [String] @search
          none: String @search(by: [])
          age: Int64 @search
          alive: Boolean @search
          felled: DateTime @search(by: [hour])
          leaf: Leaf
          leaves: [Leaf!] @search(by: [exact])
          bare: Leaf @search(by: [])
          at: Point @search
          around: [Polygon]
          look: [Float!] @embedding @search(by: ["hnsw(metric: cosine, exponent: 3)"])
          raw: [Float!] @embedding
        }`),
    ).toBe(
      [
        "<Oak.name>: string @index(exact, hash, trigram) .",
        "<Oak.notes>: [string] @index(term) .",
        "<Oak.none>: string .",
        "<Oak.age>: int @index(int) .",
        "<Oak.alive>: bool @index(bool) .",
        "<Oak.felled>: dateTime @index(hour) .",
        "<Oak.leaf>: string @index(hash) .",
        "<Oak.leaves>: [string] @index(exact) .",
        "<Oak.bare>: string .",
        "<Oak.at>: geo @index(geo) .",
        "<Oak.around>: [geo] .",
        '<Oak.look>: float32vector @index(hnsw(exponent: "3", metric: "cosine")) .',
        "<Oak.raw>: float32vector .",
        "type <Oak> {",
        "  <Oak.name>\n  <Oak.notes>\n  <Oak.none>\n  <Oak.age>\n  <Oak.alive>\n  <Oak.felled>\n  <Oak.leaf>",
        "  <Oak.leaves>\n  <Oak.bare>\n  <Oak.at>\n  <Oak.around>\n  <Oak.look>\n  <Oak.raw>",
        "}\n",
      ].join("\n"),
    );
  });

  test("keys, passwords, interfaces", () => {
    expect(
      textOf(`
        interface Tree @secret(field: "pin") { id: ID! code: String! @id  row: Int @id }
        type Oak implements Tree { tag: String @id @search(by: [exact]) }`),
    ).toBe(
      [
        "<Tree.code>: string @index(hash) @upsert .",
        "<Tree.row>: int @index(int) @upsert .",
        "<Tree.pin>: password .",
        "<Oak.tag>: string @index(exact) @upsert .",
        "type <Tree> {\n  <Tree.code>\n  <Tree.row>\n  <Tree.pin>\n}",
        "type <Oak> {\n  <Tree.code>\n  <Tree.row>\n  <Oak.tag>\n  <Tree.pin>\n}\n",
      ].join("\n"),
    );
  });

  test("mapped names: reverse edges, languages, predicates shared across types", () => {
    expect(
      textOf(
        `
        type Oak @dgraph(type: "wood.Oak") {
          titleSv: String @dgraph(pred: "title@sv") @search(by: [term])
          title: String @dgraph(pred: "title") @search(by: [exact])
          birds: [Bird] @dgraph(pred: "~sits")
          age: Int
        }
        type Bird { title: String @dgraph(pred: "title") sits: Oak @dgraph(pred: "sits") ünder: Int @dgraph(pred: "<ünder>") }
      `.replace("ünder: Int", "under: Int"),
      ),
    ).toBe(
      [
        "<title>: string @index(exact, term) @lang .",
        "<wood.Oak.age>: int .",
        "<sits>: uid @reverse .",
        "<ünder>: int .",
        "type <wood.Oak> {\n  <title>\n  <wood.Oak.age>\n}",
        "type <Bird> {\n  <title>\n  <sits>\n  <ünder>\n}\n",
      ].join("\n"),
    );
  });
});
