// Goal: a check of a large schema, which every client may ask for, keeps nobody waiting and ends in time.
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  const limit = ["--limit", "query-timeout=4s", "--graphql", "error-details=true"];
  const flags = ["--workers", "1", "--no-sample", ...limit];
  server = await startServer({ dataDir: makeFolder(), flags });
});
afterAll(cleanUp);

const schemaOf = (types: number): string =>
  Array.from({ length: types }, (_, i) => `type T${i} { id: ID! name: String @search }`).join("\n");

const check = (sdl: string) => post(`${server.url}/admin/schema/validate`, sdl);

test("what is right and what is wrong is told of large ones as of small ones", async () => {
  for (const types of [2, 200]) {
    const right = await check(schemaOf(types));
    expect(right.json["errors"]![0]!["message"]).toBe("Schema is valid");
    const wrong = await check(`${schemaOf(types)}\ntype W { other: Unknown }`);
    expect(wrong.status).toBe(400);
    expect(wrong.json["errors"]![0]!["message"]).toMatch(/Undefined type Unknown/);
  }
});

test("with error-details a schema that is set and refused: all faults, with their places", async () => {
  const { json } = await post(
    `${server.url}/admin/schema`,
    "type A { id: ID! x: Strin }\ntype B {\n  y: [Foo]\n}\n",
  );
  expect(json["errors"]).toEqual([
    {
      message:
        "resolving updateGQLSchema failed because input:1: Undefined type Strin.\n (Locations: [{Line: 3, Column: 4}])",
      extensions: {
        code: "Error",
        problems: [
          { message: "Undefined type Strin.", line: 1, column: 21 },
          { message: "Undefined type Foo.", line: 3, column: 6 },
        ],
      },
    },
  ]);
});

test("an administrator is told all problems of small ones and of large ones, with their places", async () => {
  const query = "query($s: String!) { schemaProblems(schema: $s) { message line column } }";
  const problemsOf = async (s: string): Promise<unknown> => {
    const json = { "content-type": "application/json" };
    const body = JSON.stringify({ query, variables: { s } });
    return (await post(`${server.url}/admin`, body, json)).json["data"]!["schemaProblems"];
  };
  for (const types of [2, 200]) {
    expect(await problemsOf(schemaOf(types))).toEqual([]);
    expect(await problemsOf(`${schemaOf(types)}\ntype W {\n  a: Unknown\n  b: [Other] }`)).toEqual([
      { message: "Undefined type Unknown.", line: types + 2, column: 6 },
      { message: "Undefined type Other.", line: types + 3, column: 6 },
    ]);
  }
  expect(await problemsOf('type A { x: Int }\n# Dgraph.Authorization {"Header":"x"}')).toEqual([
    { message: expect.stringContaining("required field missing"), line: null, column: null },
  ]);
});

test("it ends in time, and reads go on beside it", async () => {
  const checking = check(schemaOf(40_000));
  let isOver = false;
  void checking.then(() => (isOver = true));
  let longestMs = 0;
  let reads = 0;
  while (!isOver) {
    const began = performance.now();
    const read = await post(`${server.url}/query`, "{ q(func: uid(1)) { uid } }");
    expect(read.json["data"]).toEqual({ q: [{ uid: "0x1" }] });
    longestMs = Math.max(longestMs, performance.now() - began);
    reads++;
  }
  const told = await checking;
  expect(told.text).toContain("(--limit query-timeout)");
  expect(reads).toBeGreaterThan(100);
  expect(longestMs).toBeLessThan(2_000);
}, 60_000);
