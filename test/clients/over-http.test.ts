// Goal: GraphQL over HTTP as its specification and its usual clients have it: the audit, statuses, batches, and requests
// that a page could forge.
import { ApolloClient, InMemoryCache, gql } from "@apollo/client";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { Client, fetchExchange } from "@urql/core";
import { serverAudits } from "graphql-http";
import { batchRequests } from "graphql-request";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer } from "../e2e/server.ts";

let url = "";

beforeAll(async () => {
  const flags = ["--workers", "1", "--graphql", "batch=5"];
  const server = await startServer({ dataDir: makeFolder(), flags });
  await post(`${server.url}/admin/schema`, "type Note { id: ID! text: String! @search }");
  url = `${server.url}/graphql`;
});
afterAll(cleanUp);

test("the audit of graphql-http finds no failure, and the two warnings that docs/clients.md gives reasons for", async () => {
  const told = new Map<string, string[]>();
  for (const audit of serverAudits({ url })) {
    const { status, id } = await audit.fn();
    told.set(status, [...(told.get(status) ?? []), id]);
  }
  expect(told.get("error")).toBeUndefined();
  expect(told.get("warn")).toEqual(["9ABE", "BCF8"]);
  expect(told.get("ok")?.length).toBeGreaterThanOrEqual(40);
});

describe("what is accepted decides the status", () => {
  const type = "application/graphql-response+json";
  test.each([
    [type, 400],
    [`${type}, application/json`, 400],
    [`${type},application/json;q=0.9`, 400],
    [`application/json;q=0.9, ${type}`, 400],
    [`application/json, ${type};q=0.5`, 200],
    [`application/json, ${type}`, 200],
    [`${type};q=0, */*`, 200],
    ["*/*", 200],
  ])("%s", async (accept, status) => {
    const wrong = await post(url, { query: "{ nothing }" }, { accept });
    expect([wrong.status, wrong.json["errors"]?.length]).toEqual([status, 1]);
    expect(wrong.headers.get("content-type")).toContain(status === 400 ? type : "application/json");
    expect((await post(url, { query: "{ queryNote { id } }" }, { accept })).status).toBe(200);
  });
});

describe("requests that a page could send unasked", () => {
  const add = 'mutation { addNote(input: [{ text: "forged" }]) { numUids } }';
  const forms: readonly (readonly [string, string])[] = [
    ["text/plain", JSON.stringify({ query: add })],
    ["application/x-www-form-urlencoded", `query=${encodeURIComponent(add)}`],
    ["multipart/form-data; boundary=x", `--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n${add}\r\n--x--`], // prettier-ignore
    ["", JSON.stringify({ query: add })],
  ];
  test.each(forms)("content type %j is no request", async (type, body) => {
    // A Blob without a type is sent without the header.
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    const sent = type === "" ? new Blob([body]) : body;
    const response = await fetch(url, { method: "POST", headers, body: sent });
    expect(await response.text()).toMatch(/Content-Type|media type/);
  });

  test("a mutation by GET is refused, a query answered", async () => {
    const ask = (query: string): Promise<Response> =>
      fetch(`${url}?query=${encodeURIComponent(query)}`);
    const refused = await ask(add);
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await ask("{ queryNote { text } }")).status).toBe(200);
  });

  test("nothing of it was done", async () => {
    const { json } = await post(url, { query: "{ queryNote { text } }" });
    expect(json["data"]).toEqual({ queryNote: [] });
  });
});

describe("urql as it comes", () => {
  test("what is wrong with a query is its answer, though event streams are accepted too", async () => {
    const client = new Client({ url, exchanges: [fetchExchange] });
    const { error } = await client.query("{ nothing }", {});
    expect(error?.graphQLErrors.map(({ message }) => message)).toEqual([
      'Cannot query field "nothing" on type "Query".',
    ]);
    expect(error?.response).toMatchObject({ status: 400 });
    const headers = { accept: "application/json, text/event-stream" };
    const told = await post(url, { query: "{ nothing }" }, headers);
    expect(told.headers.get("content-type")).toContain("application/json");
  });
});

describe("batches", () => {
  test("Apollo's BatchHttpLink", async () => {
    let requestCount = 0;
    const counted: typeof fetch = (input, init) => {
      requestCount++;
      return fetch(input, init);
    };
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new BatchHttpLink({ uri: url, batchMax: 5, batchInterval: 20, fetch: counted }),
    });
    const asked = ["one", "two", "three"].map((text) =>
      client.mutate<{ addNote: { note: { text: string }[] } }>({
        mutation: gql`
          mutation ($text: String!) {
            addNote(input: [{ text: $text }]) {
              note {
                text
              }
            }
          }
        `,
        variables: { text },
      }),
    );
    const texts = (await Promise.all(asked)).map(({ data }) => data?.addNote.note[0]?.text);
    expect(texts).toEqual(["one", "two", "three"]);
    expect(requestCount).toBe(1);
  });

  test("graphql-request's batchRequests", async () => {
    const document = "query ($text: String!) { queryNote(filter: { text: { anyofterms: $text } }) { text } }"; // prettier-ignore
    const told = await batchRequests(url, [
      { document, variables: { text: "one" } },
      { document, variables: { text: "two three" } },
    ]);
    const lists = told.map(({ data }) => (data as { queryNote: object[] }).queryNote.length);
    expect(lists).toEqual([1, 2]);
  });
});
