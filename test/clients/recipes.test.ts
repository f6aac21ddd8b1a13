// Goal: the recipes of docs/clients.md run as they are printed, with the packages from npm, and print what they say.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, root, startServer } from "../e2e/server.ts";
import { findFreePort } from "../support/free-port.ts";
import type { TestServer } from "../e2e/server.ts";
import { Kitchen, recipes, recipeSchema } from "./recipes.ts";

let server: TestServer;
let kitchen: Kitchen;

beforeAll(async () => {
  const grpc = `127.0.0.1:${await findFreePort()}`;
  const flags = ["--workers", "1", "--grpc", grpc];
  server = await startServer({ dataDir: makeFolder(), flags });
  const done = await post(`${server.url}/admin/schema`, recipeSchema);
  expect(done.json).toMatchObject({ data: { code: "Success" } });
  kitchen = new Kitchen(server.url, grpc);
});
afterAll(async () => {
  kitchen.clean();
  await cleanUp();
});

const printing = recipes.filter(({ output }) => output !== undefined).map(({ file }) => file);

test("the page has a recipe for each client", () => {
  expect(printing).toEqual([
    "graphql-request.mjs",
    "apollo.mjs",
    "urql.mjs",
    "graphql-ws.mjs",
    "graphql-sse.mjs",
    "dgraph-js-http.mjs",
    "dgraph-js.mjs",
  ]);
});

const sorted = (text: string): string[] => text.trim().split("\n").sort();

test.each(printing)("%s", async (file) => {
  const recipe = recipes.find((one) => one.file === file);
  const printed = await kitchen.run(file);
  if (recipe?.isUnordered === true) expect(sorted(printed)).toEqual(sorted(recipe.output ?? ""));
  else expect(printed).toBe(recipe?.output);
});

test("Relay", async () => {
  for (const file of ["relay-program.mjs", "relay-artifacts.json"]) {
    copyFileSync(join(import.meta.dirname, file), join(kitchen.folder, file));
  }
  expect((await kitchen.run("relay-program.mjs")).split("\n")).toEqual([
    "added eve",
    "asked eve [ 'one false' ]",
    "after a mutation [ 'one false', 'two true' ]",
    "refused cannot use string as Boolean",
    expect.stringMatching(/^listening \d$/),
    "",
  ]);
});

test("graphql-codegen types documents by the server's introspection", async () => {
  const folder = join(kitchen.folder, "src");
  mkdirSync(folder);
  const program = (field: string): string => `import { graphql } from "./gql/index.js";
const document = graphql(\`query Tasks($words: String!) { queryTask(filter: { title: { anyofterms: $words } }) { title done } }\`);
type Data = NonNullable<(typeof document)["__apiType"]> extends (variables: { words: string }) => infer R ? R : never;
export const first = (data: Data): boolean | undefined => data.queryTask?.[0]?.${field};
`;
  writeFileSync(join(folder, "tasks.ts"), program("done"));
  const codegen = join(root, "node_modules", "@graphql-codegen", "cli", "esm", "bin.js");
  await kitchen.run(codegen, ["--config", "codegen.yml"]);
  expect(readFileSync(join(folder, "gql", "graphql.ts"), "utf8")).toContain(
    "export type AddTaskInput",
  );
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const flags = [
    "--noEmit",
    "--ignoreConfig",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "src/tasks.ts",
  ];
  await kitchen.run(compiler, flags);
  writeFileSync(join(folder, "tasks.ts"), program("doen"));
  await expect(kitchen.run(compiler, flags)).rejects.toThrow("Property 'doen' does not exist");
});
