/**
 * Whatever SDL is accepted, its generated schema is valid GraphQL with nothing dangling, and its storage schema is a
 * text that the database reads. SDLs are drawn from the parts that users combine.
 */
import fc from "fast-check";
import { assertValidSchema, buildSchema } from "graphql";
import { expect, test } from "vitest";
import { parseSchemaText } from "../../graph/schema-parse.ts";
import { generatedSchemaText } from "./generate-text.ts";
import { introspect } from "../resolve/introspect.ts";
import { compileSchema, validateSdl } from "../service/schema-compile.ts";
import { printSchemaText } from "../../graph/schema-text.ts";
import { storageSchema } from "./storage-schema.ts";
import { runs } from "../../../test/support/runs.ts";

const typeNames = ["Ash", "Box", "Cob"] as const;
const interfaceNames = ["Ink", "Jot"] as const;

const scalarField = fc.oneof(
  fc.constantFrom(
    "String",
    "String!",
    "[String!]!",
    "String @search",
    "String @search(by: [hash, exact, fulltext])",
    "String! @id",
    "Int @id @search",
    "Int @search",
    'Int64! @default(add: { value: "3" })',
    "Float",
    "Boolean @search",
    "DateTime @search(by: [month])",
    "Hue @search",
    "[Hue]",
    "Point @search",
    "[Float!] @embedding @search(by: [hnsw])",
    'String @dgraph(pred: "said@sv")',
    'String @dgraph(pred: "said@sv:no")',
    "ID",
  ),
);

const edgeField = fc
  .tuple(
    fc.constantFrom(...typeNames, ...interfaceNames, "Uni"),
    fc.constantFrom("T", "T!", "[T]", "[T!]!"),
  )
  .map(([name, shape]) => shape.replace("T", name));

const directives = fc.constantFrom(
  "",
  '@secret(field: "key")',
  "@withSubscription",
  "@generate(query: { get: false }, mutation: { update: false })",
  "@generate(mutation: { add: false, delete: false }, subscription: true)",
  '@dgraph(type: "other.Name")',
);

/** Field names are the owner's own: two interfaces of a type then never clash. */
function fieldsOf(owner: string): fc.Arbitrary<string> {
  return fc
    .array(fc.oneof(scalarField, edgeField), { minLength: 1, maxLength: 5 })
    .map((fields) => fields.map((type, i) => `${owner.toLowerCase()}${i}: ${type}`).join("\n  "));
}

function definition(head: string, name: string): fc.Arbitrary<string> {
  return fc
    .tuple(directives, fieldsOf(name))
    .map(([directive, fields]) => `${head} ${directive.replace("other", name)} {\n  ${fields}\n}`);
}

const implemented = fc
  .subarray([...interfaceNames])
  .map((names) => (names.length === 0 ? "" : ` implements ${names.join(" & ")}`));

const sdl = fc
  .tuple(
    fc.tuple(...interfaceNames.map((name) => definition(`interface ${name}`, name))),
    fc.tuple(
      ...typeNames.map((name) =>
        implemented.chain((parents) => definition(`type ${name}${parents}`, name)),
      ),
    ),
    fc.subarray([...typeNames], { minLength: 1 }),
  )
  .map(([interfaces, types, members]) =>
    [...interfaces, ...types, `union Uni = ${members.join(" | ")}`, "enum Hue { RED BLUE }"].join(
      "\n",
    ),
  );

test("an accepted SDL gives a valid API and a readable storage schema", () => {
  let accepted = 0;
  fc.assert(
    fc.property(sdl, (text) => {
      if (validateSdl(text).length > 0) return;
      accepted++;
      const schema = compileSchema(text);
      assertValidSchema(buildSchema(generatedSchemaText(schema)));
      const stored = storageSchema(schema);
      const read = parseSchemaText(printSchemaText(stored), 0);
      expect(read.predicates.map((each) => each.name)).toEqual(
        stored.predicates.map((each) => each.name),
      );
      const asked = (name: string): Parameters<typeof introspect>[1] => ({
        key: name,
        name,
        arguments: new Map(),
        fields: [],
      });
      const types = { ...asked("types"), fields: [asked("name")] };
      JSON.parse(introspect(schema, { ...asked("__schema"), fields: [types] }));
    }),
    { numRuns: runs(60) },
  );
  expect(accepted).toBeGreaterThan(15);
});
