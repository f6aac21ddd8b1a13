/** The nodes that the server keeps itself are out of reach of requests for data, by every way round. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, type TestServer } from "./server.ts";

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

test("who may not administer reads the schema's text by no way round", async () => {
  const uid = await schemaUid();
  const admin = await createKey(["--kind", "admin"]);
  const senders: readonly Record<string, string>[] = [
    { "x-auth-token": await createKey([]) },
    { "x-auth-token": await createKey(["--scope", "query,mutate"]) },
    { origin: "https://page.example" },
    { "sec-fetch-site": "cross-site" },
  ];
  const secret = "dgraph.graphql.schema";
  const queries = [
    `{ q(func: has(${secret})) { uid } }`,
    `{ q(func: uid(${uid})) { ${secret} } }`,
    `{ q(func: uid(${uid})) { t: ${secret} } }`,
    `{ q(func: uid(${uid})) { expand(_all_) } }`,
    `{ q(func: uid(${uid})) { expand(dgraph.graphql) } }`,
    `{ q(func: uid(${uid})) { ...F } } fragment F { ${secret} }`,
    `{ q(func: uid(${uid})) @filter(has(${secret})) { uid } }`,
    `{ q(func: uid(${uid})) @groupby(${secret}) { count(uid) } }`,
    `{ v as var(func: uid(${uid})) { s as ${secret} } q(func: uid(v)) { val(s) } }`,
    `{ var(func: uid(${uid})) { s as ${secret} } q() { max(val(s)) } }`,
  ];
  const ask = (text: string, sender: Record<string, string>) =>
    post(`${server.url}/query`, text, sender);
  for (const sender of senders) {
    for (const text of queries) {
      const told = await ask(text, sender);
      expect(told.text, text).not.toContain("type Book");
      if (text.includes("has(")) expect(told.text, text).not.toContain(`"${uid}"`);
    }
    const upsert = `upsert { query { v as var(func: has(${secret})) q(func: uid(${uid})) { ${secret} } } mutation @if(gt(len(v), 0)) { set { _:seen <seen> "yes" . } } }`;
    const url = `${server.url}/mutate?commitNow=true`;
    const told = await post(url, upsert, { ...rdf, ...sender });
    // A page writes nothing at all.
    if ("x-auth-token" in sender) expect(told.json["data"]?.["uids"], told.text).toEqual({});
    else expect(told.json["errors"], told.text).toHaveLength(1);
    expect(told.text).not.toContain("type Book");
  }
  const [, text = ""] = queries;
  expect((await ask(text, { "x-auth-token": admin })).text).toContain("type Book");
  expect((await post(`${server.url}/query`, text)).text).toContain("type Book");
}, 60_000);

async function createKey(flags: readonly string[]): Promise<string> {
  const made = await runWeft(["key", "create", "--name", "k", ...flags, "--to", server.url]);
  expect(made.stdout, made.stderr).toMatch(/^weft_/);
  return made.stdout.trim();
}
