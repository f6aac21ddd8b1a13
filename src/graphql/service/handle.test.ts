/** The envelope: extensions, headers, several operations (reference/messages 2.1, reference/graphql 4.2). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGraphqlService } from "./open-service.ts";
import type { GraphqlService } from "./service.ts";
import { systemClock } from "../../base/clock.ts";
import { openEngine } from "../../engine/open.ts";
import type { OpenEngine } from "../../engine/open.ts";
import { openMemoryStore } from "../../stores/open.ts";
import { deriveFill } from "../../write/fill.ts";

let engine: OpenEngine;
let service: GraphqlService;

beforeAll(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
  service = openGraphqlService({ engine, clock: systemClock, debug: true });
  await service.updateSchema(0, "type Leaf { id: ID!  name: String! @search(by: [hash]) }");
});

afterAll(() => engine.close());

interface Reply {
  readonly text: string;
  readonly json: {
    readonly data?: unknown;
    readonly errors?: unknown;
    readonly extensions: {
      readonly touched_uids?: number;
      readonly dql_query?: string;
      readonly tracing: {
        readonly version: number;
        readonly duration: number;
        readonly execution?: {
          readonly resolvers: readonly { readonly path: unknown; readonly dgraph: unknown[] }[];
        };
      };
    };
  };
  readonly headers: Readonly<Record<string, string>> | undefined;
}

async function ask(body: string, kind: "json" | "graphql" = "json"): Promise<Reply> {
  const answer = await service.handle({
    kind,
    body,
    headers: {},
    remoteAddress: "",
    timeoutMs: 0,
  });
  const text = new TextDecoder().decode(answer.body);
  return { text, json: JSON.parse(text) as Reply["json"], headers: answer.headers };
}

describe("extensions", () => {
  test("of queries and mutations", async () => {
    const added = await ask('mutation { addLeaf(input: [{name: "oak"}]) { numUids } }', "graphql");
    expect(added.json.data).toEqual({ addLeaf: { numUids: 1 } });
    const [mutation] = added.json.extensions.tracing.execution?.resolvers ?? [];
    expect(mutation).toMatchObject({
      path: ["addLeaf"],
      parentType: "Mutation",
      fieldName: "addLeaf",
      returnType: "AddLeafPayload",
      dgraph: [{ label: "preMutationQuery" }, { label: "mutation" }, { label: "query" }],
    });
    const read = await ask("{ leaves: queryLeaf { name } }", "graphql");
    expect(read.json.extensions.touched_uids).toBeGreaterThan(0);
    expect(read.json.extensions.dql_query).toContain("type(Leaf)");
    expect(read.json.extensions.tracing.execution?.resolvers).toHaveLength(1);
    expect(read.headers?.["Graphql-TouchedUids"]).toBe(String(read.json.extensions.touched_uids));
    expect(read.text.startsWith('{"data":')).toBe(true);
  });

  test("of a request that is refused: the times alone", async () => {
    const { json, text } = await ask("{ queryLeaf { nme } }", "graphql");
    expect(text.startsWith('{"errors":')).toBe(true);
    expect(json.data).toBe(undefined);
    expect(json.extensions.tracing).toMatchObject({ version: 1 });
    expect(json.extensions.tracing.execution).toBe(undefined);
  });
});

describe("requests", () => {
  test("the operation is chosen by its name", async () => {
    const query = "query A { __typename } mutation B { __typename }";
    const named = async (operationName?: string): Promise<Reply["json"]> =>
      (await ask(JSON.stringify({ query, operationName }))).json;
    expect(await named("B")).toMatchObject({ data: { __typename: "Mutation" } });
    expect(await named()).toMatchObject({
      errors: [
        { message: "Operation name must by supplied when query has more than 1 operation." },
      ],
    });
    expect(await named("C")).toMatchObject({
      errors: [{ message: "Supplied operation name C isn't present in the request." }],
    });
  });

  test("@cacheControl becomes headers", async () => {
    const { headers } = await ask(
      "query @cacheControl(maxAge: 15) { queryLeaf { id } }",
      "graphql",
    );
    expect(headers).toMatchObject({
      "Cache-Control": "public,max-age=15",
      Vary: "Accept-Encoding",
    });
    const byVariable = JSON.stringify({
      query: "query($n: Int!) @cacheControl(maxAge: $n) { queryLeaf { id } }",
      variables: { n: 7 },
    });
    expect((await ask(byVariable)).headers).toMatchObject({ "Cache-Control": "public,max-age=7" });
  });

  test("depth is bounded", async () => {
    const { json } = await ask(`{ queryLeaf ${"{ a ".repeat(300)}${"}".repeat(301)}`, "graphql");
    const message = "the document is nested deeper than 200 levels (--limit depth)";
    expect(json.errors).toEqual([{ message }]);
  });

  test("many root queries in one request, each answered under its own name", async () => {
    const names = Array.from({ length: 30 }, (_, i) => `q${i}`);
    const { json } = await ask(
      `{ ${names.map((name) => `${name}: queryLeaf { name }`).join(" ")} }`,
      "graphql",
    );
    expect(Object.keys(json.data as object)).toEqual(names);
  });

  test("introspection beside data, and switched off", async () => {
    const { json } = await ask('{ __type(name: "Leaf") { name } queryLeaf { name } }', "graphql");
    expect(json.data).toEqual({ __type: { name: "Leaf" }, queryLeaf: [{ name: "oak" }] });
    const closed = openGraphqlService({ engine, clock: systemClock, introspection: false });
    const answer = await closed.handle({
      kind: "graphql",
      body: "{ __typename queryLeaf { __typename } }",
      headers: {},
      remoteAddress: "",
      timeoutMs: 0,
    });
    expect(JSON.parse(new TextDecoder().decode(answer.body))).toMatchObject({
      errors: [{ path: ["__typename"] }],
      data: { queryLeaf: [{ __typename: "Leaf" }] },
    });
  });
});
