// Goal: a walk through reference/graphql 4.1 and reference/messages 2 as a new user would try it, over HTTP; each test
// is named for its rule.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp } from "../e2e/server.ts";
import { tokenOf } from "../support/tokens.ts";
import {
  authHeader,
  fillShelf,
  openSeedContext,
  sendPacked,
  type SeedContext,
} from "./seed-context.ts";

let context: SeedContext;
beforeAll(async () => {
  context = await openSeedContext();
  await fillShelf(context);
});
afterAll(cleanUp);

const titles = ["Dunes", "Tidal", "Tides"].map((title) => ({ title }));
const listed = { data: { queryNovel: titles } };
const list = "{ queryNovel(order: {asc: title}) { title } }";
const graphql = { "content-type": "application/graphql" };

async function post(body: string | object, headers?: Record<string, string>): Promise<unknown> {
  const { extensions: _, ...answer } = (await context.send("/graphql", body, headers))
    .json as Record<string, unknown>;
  return answer;
}

describe("reference/graphql 4.1.1 the request", () => {
  test("reference/graphql 4.1.1 query: a document of operations and fragments, and required", async () => {
    const fragment = "fragment Its on Novel { title }";
    const query = `query All { queryNovel(order: {asc: title}) { ...Its } } ${fragment}`;
    expect(await post({ query })).toEqual(listed);
    expect(await post({ operationName: "All" })).toMatchObject({
      errors: [{ message: "no query string supplied in request" }],
    });
  });

  test("reference/graphql 4.1.1 operationName: selects, and is required with two operations", async () => {
    const query = `query One { queryManual { title } } query Two ${list}`;
    expect(await post({ query, operationName: "Two" })).toEqual(listed);
    expect(await post({ query })).toMatchObject({
      errors: [{ message: expect.stringContaining("Operation name must") }],
    });
    expect(await post({ query, operationName: "Three" })).toMatchObject({
      errors: [{ message: expect.stringContaining("Three") }],
    });
  });

  test("reference/graphql 4.1.1 variables: a map of names without the dollar", async () => {
    const query = "query q($t: String!) { queryNovel(filter: {title: {eq: $t}}) { pages } }";
    expect(await post({ query, variables: { t: "Dunes" } })).toEqual({
      data: { queryNovel: [{ pages: 150 }] },
    });
  });
});

describe("reference/messages 2 the response", () => {
  test("reference/messages 2 data: keyed by field names or aliases", async () => {
    const { data } = await context.ask(
      '{ one: getWriter(login: "bo") { name } queryManual { title } }',
    );
    expect(data).toEqual({ one: { name: "Bo Sand" }, queryManual: [{ title: "Sails" }] });
  });

  test("reference/messages 2 errors: objects with a message", async () => {
    const { errors } = await context.ask("{ nothingLikeThis }");
    expect(errors?.map(({ message }) => typeof message)).toEqual(["string"]);
  });
});

describe("reference/graphql 4.1.2 headers", () => {
  test("reference/graphql 4.1.2 Content-Type: application/graphql or application/json, and required", async () => {
    expect(await post(list, graphql)).toEqual(listed);
    expect(await post({ query: list }, { "content-type": "application/json" })).toEqual(listed);
    expect(await post(list, { "content-type": "text/plain" })).toMatchObject({
      errors: [{ message: expect.stringContaining("Unrecognised Content-Type") }],
    });
  });

  test("reference/graphql 4.1.2 Content-Encoding and Accept-Encoding: gzip both ways", async () => {
    const url = `${context.server.url}/graphql`;
    const packed = await sendPacked(url, list, {
      ...graphql,
      "content-encoding": "gzip",
      "accept-encoding": "gzip",
    });
    expect(packed.encoding).toBe("gzip");
    expect(JSON.parse(packed.text)).toMatchObject(listed);
    const plain = await sendPacked(url, list, graphql);
    expect(plain.encoding).toBeNull();
    expect(JSON.parse(plain.text)).toMatchObject(listed);
  });

  test("reference/graphql 4.1.2 the configured header: a valid JWT, which @auth rules use", async () => {
    const add = 'mutation { addNote(input: [{by: "ann", text: "mine"}]) { numUids } }';
    const ann = { headers: { [authHeader]: tokenOf({ USER: "ann" }) } };
    expect(await context.ask(add, ann)).toEqual({ data: { addNote: { numUids: 1 } } });
    expect(await context.ask("{ queryNote { text } }", ann)).toEqual({
      data: { queryNote: [{ text: "mine" }] },
    });
    expect(await context.ask("{ queryNote { text } }")).toEqual({ data: { queryNote: [] } });
    const broken = { headers: { [authHeader]: `${tokenOf({ USER: "ann" })}x` } };
    expect((await context.ask("{ queryNote { text } }", broken)).errors).toHaveLength(1);
  });
});

describe("reference/graphql 4.1.3 payload rules", () => {
  test("reference/graphql 4.1.3 rule 1: as application/graphql the body is the document itself", async () => {
    expect(await post(list, graphql)).toEqual(listed);
  });

  test("reference/graphql 4.1.3 rule 2: as application/json the body is the object of reference/graphql 4.1.1", async () => {
    const query = "query q($n: Int) { queryNovel(first: $n, order: {asc: title}) { title } }";
    expect(await post({ query, operationName: "q", variables: { n: 1 } })).toEqual({
      data: { queryNovel: [{ title: "Dunes" }] },
    });
  });

  test("reference/graphql 4.1.3 rule 3: queries, mutations and subscriptions, with several top-level fields each", async () => {
    const queries = await context.ask(
      "query { a: queryManual { title } b: queryManual { pages } }",
    );
    expect(queries.data).toEqual({ a: [{ title: "Sails" }], b: [{ pages: 40 }] });
    const edit = (pages: number): string =>
      `updateManual(input: {filter: {title: {eq: "Sails"}}, set: {pages: ${pages}}}) { manual { pages } }`;
    const mutations = await context.ask(`mutation { a: ${edit(41)} b: ${edit(40)} }`);
    expect(mutations.data).toEqual({
      a: { manual: [{ pages: 41 }] },
      b: { manual: [{ pages: 40 }] },
    });
    const subscription = await context.ask(
      "subscription { queryWriter(order: {asc: login}) { login } }",
    );
    expect(subscription.errors ?? []).not.toContainEqual({
      message: expect.stringContaining("not"),
    });
  });

  test("reference/graphql 4.1.3 rule 4: a single operation may be unnamed", async () => {
    expect(await post({ query: `query ${list}` })).toEqual(listed);
    const mutation =
      'mutation { updateManual(input: {filter: {has: subject}, set: {subject: "rope"}}) { numUids } }';
    expect(await post({ query: mutation })).toEqual({ data: { updateManual: { numUids: 1 } } });
  });

  test("reference/graphql 4.1.3 rule 5: a single query may be its selection set alone", async () => {
    expect(await post(list, graphql)).toEqual(listed);
    expect(await post({ query: list })).toEqual(listed);
  });

  test("reference/graphql 4.1.3 rule 6: several operations are all named, differently, and one is executed", async () => {
    const add = (name: string, title: string): string =>
      `mutation ${name} { addManual(input: [{title: "${title}"}]) { numUids } }`;
    const two = `${add("A", "from A")} ${add("B", "from B")}`;
    expect(await post({ query: two, operationName: "B" })).toEqual({
      data: { addManual: { numUids: 1 } },
    });
    const stored = await context.ask(
      '{ queryManual(filter: {title: {regexp: "/from/"}}) { title } }',
    );
    expect(stored.data).toEqual({ queryManual: [{ title: "from B" }] });
    await context.ask('mutation { deleteManual(filter: {title: {eq: "from B"}}) { numUids } }');
    const unnamed = await post({ query: `query A ${list} ${list}`, operationName: "A" });
    expect(unnamed).toMatchObject({ errors: [{}] });
    const same = await post({ query: `query A ${list} query A ${list}`, operationName: "A" });
    expect(same).toMatchObject({ errors: [{ message: expect.stringContaining('"A"') }] });
  });

  test("reference/graphql 4.1.3 rule 7: data has one entry for each top-level field of the executed operation", async () => {
    const query = `query One { queryManual { title } } query Two { x: queryManual { title } getWriter(login: "no") { name } }`;
    const answer = (await post({ query, operationName: "Two" })) as { data: object };
    expect(Object.keys(answer.data)).toEqual(["x", "getWriter"]);
  });

  test("reference/graphql 4.1.3 rule 8: queries are independent: the failure of one leaves the others", async () => {
    const { data, errors } = await context.ask(
      '{ bad: getWriter(id: "no id") { name } queryManual { title } }',
    );
    expect(errors).toHaveLength(1);
    expect(data).toMatchObject({ queryManual: [{ title: "Sails" }] });
  });

  test("reference/graphql 4.1.3 rule 9: mutations run in order, each by itself; a failure stops the later ones only", async () => {
    const { data, errors } = await context.ask(`mutation {
      first: addWriter(input: [{login: "cy"}]) { writer { login } }
      second: updateWriter(input: {filter: {login: {eq: "cy"}}, set: {name: "Cy"}}) { writer { name } }
      third: addWriter(input: [{login: "cy"}]) { numUids }
      fourth: addWriter(input: [{login: "dee"}]) { numUids }
    }`);
    expect(data).toMatchObject({
      first: { writer: [{ login: "cy" }] },
      second: { writer: [{ name: "Cy" }] },
    });
    expect(errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining("already exists"),
      "Mutation fourth was not executed because of a previous error.",
    ]);
    const after = await context.ask(
      '{ cy: getWriter(login: "cy") { name } dee: getWriter(login: "dee") { name } }',
    );
    expect(after.data).toEqual({ cy: { name: "Cy" }, dee: null });
    await context.ask('mutation { deleteWriter(filter: {login: {eq: "cy"}}) { numUids } }');
  });

  test("reference/graphql 4.1.3 rule 10: variables may be non-null and of input types", async () => {
    const query = `mutation m($input: [AddManualInput!]!, $filter: ManualFilter!) {
      addManual(input: $input) { numUids } deleteManual(filter: $filter) { numUids } }`;
    const variables = { input: [{ title: "Knots" }], filter: { title: { eq: "Knots" } } };
    expect(await post({ query, variables })).toEqual({
      data: { addManual: { numUids: 1 }, deleteManual: { numUids: 1 } },
    });
    expect(await post({ query, variables: {} })).toMatchObject({
      errors: [{ message: "must be defined", path: ["variable", "input"] }],
    });
  });

  test("reference/graphql 4.1.3 rule 11: fragments, in queries and in payloads of mutations", async () => {
    const { data } = await context.ask(`mutation {
      updateManual(input: {filter: {title: {eq: "Sails"}}, set: {pages: 40}}) { manual { ...Its } }
    } fragment Its on Manual { title pages }`);
    expect(data).toEqual({ updateManual: { manual: [{ title: "Sails", pages: 40 }] } });
    const query = await context.ask("{ queryManual { ...Its } } fragment Its on Manual { title }");
    expect(query.data).toEqual({ queryManual: [{ title: "Sails" }] });
  });

  test("reference/graphql 4.1.3 rule 12: fragments on interfaces and types; __typename names each element's own", async () => {
    const { data } =
      await context.ask(`{ queryWork(order: {asc: title}, filter: {pages: {lt: 100}}) {
      __typename ...Its ... on Novel { stars } ... on Manual { subject } } } fragment Its on Work { title }`);
    expect(data).toEqual({
      queryWork: [
        { __typename: "Manual", title: "Sails", subject: expect.any(String) },
        { __typename: "Novel", title: "Tidal", stars: 2 },
      ],
    });
  });
});
