import { describe, expect, test } from "vitest";
import { introspect, type AskedField } from "./introspect.ts";
import { compileSchema } from "../service/schema-compile.ts";

const schema = compileSchema(`
  "A tree."
  type Oak implements Tree {
    id: ID!
    old: String @deprecated
    gone: Int @deprecated(reason: "felled")
    leaves: [Leaf!]!
  }
  interface Tree { id: ID! }
  enum Leaf { "like grass" GREEN BROWN }
  union Wood = Oak
  type Forest { wood: [Wood] }
`);

/** `name` or `[name, children]`, with arguments behind. */
type Ask = string | readonly [name: string, children: readonly Ask[], args?: object];

function ask(part: Ask): AskedField {
  const [name, children, args] = typeof part === "string" ? [part, [], undefined] : part;
  return {
    key: name,
    name,
    arguments: new Map(Object.entries(args ?? {})),
    fields: children.map(ask),
  };
}

function answer(part: Ask): unknown {
  return JSON.parse(introspect(schema, ask(part)));
}

function type(name: string, ...children: readonly Ask[]): unknown {
  return answer(["__type", children, { name }]);
}

describe("introspection", () => {
  test("fields hide deprecated ones unless asked", () => {
    expect(type("Oak", ["fields", ["name"]])).toEqual({
      fields: [{ name: "id" }, { name: "leaves" }],
    });
    expect(
      type("Oak", [
        "fields",
        ["name", "isDeprecated", "deprecationReason"],
        { includeDeprecated: true },
      ]),
    ).toEqual({
      fields: [
        { name: "id", isDeprecated: false, deprecationReason: null },
        { name: "old", isDeprecated: true, deprecationReason: "No longer supported" },
        { name: "gone", isDeprecated: true, deprecationReason: "felled" },
        { name: "leaves", isDeprecated: false, deprecationReason: null },
      ],
    });
  });

  test("lists and required types are wrapped", () => {
    const deep: Ask = [
      "type",
      ["kind", "name", ["ofType", ["kind", ["ofType", ["kind", ["ofType", ["name"]]]]]]],
    ];
    expect(type("Oak", ["fields", [deep]])).toMatchObject({
      fields: [
        { type: { kind: "NON_NULL", name: null, ofType: { kind: "SCALAR", ofType: null } } },
        {
          type: {
            kind: "NON_NULL",
            ofType: { kind: "LIST", ofType: { kind: "NON_NULL", ofType: { name: "Leaf" } } },
          },
        },
      ],
    });
  });

  test("what does not apply is empty, not null", () => {
    expect(
      type(
        "Leaf",
        "description",
        ["fields", ["name"]],
        ["interfaces", ["name"]],
        ["possibleTypes", ["name"]],
        ["inputFields", ["name"]],
        ["ofType", ["name"]],
        ["enumValues", ["name", "description"]],
      ),
    ).toEqual({
      description: "",
      fields: [],
      interfaces: [],
      possibleTypes: [],
      inputFields: [],
      ofType: null,
      enumValues: [
        { name: "GREEN", description: "like grass" },
        { name: "BROWN", description: "" },
      ],
    });
  });

  test("interfaces and unions name their types", () => {
    expect(type("Tree", "kind", ["possibleTypes", ["name"]])).toEqual({
      kind: "INTERFACE",
      possibleTypes: [{ name: "Oak" }],
    });
    expect(type("Wood", "kind", ["possibleTypes", ["name"]])).toEqual({
      kind: "UNION",
      possibleTypes: [{ name: "Oak" }],
    });
    expect(type("Oak", "description", ["interfaces", ["name"]])).toEqual({
      description: "A tree.",
      interfaces: [{ name: "Tree" }],
    });
  });

  test("an unknown type is null", () => {
    expect(type("Elm", "name")).toBe(null);
  });

  test("the schema names its roots, all types once, and its directives", () => {
    const whole = answer([
      "__schema",
      [
        "__typename",
        ["queryType", ["name"]],
        ["subscriptionType", ["name"]],
        ["types", ["name"]],
        ["directives", ["name", "locations", ["args", ["name", "defaultValue"]]]],
      ],
    ]) as {
      types: { name: string }[];
      directives: { name: string }[];
      queryType: unknown;
      subscriptionType: unknown;
      __typename: string;
    };
    expect(whole.__typename).toBe("__Schema");
    expect(whole.queryType).toEqual({ name: "Query" });
    expect(whole.subscriptionType).toBe(null);
    const names = whole.types.map((each) => each.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining(["Oak", "OakFilter", "Query", "Int64", "PointRef", "__Type"]),
    );
    expect(whole.directives.find((each) => each.name === "deprecated")).toEqual({
      name: "deprecated",
      locations: ["FIELD_DEFINITION", "ENUM_VALUE"],
      args: [{ name: "reason", defaultValue: '"No longer supported"' }],
    });
  });
});
