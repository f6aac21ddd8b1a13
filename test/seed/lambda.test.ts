// Goal: a walk through reference/graphql 7.1 and 7.4 – 7.6, and the row of resolvers in 11: resolvers as a new user
// writes them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, runWeft } from "../e2e/server.ts";
import { findFreePort } from "../support/free-port.ts";
import { tokenOf } from "../support/tokens.ts";
import { authHeader, fillShelf, openSeedContext, type SeedContext } from "./seed-context.ts";

let context: SeedContext;
const ann = { [authHeader]: tokenOf({ USER: "ann" }) };
const bo = { [authHeader]: tokenOf({ USER: "bo" }) };

beforeAll(async () => {
  context = await openSeedContext();
  await fillShelf(context);
  for (const [by, headers] of [
    ["ann", ann],
    ["bo", bo],
  ] as const) {
    const add = `mutation { addNote(input: [{by: "${by}", text: "by ${by}"}]) { numUids } }`;
    expect((await context.ask(add, { headers })).errors).toBeUndefined();
  }
});
afterAll(cleanUp);

const data = async (query: string, headers?: Record<string, string>): Promise<unknown> => {
  const answer = await context.ask(query, headers === undefined ? {} : { headers });
  expect(answer.errors).toBeUndefined();
  return answer.data;
};

async function readEvent(headers?: Record<string, string>): Promise<unknown> {
  const { event } = (await data("{ event }", headers)) as { event: string };
  return JSON.parse(event);
}

describe("reference/graphql 7 what the service does", () => {
  test("reference/graphql 7: resolvers attached by @lambda run in a server of their own and call back", async () => {
    expect(await data('{ writersNamed(name: "Bo Sand") { login } }')).toEqual({
      writersNamed: [{ login: "bo" }],
    });
  });
});

describe("reference/graphql 7.4.1 the event", () => {
  test("reference/graphql 7.4.1 AuthHeader: key and value of the client's header", async () => {
    expect(await readEvent(ann)).toMatchObject({
      authHeader: { key: authHeader, value: ann[authHeader] },
    });
  });

  test("reference/graphql 7.4.1 GraphQLResponse: data, or errors with a message", async () => {
    expect(await data("{ mistake }")).toEqual({ mistake: "string,string" });
  });

  test("reference/graphql 7.4.1 the parent: all immediate fields, queried or not; null for queries", async () => {
    const { getWriter } = (await data('{ getWriter(login: "ann") { seen } }')) as {
      getWriter: { seen: string };
    };
    expect(JSON.parse(getWriter.seen)).toMatchObject({ parent: ["email", "id", "login", "name"] });
    expect(await readEvent()).toMatchObject({ parent: null });
  });

  test("reference/graphql 7.4.1 args: the arguments of a lambda query or mutation", async () => {
    expect(await data('{ greeting(to: "ann") }')).toEqual({ greeting: "hello ann" });
    expect(await data("{ greeting }")).toEqual({ greeting: "hello you" });
  });

  test("reference/graphql 7.4.1 graphql: forwards the client's header; a third argument replaces it", async () => {
    expect(await data("{ notesFor }", ann)).toEqual({ notesFor: ["by ann"] });
    expect(await data("{ notesFor }")).toEqual({ notesFor: [] });
    expect(await data(`{ notesAs(token: "${bo[authHeader]}") }`, ann)).toEqual({
      notesAs: ["by bo"],
    });
  });

  test("reference/graphql 7.4.1 dql: query and mutate", async () => {
    expect(await readEvent()).toMatchObject({
      graphql: "function",
      query: "function",
      mutate: "function",
    });
    expect(await data('mutation { rename(login: "bo", name: "Bo Stone") { login name } }')).toEqual(
      {
        rename: { login: "bo", name: "Bo Stone" },
      },
    );
    await data('mutation { rename(login: "bo", name: "Bo Sand") { login } }');
  });

  test("reference/graphql 7.4.1 parents: of a multi-parent resolver all of them, and args null", async () => {
    expect(await data("{ queryWriter(order: {asc: login}) { login place } }")).toEqual({
      queryWriter: [
        { login: "ann", place: 1 },
        { login: "bo", place: 2 },
      ],
    });
  });
});

describe("reference/graphql 7.5 rules", () => {
  test("reference/graphql 7.5 rule 1: both functions, several times in one script", async () => {
    // The script calls addGraphQLResolvers twice: each query below is registered by another call.
    expect(
      await data(
        '{ greeting writersNamed(name: "Ann Lee") { login } queryWriter(first: 1) { place } }',
      ),
    ).toMatchObject({
      greeting: "hello you",
      writersNamed: [{ login: "ann" }],
    });
  });

  test("reference/graphql 7.5 rule 2: names are Type.field, Query.name, Mutation.name", async () => {
    expect(await data('{ getWriter(login: "ann") { initials } }')).toEqual({
      getWriter: { initials: "AL" },
    });
    expect(await data('{ greeting(to: "x") }')).toEqual({ greeting: "hello x" });
    expect(await data('mutation { rename(login: "ann", name: "Ann Lee") { name } }')).toEqual({
      rename: { name: "Ann Lee" },
    });
  });

  test("reference/graphql 7.5 rule 3: a resolver may be asynchronous", async () => {
    expect(await data('{ greeting(to: "a"), writersNamed(name: "nobody") { login } }')).toEqual({
      greeting: "hello a",
      writersNamed: [],
    });
  });

  test("reference/graphql 7.5 rule 4: a result has the format of its return type", async () => {
    expect(await data('{ writersNamed(name: "Ann Lee") { login name } }')).toEqual({
      writersNamed: [{ login: "ann", name: "Ann Lee" }],
    });
  });

  test("reference/graphql 7.5 rule 5: a multi-parent resolver gives one element for each parent, in order", async () => {
    expect(await data("{ queryWriter(order: {desc: login}) { login place } }")).toEqual({
      queryWriter: [
        { login: "bo", place: 1 },
        { login: "ann", place: 2 },
      ],
    });
  });

  test("reference/graphql 7.5 rules 6 and 7: a script alone, with imports, bundled; for a query there are no parents", async () => {
    const folder = makeFolder();
    const file = join(folder, "own.ts");
    writeFileSync(join(folder, "words.ts"), 'export const word: string = "bundled";');
    writeFileSync(
      file,
      `import { word } from "./words.ts";
       declare const self: any;
       self.addGraphQLResolvers({ "Query.word": () => word });
       self.addMultiParentGraphQLResolvers({ "Query.wrong": ({ parents }: any) => [String(parents)] });`,
    );
    const port = await findFreePort();
    void runWeft(["lambda", file, "--http", `127.0.0.1:${port}`, "--graphql", context.server.url]);
    const call = (resolver: string): Promise<{ text: string; status: number }> =>
      post(`http://127.0.0.1:${port}/graphql-worker`, { resolver, parents: null, args: {} });
    await expect
      .poll(async () => (await call("Query.word").catch(() => ({ text: "" }))).text, {
        timeout: 20_000,
      })
      .toBe('"bundled"');
    // Rule 6: such a resolver is not for queries; where one is called all the same, it gets no parents.
    expect((await call("Query.wrong")).text).toBe('"null"');
  });
});

describe("reference/graphql 7.5 rule 8", () => {
  test.each([
    [
      "reference/graphql 7.5 rule 8: field of a type or interface",
      '{ getWriter(login: "bo") { initials } }',
      { getWriter: { initials: "BS" } },
    ],
    [
      "reference/graphql 7.5 rule 8: field of Query, whose value stands under its name",
      "{ greeting }",
      { greeting: "hello you" },
    ],
    [
      "reference/graphql 7.5 rule 8: field of Mutation",
      'mutation { rename(login: "bo", name: "Bo Sand") { login } }',
      { rename: { login: "bo" } },
    ],
  ])("%s", async (_, query, expected) => {
    expect(await data(query)).toEqual(expected);
  });
});

describe("reference/graphql 7.6 limits", () => {
  test("reference/graphql 7.6 compiled script size: a limit, with its name in the error", async () => {
    const file = join(makeFolder(), "large.js");
    writeFileSync(file, `self.addGraphQLResolvers({ "Query.x": () => "${"x".repeat(600_000)}" });`);
    const ended = await runWeft([
      "lambda",
      file,
      "--http",
      `127.0.0.1:${await findFreePort()}`,
      "--graphql",
      context.server.url,
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/6001\d\d bytes, the limit is 512000 \(script-bytes\)/);
  });
});
