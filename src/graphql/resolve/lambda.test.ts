/** `@lambda`: what is asked of the lambda server, and what becomes of its answers (reference/graphql 7). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { OpenEngine } from "../../engine/open.ts";
import { openEngine } from "../../engine/open.ts";
import type { LambdaReply } from "../../lambda/client.ts";
import { openMemoryStore } from "../../stores/open.ts";
import { deriveFill } from "../../write/fill.ts";
import { openGraphqlService } from "../service/open-service.ts";
import { compileSchema, validateSdl } from "../service/schema-compile.ts";
import type { GraphqlService } from "../service/service.ts";

const sdl = `
enum Bark { ROUGH SMOOTH }
interface Plant { id: ID! name: String! @search(by: [exact]) hail: String @lambda }
type Tree implements Plant {
  height: Float rings: [Int] bark: Bark planted: DateTime near: [Tree] plot: Plot
  tall: Boolean @lambda  score: Int! @lambda  tags: [String!] @lambda  owner: Owner @lambda
}
type Fern implements Plant { fronds: Int }
type Plot { code: String! @id trees: [Tree] @hasInverse(field: plot) }
type Owner @remote { name: String! years: [Int] friend: Owner since: DateTime alias: String @remoteResponse(name: "aka") }
input Deep { a: Int b: [String] }
type Query {
  ask(a: Int = 3, d: Deep, i: ID, l: Int64): String @lambda
  owners: [Owner] @lambda  sure: Int! @lambda  trees: [Tree] @lambda  plant: Plant @lambda  bark: Bark @lambda
}
type Mutation { act(n: Int): Int @lambda }
# Dgraph.Authorization {"VerificationKey":"0123456789abcdef0123456789abcdef","Header":"X-Grove","Namespace":"n","Algo":"HS256"}
`;

interface Call {
  readonly resolver: string;
  readonly parents?: readonly Record<string, unknown>[];
  readonly args?: unknown;
  readonly authHeader: unknown;
}

let engine: OpenEngine;
let service: GraphqlService;
let calls: Call[] = [];
let reply: (call: Call) => unknown = () => null;

/** A text is the body as it is. */
function answer(value: unknown): LambdaReply {
  if (typeof value === "object" && value !== null && "reply" in value) {
    return value.reply as LambdaReply;
  }
  return { status: 200, body: JSON.stringify(value) };
}

beforeAll(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
  service = openGraphqlService({
    engine,
    clock: systemClock,
    extensions: false,
    lambda: {
      call: (_namespace, body) => {
        const call = JSON.parse(body) as Call;
        calls.push(call);
        return Promise.resolve(answer(reply(call)));
      },
      close: () => {},
    },
  });
  await service.updateSchema(0, sdl);
  await ask(`mutation { addTree(input: [
    { name: "ash", height: 2.5, rings: [1, 2], bark: ROUGH, planted: "2020-01-02", plot: { code: "p" } },
    { name: "oak", near: [{ name: "elm" }], plot: { code: "p" } }]) { numUids }
    addFern(input: [{ name: "fern", fronds: 3 }]) { numUids } }`);
});
beforeEach(() => (calls = []));
afterAll(() => engine.close());

async function ask(query: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answered = await service.handle({
    kind: "json",
    body: JSON.stringify({ query }),
    headers,
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  });
  return JSON.parse(new TextDecoder().decode(answered.body));
}

const each =
  (value: (parent: Record<string, unknown>) => unknown) =>
  (call: Call): unknown =>
    call.parents?.map(value);

describe("fields", () => {
  test("reference/graphql 7.4.1: parents hold all immediate fields, and nothing else", async () => {
    reply = each(({ name }) => name === "ash");
    const data = { queryTree: [{ tall: true }] };
    expect(await ask('{ queryTree(filter: {name: {eq: "ash"}}) { tall } }')).toEqual({ data });
    expect(calls).toEqual([
      {
        "X-Dgraph-AccessToken": "",
        authHeader: { key: "X-Grove", value: "" },
        parents: [
          {
            id: expect.stringMatching(/^0x/) as string,
            name: "ash",
            height: 2.5,
            rings: expect.arrayContaining([1, 2]) as number[],
            bark: "ROUGH",
            planted: "2020-01-02T00:00:00Z",
          },
        ],
        resolver: "Tree.tall",
      },
    ]);
  });

  test("one call for a field and level, each parent once", async () => {
    reply = each(({ name }) => `hi ${String(name)}`);
    await ask("{ queryTree { hail plot { trees { hail } } } }");
    expect(calls.map(({ resolver, parents }) => [resolver, parents?.length])).toEqual([
      ["Tree.hail", 3],
      ["Tree.hail", 2],
    ]);
  });

  test("fields of interfaces go by the type that is asked", async () => {
    reply = ({ resolver, parents }) => parents?.map(({ name }) => `${resolver} ${String(name)}`);
    const through = "{ queryPlant(order: {asc: name}) { name hail } }";
    expect(await ask(through)).toMatchObject({
      data: { queryPlant: [{ hail: "Plant.hail ash" }, { hail: "Plant.hail elm" }, {}, {}] },
    });
    expect(calls[0]?.parents?.[0]).toEqual({ id: expect.any(String) as string, name: "ash" });
    calls = [];
    await ask("{ queryPlant { ... on Tree { hail } ... on Fern { fronds hail } } }");
    expect(calls.map(({ resolver, parents }) => [resolver, parents?.length])).toEqual([
      ["Tree.hail", 3],
      ["Fern.hail", 1],
    ]);
  });

  test("nobody is asked where there is no parent, and where no such field is selected", async () => {
    await ask('{ queryTree(filter: {name: {eq: "none"}}) { tall } }');
    await ask("{ queryTree { name near { name } } }");
    expect(calls).toEqual([]);
  });

  test("what a resolver returns of a field that another would compute counts", async () => {
    reply = () => [{ name: "oak", score: "9" }];
    expect(await ask("{ trees { name score tall } }")).toEqual({
      data: { trees: [{ name: "oak", score: 9, tall: null }] },
    });
    expect(calls.map(({ resolver }) => resolver)).toEqual(["Query.trees"]);
  });

  test("the answer of a mutation", async () => {
    reply = each(({ name }) => name === "yew");
    const query = 'mutation { addTree(input: [{name: "yew"}]) { tree { name tall } } }';
    expect(await ask(query)).toEqual({
      data: { addTree: { tree: [{ name: "yew", tall: true }] } },
    });
    await ask('mutation { deleteTree(filter: {name: {eq: "yew"}}) { numUids } }');
  });

  test("values are brought into the field's type", async () => {
    reply = ({ resolver, parents }) =>
      parents?.map(() => (resolver === "Tree.score" ? "7" : resolver === "Tree.tall" ? 1 : null));
    expect(await ask('{ queryTree(filter: {name: {eq: "ash"}}) { s: score tall tags } }')).toEqual({
      data: { queryTree: [{ s: 7, tall: true, tags: [] }] },
    });
  });

  test("a null that may not be goes up, with its path", async () => {
    reply = each(({ name }) => (name === "oak" ? null : 1));
    expect(await ask("{ queryTree(order: {asc: name}) { name score } }")).toMatchObject({
      errors: [{ path: ["queryTree"] }, { path: ["queryTree", 2, "score"] }],
      data: { queryTree: [{ name: "ash", score: 1 }, { name: "elm", score: 1 }, null] },
    });
  });

  test("a null in a list of values that may not be null is a null list", async () => {
    reply = each(({ name }) => (name === "ash" ? ["a", null] : ["b"]));
    expect(await ask("{ queryTree(order: {asc: name}, first: 2) { tags } }")).toMatchObject({
      errors: [{ path: ["queryTree", 1] }],
      data: { queryTree: [{ tags: null }, { tags: ["b"] }] },
    });
  });

  test("objects: members by name, what is not asked for is left out", async () => {
    reply = each(() => ({
      name: "Ann",
      years: ["1", 2],
      friend: null,
      more: 1,
      since: 0,
      aka: "A",
    }));
    const query =
      '{ queryTree(filter: {name: {eq: "ash"}}) { owner { n: name years since alias friend { name } } } }';
    expect(await ask(query)).toEqual({
      data: {
        queryTree: [
          {
            owner: {
              n: "Ann",
              years: [1, 2],
              since: "1970-01-01T00:00:00Z",
              alias: "A",
              friend: null,
            },
          },
        ],
      },
    });
  });

  test.each([
    [
      "too few",
      [1],
      "because expected result of external request to be of size 3, got: 1 for field: tall within type: Tree.",
    ],
    [
      "no list",
      { a: 1 },
      "because expected result of external BATCH request to be of list type, got:  for field: tall within type: Tree.",
    ],
    [
      "no server",
      { reply: { unreachable: 'Post "u": refused' } },
      'because external request returned an error: Post "u": refused for field: tall within type: Tree.',
    ],
    [
      "a status",
      { reply: { status: 400, body: "" } },
      "because external request returned an error: unexpected error with: 400 for field: tall within type: Tree.",
    ],
    [
      "no JSON",
      { reply: { status: 200, body: "<" } },
      "because json unmarshalling result of external request failed (with error: invalid character '<' looking for beginning of value) for field: tall within type: Tree.",
    ],
  ])("a failure is told, and hurts no other field: %s", async (_name, value, message) => {
    reply = ({ resolver, parents }) => (resolver === "Tree.tall" ? value : parents?.map(() => "x"));
    expect(await ask("{ queryTree { tall hail } }")).toEqual({
      errors: [
        {
          message: `Evaluation of custom field failed ${message}`,
          locations: [{ line: 1, column: 15 }],
          path: ["queryTree"],
        },
      ],
      data: { queryTree: Array.from({ length: 3 }, () => ({ tall: null, hail: "x" })) },
    });
  });
});

describe("queries and mutations", () => {
  test("arguments as given: no defaults, ids as text, variables filled in", async () => {
    reply = () => "done";
    await ask('{ ask(d: {b: ["x"]}, i: 5, l: 9007199254740993) }');
    expect(calls[0]).toMatchObject({ args: { d: { b: ["x"] }, i: "5" }, resolver: "Query.ask" });
    expect(calls[0]?.parents).toBeUndefined();
  });

  test("the auth header goes along without Bearer", async () => {
    await ask("{ ask }", { "x-grove": "Bearer a.b.c" });
    expect(calls[0]?.authHeader).toEqual({ key: "X-Grove", value: "a.b.c" });
  });

  test("stored types, interfaces by __typename", async () => {
    reply = ({ resolver }) =>
      resolver === "Query.trees"
        ? [{ id: "0x9", name: "x", rings: [3], near: [{ name: "y" }] }, null]
        : { __typename: "Fern", name: "f", fronds: 2 };
    const query =
      "{ trees { id name rings hail near { name } plot { code } } plant { __typename name ... on Fern { fronds } } }";
    expect(await ask(query)).toEqual({
      data: {
        trees: [
          { id: "0x9", name: "x", rings: [3], hail: null, near: [{ name: "y" }], plot: null },
          null,
        ],
        plant: { __typename: "Fern", name: "f", fronds: 2 },
      },
    });
    reply = () => ({ name: "f" });
    expect(await ask("{ plant { name } }")).toMatchObject({
      errors: [{ path: ["plant"] }],
      data: { plant: null },
    });
  });

  test.each([
    ["{ bark }", "ROUGH", { bark: "ROUGH" }, undefined],
    [
      "{ bark }",
      "ROUND",
      { bark: null },
      "Error coercing value 'ROUND' for field 'bark' to type Bark.",
    ],
    ["{ owners { name } }", null, { owners: [] }, undefined],
    [
      "{ owners { name } }",
      [{ name: "a" }, {}],
      { owners: [{ name: "a" }, null] },
      "Non-nullable field 'name'",
    ],
    ["{ owners { name } }", {}, { owners: null }, "An item was returned"],
    ["{ sure ask }", null, null, "Non-nullable field 'sure'"],
  ])("%s of %j", async (query, value, data, message) => {
    reply = () => value;
    const answered = (await ask(query)) as { data: unknown; errors?: { message: string }[] };
    expect(answered.data).toEqual(data);
    expect(answered.errors?.[0]?.message ?? "").toContain(message ?? "");
  });

  test("a mutation that fails stops those behind it", async () => {
    reply = ({ args }) =>
      (args as { n: number }).n === 1
        ? { reply: { status: 500, body: '{"errors":[{"message":"ended"}]}' } }
        : 1;
    expect(await ask("mutation { a: act(n: 0) b: act(n: 1) c: act(n: 2) }")).toMatchObject({
      errors: [
        { message: "ended", path: ["b"] },
        { message: "Mutation c was not executed because of a previous error." },
      ],
      data: { a: 1, b: null },
    });
  });
});

describe("rules of the schema", () => {
  const custom = "input:1: While building @custom for @lambda: Type T; Field f; ";
  test.each([
    ["type T { id: ID! a: Int f: Int @lambda }", []],
    [
      "type T { id: ID! a: Int f: Int @search @lambda }",
      [`${custom}custom directive not allowed along with @search directive.`],
    ],
    [
      'type T { id: ID! a: Int f: Int @dgraph(pred: "x") @lambda }',
      [`${custom}custom directive not allowed along with @dgraph directive.`],
    ],
    [
      "type T { a: Int f: ID! @lambda }",
      [`${custom}custom directive not allowed on field of type ID! or field with @id directive.`],
    ],
    [
      "type T { a: Int f: Int @lambda }",
      [
        `${custom}@custom directive is only allowed on fields where the type definition has a field with type ID! or a field with @id directive.`,
      ],
    ],
    [
      "type T { id: ID! f: Int @lambda }",
      [
        "input:1: Type T; is invalid, a type must have atleast one field that is not of ID! type and doesn't have @custom/@lambda directive.",
      ],
    ],
  ])("%s", (text, messages) => {
    expect(validateSdl(text)).toEqual(messages);
  });

  test("without a lambda server", () => {
    expect(validateSdl("type T { id: ID! a: Int f: Int @lambda }", false)).toEqual([
      'input:1: Type T; Field f: has the @lambda directive, but the `--graphql "lambda-url=...;"` flag wasn\'t specified during alpha startup.',
    ]);
  });

  test("a lambda field is in no input, filter or order", () => {
    const schema = compileSchema("type T { id: ID! a: Int f: Int @lambda }");
    for (const name of ["AddTInput", "TPatch", "TRef", "TFilter"]) {
      const type = schema.types.get(name);
      expect(type?.kind === "input" && type.fields.has("f")).toBe(false);
    }
    const orderable = schema.types.get("TOrderable");
    expect(orderable?.kind === "enum" && [...orderable.values.keys()]).toEqual(["a"]);
  });
});
