/**
 * What requests read from a compiled schema: where values lie, and what belongs together. Types refer to each other, so
 * they are compared by identity: a matcher that printed one would print the whole schema, many times.
 */
import { assert, describe, expect, test } from "vitest";
import type { CompiledSchema, FieldDefinition, NodeType } from "./compiled-schema.ts";
import { compileSchema } from "../service/schema-compile.ts";

const schema = compileSchema(`
  interface Tree @secret(field: "pin") {
    id: ID!
    name: String! @search(by: [hash])
    birds: [Bird] @hasInverse(field: tree)
    code: String @id(interface: true)
  }
  type Oak implements Tree @dgraph(type: "Quercus") {
    age: Int64 @default(add: { value: "1" }, update: { value: "2" }) @search
    titles: String @dgraph(pred: "title@sv:no:.")
    look: [Float!] @embedding
    at: Point @search
    nests: Bird
  }
  type Bird @withSubscription {
    id: ID!
    tree: Tree
    food: Food
    oaks: [Oak] @dgraph(pred: "~Quercus.nests")
    size: Size
  }
  union Food = Oak | Seed
  type Seed { weight: Float! }
  enum Size { BIG SMALL }
`);

function node(name: string): NodeType {
  const type = schema.nodes.find((each) => each.name === name);
  assert(type !== undefined);
  return type;
}

function field(typeName: string, name: string): FieldDefinition {
  const found = node(typeName).fields.get(name);
  assert(found !== undefined);
  return found;
}

function expectSame(actual: unknown, expected: unknown): void {
  expect(actual !== undefined && actual === expected).toBe(true);
}

/** The plain parts of a source. */
function plain(typeName: string, name: string): Record<string, unknown> {
  const parts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(field(typeName, name).source))
    if (key !== "target" && key !== "inverse" && key !== "valueType") parts[key] = value;
  return parts;
}

describe("compiled schema", () => {
  test("fields of an interface lie in the interface's predicate", () => {
    expect(plain("Oak", "name")).toMatchObject({
      predicate: "Tree.name",
      declaredIn: "Tree",
      valueKind: "string",
      searches: ["hash"],
      indexes: [{ tokenizer: "hash" }],
    });
  });

  test("types carry their names in the graph, keys and secrets", () => {
    const { typeName, typeNames, id, xids, secret, embeddings } = node("Oak").node;
    expect({ typeName, typeNames, secret }).toEqual({
      typeName: "Quercus",
      typeNames: ["Quercus", "Tree"],
      secret: { name: "pin", predicate: "Tree.pin" },
    });
    expectSame(id, field("Oak", "id"));
    expectSame(xids[0], field("Oak", "code"));
    expectSame(embeddings[0], field("Oak", "look"));
    expect(xids.length + embeddings.length).toBe(2);
    const code = field("Oak", "code").source;
    assert(code.kind === "value");
    expect(code.xid).toEqual({ isInterfaceWide: true });
    const tree = schema.types.get("Tree");
    assert(tree?.kind === "interface");
    expectSame(tree.implementors[0], node("Oak"));
  });

  test("edges know their targets and inverses", () => {
    const birds = field("Tree", "birds").source;
    const tree = field("Bird", "tree").source;
    assert(birds.kind === "edge" && tree.kind === "edge");
    expectSame(birds.inverse, field("Bird", "tree"));
    expectSame(tree.inverse, field("Tree", "birds"));
    expect(plain("Tree", "birds")).toMatchObject({
      predicate: "Tree.birds",
      isList: true,
      isReverse: false,
    });
    expect(plain("Bird", "oaks")).toMatchObject({
      predicate: "Quercus.nests",
      isReverse: true,
    });
    const aggregate = field("Oak", "birdsAggregate").source;
    assert(aggregate.kind === "edgeAggregate");
    expectSame(aggregate.edge, field("Oak", "birds"));
  });

  test("languages, vectors, geometry, defaults", () => {
    expect(plain("Oak", "titles")).toMatchObject({
      predicate: "title",
      languages: ["sv", "no", "."],
      isReadOnly: true,
    });
    expect(plain("Oak", "look")).toMatchObject({
      valueKind: "float32vector",
      isList: false,
      isEmbedding: true,
    });
    expect(plain("Oak", "at")).toMatchObject({ kind: "value", valueKind: "geo" });
    expect(plain("Oak", "age")).toMatchObject({ defaults: { add: "1", update: "2" } });
    expect(plain("Oak", "vector_distance")).toEqual({ kind: "vectorDistance" });
  });

  test("inputs lead back to fields and types", () => {
    const add = node("Oak").node.addInput;
    assert(add !== undefined);
    expectSame(add.of, node("Oak"));
    expectSame(add.fields.get("age")?.field, field("Oak", "age"));
    expect(add.fields.get("pin")?.role).toBe("secret");
    expect(add.fields.has("titles")).toBe(false);
    const filter = node("Oak").node.filterInput;
    expectSame(filter?.fields.get("name")?.field, field("Oak", "name"));
    expect(filter?.fields.get("has")?.role).toBe("has");
    const food = schema.types.get("Food");
    assert(food?.kind === "union");
    expectSame(food.refInput?.fields.get("seedRef")?.member, schema.types.get("Seed"));
  });

  test("enums of fields lead back to them", () => {
    const has = schema.types.get("OakHasFilter");
    assert(has?.kind === "enum");
    expectSame(has.values.get("birds")?.field, field("Oak", "birds"));
    expectSame(has.values.get("vector_distance")?.field, field("Oak", "vector_distance"));
  });

  test("root fields know their kind, their type and what they look up", () => {
    const get = schema.queries.get("getOak");
    expect(get?.kind).toBe("get");
    expectSame(get?.of, node("Oak"));
    expectSame(get?.arguments.get("code")?.field, field("Oak", "code"));
    expect(get?.arguments.get("id")?.type.text).toBe("ID");
    expect([...schema.subscriptions.keys()]).toEqual(["getBird", "queryBird", "aggregateBird"]);
    expect(schema.mutations.get("addOak")?.arguments.get("upsert")?.type.text).toBe("Boolean");
    expect(schema.mutations.get("addSeed")?.arguments.has("upsert")).toBe(false);
    expect(schema.mutations.has("addTree")).toBe(false);
    expectSame(schema.queryType?.fields.get("getOak"), get);
  });

  test("aggregates name the field and the function", () => {
    const result = node("Oak").node.aggregateType;
    const sum = result?.fields.get("ageSum")?.source;
    assert(sum?.kind === "aggregateMember");
    expect(sum.function).toBe("sum");
    expectSame(sum.field, field("Oak", "age"));
    expect(result?.fields.get("titlesMin")?.type.text).toBe("String");
  });

  test("a reverse edge without forward edge is refused, not linked", () => {
    const compile = (): CompiledSchema =>
      compileSchema('type A { a: Int b: [B] @dgraph(pred: "~x") } type B { c: Int }');
    expect(compile).toThrow("forward edge doesn't exist");
  });
});
