/** The nodes that the server keeps itself are out of reach of requests for data, by every way round. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, startServer, type TestServer } from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: join(makeFolder(), "data"), flags: ["--no-sample"] });
  const sdl = "type Book { id: ID! title: String! }\ntype Shelf { id: ID! books: [Book] }";
  expect((await post(`${server.url}/admin/schema`, sdl)).json["data"]).toBeDefined();
}, 60_000);

afterAll(cleanUp);

async function schemaUid(): Promise<string> {
  const text = "{ q(func: has(dgraph.graphql.xid)) { uid } }";
  const { json } = await post(`${server.url}/query`, text);
  return String(json["data"]!["q"]![0]!["uid"]);
}

test("the GraphQL schema is not deleted by a mutation of data", async () => {
  const uid = await schemaUid();
  const attempts: readonly [body: string | object, headers?: Record<string, string>][] = [
    [`{ delete { <${uid}> * * . } }`, rdf],
    [`{ delete { <${uid}> <dgraph.type> * . } }`, rdf],
    [`{ delete { <${uid}> <dgraph.type> "dgraph.graphql" . } }`, rdf],
    [`{ delete { <${uid}> <dgraph.graphql.schema> * . } }`, rdf],
    [{ delete: [{ uid }] }],
    [{ delete: [{ uid, "dgraph.type": null }] }],
    [
      "upsert { query { v as var(func: has(dgraph.graphql.schema)) } mutation { delete { uid(v) * * . } } }",
      rdf,
    ],
  ];
  for (const [body, headers] of attempts) {
    const { json } = await post(`${server.url}/mutate?commitNow=true`, body, headers);
    expect(json["errors"]?.[0]?.["message"], JSON.stringify(body)).toMatch(
      /^Cannot mutate graphql reserved predicate dgraph\./,
    );
  }
  const query = { query: `mutation { deleteBook(filter: { id: ["${uid}"] }) { numUids } }` };
  const deleted = await post(`${server.url}/graphql`, query);
  expect(deleted.json["data"]!["deleteBook"]).toEqual({ numUids: 0 });
  const added = await post(`${server.url}/graphql`, {
    query: 'mutation { addBook(input: [{ title: "still here" }]) { numUids } }',
  });
  expect(added.json["data"]).toEqual({ addBook: { numUids: 1 } });
});

test("nor by GraphQL, when a type of the application's was added to its node", async () => {
  const uid = await schemaUid();
  const set = `{ set { <${uid}> <dgraph.type> "Book" . } }`;
  await post(`${server.url}/mutate?commitNow=true`, set, rdf);
  const query = { query: `mutation { deleteBook(filter: { id: ["${uid}"] }) { numUids } }` };
  const { json } = await post(`${server.url}/graphql`, query);
  const [error] = json["errors"] ?? [];
  expect(error?.["message"]).toContain("Cannot mutate graphql reserved predicate dgraph.");
  const books = await post(`${server.url}/graphql`, { query: "{ queryShelf { id } }" });
  expect(books.json["data"]).toEqual({ queryShelf: [] });
});
