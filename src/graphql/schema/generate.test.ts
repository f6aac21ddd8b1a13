/**
 * The generated schema of small SDLs, whole: test/golden/generated-schema/<topic>.graphql → <topic>.api.txt (not
 * .graphql, so that no formatter touches it). The definitions that stand in every one of them are cut out there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { generatedSchemaText, serviceSchemaText } from "./generate-text.ts";
import { compileSchema } from "../service/schema-compile.ts";
import { preludeText } from "./sdl-prelude.ts";

const folder = join(import.meta.dirname, "../../../test/golden/generated-schema");
const topics = readdirSync(folder)
  .filter((name) => name.endsWith(".graphql"))
  .map((name) => name.slice(0, -".graphql".length));

describe("generated schema", () => {
  test.each(topics)("%s", async (topic) => {
    const text = generatedSchemaText(
      compileSchema(readFileSync(join(folder, `${topic}.graphql`), "utf8")),
    );
    expect(text.split(preludeText).length).toBe(2);
    await expect(text.replace(preludeText, "\n# …\n")).toMatchFileSnapshot(
      join(folder, `${topic}.api.txt`),
    );
  });

  test.each(topics)("%s is a valid schema", (topic) => {
    const sdl = readFileSync(join(folder, `${topic}.graphql`), "utf8");
    expect(() => buildSchema(generatedSchemaText(compileSchema(sdl)))).not.toThrow();
  });

  test("a directive that is an addition is declared where it is used, and shown to no gateway", () => {
    const sdl = (words: string): string =>
      `type A @key(fields: "n") { n: String! @id b: B ${words} } type B { n: Int }`;
    const declaration = "directive @onDelete(action: String!) on FIELD_DEFINITION\n";
    const used = compileSchema(sdl("@onDelete(action: CASCADE)"));
    expect(generatedSchemaText(used).split(declaration).length).toBe(2);
    expect(() => buildSchema(generatedSchemaText(used))).not.toThrow();
    expect(used.directives.has("onDelete")).toBe(true);
    expect(serviceSchemaText(used)).not.toContain("onDelete");
    const unused = compileSchema(sdl(""));
    expect(generatedSchemaText(unused)).not.toContain("onDelete");
    expect(unused.directives.has("onDelete")).toBe(false);
  });

  test("an input that its only field lost goes, and its mutation with it", () => {
    const schema = compileSchema(`
      type Ring { id: ID!  stones: [Stone] @dgraph(pred: "~Stone.ring") }
      type Stone { ring: Ring @dgraph(pred: "Stone.ring")  weight: Int }
    `);
    expect([...schema.mutations.keys()]).toEqual([
      "deleteRing",
      "addStone",
      "updateStone",
      "deleteStone",
    ]);
  });
});
