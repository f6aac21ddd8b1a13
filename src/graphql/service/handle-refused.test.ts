// Goal: while a server takes no data requests, each root field says so and none is run.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";

let context: GraphqlContext;
const words = "the server is closed";

beforeAll(async () => {
  context = await openGraphqlContext("type Shelf { id: ID! name: String @search(by: [exact]) }");
});
afterAll(() => context.close());

async function ask(query: string): Promise<unknown> {
  const answer = await context.service.handle({
    kind: "graphql",
    body: query,
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
    closed: words,
  });
  return JSON.parse(new TextDecoder().decode(answer.body));
}

const failed = `Dgraph query failed because Dgraph execution failed because ${words}`;

test("queries: one error for each root field; introspection is answered", async () => {
  expect(await ask("{ queryShelf { name } b: queryShelf { id } }")).toEqual({
    errors: [
      { message: failed, path: ["queryShelf"] },
      { message: failed, path: ["b"] },
    ],
  });
  expect(await ask("{ __typename }")).toEqual({ data: { __typename: "Query" } });
});

test("mutations: the first is refused, those behind it do not run, nothing is written", async () => {
  const add = 'addShelf(input: [{ name: "x" }]) { numUids }';
  expect(await ask(`mutation { ${add} b: ${add} }`)).toEqual({
    errors: [
      {
        message: `mutation addShelf failed because Dgraph execution failed because ${words}`,
        locations: [{ line: 1, column: 12 }],
        path: ["addShelf"],
      },
      {
        message: "Mutation b was not executed because of a previous error.",
        locations: [{ line: 1, column: 57 }],
        path: ["b"],
      },
    ],
    data: { addShelf: null },
  });
  expect(await context.ask("{ queryShelf { name } }")).toEqual({ data: { queryShelf: [] } });
});
