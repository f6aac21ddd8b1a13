// Goal: a field of Query written in DQL answers what its DQL finds, in the form of its GraphQL type; callers give values
// for variables and nothing else (reference/graphql 8.6).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";
import { mergeRules } from "../../auth/predicate-rights.ts";
import { anyPrincipal, type Principal } from "../../model/principal.ts";
import { validateSdl } from "../service/schema-compile.ts";

const sdl = `
enum Kind { OAK ASH }
interface Plant { id: ID! name: String! @id }
type Tree implements Plant { height: Float @search rings: [Int] kind: Kind planted: DateTime at: Point near: [Tree] count: Int64 }
type Fern implements Plant { fronds: Int }
union Growth = Tree | Fern
type Tally @remote { kind: String @remoteResponse(name: "Tree.kind") amount: Int @remoteResponse(name: "count") }
type Groups @remote { groups: [Tally] @remoteResponse(name: "@groupby") }
type Query {
  above(min: Float!, first: Int): [Tree] @custom(dql: """
    query q($min: float, $first: int = 10) {
      above(func: ge(Tree.height, $min), orderasc: Tree.height, first: $first) {
        id: uid  name: Plant.name  height: Tree.height  rings: Tree.rings  kind: Tree.kind  planted: Tree.planted
        at: Tree.at  count: Tree.count
        near: Tree.near (orderasc: Plant.name) { name: Plant.name height: Tree.height }
      }
    }""") @withSubscription
  named(name: String): Tree @custom(dql: "query q($name: string) { named(func: eq(Plant.name, $name)) { name: Plant.name height: Tree.height } }")
  bare: [Tree] @custom(dql: "{ bare(func: type(Tree), orderasc: Plant.name) { height: Tree.height } }")
  plants: [Plant] @custom(dql: "{ plants(func: type(Plant), orderasc: Plant.name) { dgraph.type name: Plant.name height: Tree.height fronds: Fern.fronds } }")
  growths: [Growth] @custom(dql: "{ growths(func: type(Plant), orderasc: Plant.name) { dgraph.type name: Plant.name fronds: Fern.fronds } }")
  kinds: [Groups] @custom(dql: "{ kinds(func: has(Tree.kind)) @groupby(Tree.kind) { count(uid) } }")
  other: [Tree] @custom(dql: "{ another(func: type(Tree)) { name: Plant.name } }")
  unindexed: [Tree] @custom(dql: "{ unindexed(func: eq(Tree.count, 1)) { name: Plant.name } }")
  sure: Tree! @custom(dql: "{ sure(func: uid(0x1)) @filter(has(Tree.kind)) { name: Plant.name } }")
  undeclared(a: String): [Tree] @custom(dql: "query q($b: string) { undeclared(func: type(Tree)) { name: Plant.name } }")
}`;

let context: GraphqlContext;
beforeAll(async () => {
  context = await openGraphqlContext(sdl);
  await context.ask(`mutation { addTree(input: [
    { name: "ash", height: 2.5, rings: [3], kind: ASH, planted: "2020-01-02", at: { longitude: 1.5, latitude: -2 },
      count: "9007199254740993", near: [{ name: "elm", height: 7 }, { name: "fir" }] },
    { name: "oak", height: 40, kind: OAK }]) { numUids }
    addFern(input: [{ name: "fern", fronds: 3 }]) { numUids } }`);
});
afterAll(() => context.close());

const listReturned = /^A list was returned, but GraphQL was expecting just one item\./;

describe("values", () => {
  test("scalars, enums, lists, geometry and nodes below, by the names of the fields", async () => {
    const asked =
      "id name height rings kind planted at { latitude longitude } count near { name height rings } __typename";
    const { data } = (await context.ask(`{ above(min: 0, first: 1) { ${asked} } }`)) as {
      data: unknown;
    };
    expect(data).toEqual({
      above: [
        {
          id: expect.stringMatching(/^0x/) as string,
          name: "ash",
          height: 2.5,
          rings: [3],
          kind: "ASH",
          planted: "2020-01-02T00:00:00Z",
          at: { latitude: -2, longitude: 1.5 },
          count: 9007199254740992,
          near: [
            { name: "elm", height: 7, rings: [] },
            { name: "fir", height: null, rings: [] },
          ],
          __typename: "Tree",
        },
      ],
    });
  });

  test("aliases, fragments, and several at once", async () => {
    const query = `query q($n: String) { a: named(name: $n) { h: height ...f } b: named(name: "oak") { ...f } }
      fragment f on Tree { name }`;
    expect(await context.ask(query, { n: "elm" })).toEqual({
      data: { a: { h: 7, name: "elm" }, b: { name: "oak" } },
    });
  });

  test("interfaces and unions by dgraph.type", async () => {
    const plants = "{ plants { name __typename ... on Tree { height } ... on Fern { fronds } } }";
    const { data } = (await context.ask(plants)) as { data: { plants: unknown[] } };
    expect(data.plants).toContainEqual({ name: "oak", __typename: "Tree", height: 40 });
    expect(data.plants).toContainEqual({ name: "fern", __typename: "Fern", fronds: 3 });
    const growths = "{ growths { __typename ... on Fern { fronds } } }";
    expect(await context.ask(growths)).toMatchObject({
      data: {
        growths: [
          { __typename: "Tree" },
          { __typename: "Tree" },
          { __typename: "Fern", fronds: 3 },
          { __typename: "Tree" },
          { __typename: "Tree" },
        ],
      },
    });
  });

  test("groups, by the names of @remoteResponse", async () => {
    const { data } = (await context.ask("{ kinds { groups { kind amount } } }")) as {
      data: { kinds: [{ groups: unknown[] }] };
    };
    expect(data.kinds[0].groups).toHaveLength(2);
    expect(data.kinds[0].groups).toContainEqual({ kind: "ASH", amount: 1 });
  });

  test("a block of another name gives nothing", async () => {
    expect(await context.ask("{ other { name } }")).toEqual({ data: { other: [] } });
  });

  test("one object is wanted, and there is none", async () => {
    const error = { message: expect.stringMatching(listReturned) as string, path: ["n"] };
    const nobody = { data: { n: null }, errors: [error] };
    for (const args of ['(name: "nobody")', "(name: null)", ""])
      expect(await context.ask(`{ n: named${args} { name } }`)).toMatchObject(nobody);
  });

  test("nulls go up where null may not be", async () => {
    expect(await context.ask("{ bare { name height } }")).toMatchObject({
      errors: [0, 1, 2].map((i) => ({ path: ["bare", i, "name"] })),
      data: { bare: [null, null, null] },
    });
    expect(await context.ask("{ sure { name } }")).toMatchObject({
      data: null,
      errors: [
        {
          message:
            "Non-nullable field 'sure' (type Tree!) was not present in result from Dgraph.  GraphQL error propagation triggered.",
          path: ["sure"],
        },
        { message: expect.stringMatching(listReturned) as string },
      ],
    });
  });
});

describe("variables", () => {
  test("the DQL's defaults count; a null is not sent", async () => {
    const four = (query: string): Promise<unknown> => context.ask(`{ above${query} { name } }`);
    const all = { data: { above: [{ name: "ash" }, { name: "elm" }, { name: "oak" }] } };
    expect(await four("(min: 0)")).toEqual(all);
    expect(await four("(min: 0, first: null)")).toEqual(all);
    expect(await four("(min: 3, first: 1)")).toEqual({ data: { above: [{ name: "elm" }] } });
  });

  test("a value is never read as DQL", async () => {
    const evil = 'ash")) { uid } above(func: has(Plant.name';
    const query = "query q($n: String) { named(name: $n) { name } }";
    expect(await context.ask(query, { n: evil })).toMatchObject({ data: { named: null } });
  });

  test("faults are the field's; its siblings answer", async () => {
    expect(await context.ask('{ unindexed { name } named(name: "ash") { name } }')).toEqual({
      data: { unindexed: [], named: { name: "ash" } },
      errors: [
        {
          message:
            "resolving unindexed failed because Dgraph query failed because Dgraph execution failed because : Predicate Tree.count is not indexed",
          locations: [{ line: 1, column: 3 }],
        },
      ],
    });
    expect(await context.ask('{ undeclared(a: "x") { name } }')).toMatchObject({
      data: { undeclared: [] },
      errors: [{ message: expect.stringContaining("Type of variable $a not specified") as string }],
    });
  });
});

test("a subscription is told of what its DQL reads, and passes over the rest", async () => {
  const told: string[] = [];
  let wake = (): void => {};
  const tell = (text: string): void => {
    told.push(text);
    wake();
  };
  const request = {
    namespace: 0,
    kind: "graphql",
    body: "subscription { above(min: 50) { name } }",
    headers: {},
    remoteAddress: "",
    timeoutMs: 0,
  } as const;
  const outcome = await context.service.subscribe(request, {
    next: (answer) => tell(new TextDecoder().decode(answer)),
    end: tell,
  });
  expect(outcome.kind).toBe("open");
  await context.ask(
    'mutation { updateFern(input: { filter: { name: { eq: "fern" } }, set: { fronds: 4 } }) { numUids } }',
  );
  await context.ask('mutation { addTree(input: [{ name: "fig", height: 60 }]) { numUids } }');
  while (told.length < 2) await new Promise<void>((resolve) => (wake = resolve));
  expect(told).toEqual(['{"data":{"above":[]}}', '{"data":{"above":[{"name":"fig"}]}}']);
  if (outcome.kind === "open") outcome.close();
});

test("users see what their groups may read", async () => {
  const access = mergeRules([
    { predicate: "Plant.name", permission: 4 },
    { predicate: "dgraph.type", permission: 4 },
  ]);
  const mia: Principal = { ...anyPrincipal, user: "mia", isGuardian: false, access };
  const acl = await openGraphqlContext(sdl, ({ "x-who": who }) =>
    who === "mia" ? mia : anyPrincipal,
  );
  const send = (query: string, who: string): Promise<unknown> =>
    acl.send(JSON.stringify({ query }), { "x-who": who });
  await send('mutation { addTree(input: [{ name: "ash", height: 2 }]) { numUids } }', "");
  const query = '{ named(name: "ash") { name height } }';
  expect(await send(query, "")).toEqual({ data: { named: { name: "ash", height: 2 } } });
  expect(await send(query, "mia")).toEqual({ data: { named: { name: "ash", height: null } } });
  await acl.close();
});

test("no rules apply, but where nothing is served without a token it is not either", async () => {
  const closed = `"ClosedByDefault":true,"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"`;
  const ruled = await openGraphqlContext(`
    type Note @auth(query: { rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }) { id: ID! text: String }
    type Query { notes: [Note] @custom(dql: "{ notes(func: type(Note)) { text: Note.text } }") }
    # Dgraph.Authorization {${closed}}`);
  const body = JSON.stringify({ query: "{ notes { text } queryNote { text } }" });
  await ruled.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: '{ set { _:a <dgraph.type> "Note" .\n _:a <Note.text> "x" . } }' },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
  expect(await ruled.send(body)).toMatchObject({ data: { notes: [], queryNote: [] } });
  expect(await ruled.send(body, { "x-auth": tokenOf({ ROLE: "USER" }) })).toEqual({
    data: { notes: [{ text: "x" }], queryNote: [] },
  });
  await ruled.close();
});

test("explain and profile tell of the DQL", async () => {
  const ask = async (kind: "explain" | "profile"): Promise<unknown> => {
    const { body } = await context.service.handle({
      kind: "graphql",
      body: '{ named(name: "ash") { name } }',
      headers: {},
      remoteAddress: "",
      timeoutMs: 0,
      plan: { kind, form: "json" },
    });
    return JSON.parse(new TextDecoder().decode(body));
  };
  const reports = { named: { steps: expect.arrayContaining([expect.anything()]) as unknown[] } };
  expect(await ask("explain")).toMatchObject({ extensions: { explain: reports } });
  expect(await ask("profile")).toMatchObject({
    data: { named: { name: "ash" } },
    extensions: { profile: reports },
  });
});

describe("schema", () => {
  const wrong = (text: string, at = "Type Query; Field a:"): unknown => [`input:2: ${at} ${text}`];
  const check = (field: string): unknown =>
    validateSdl(`type Oak { id: ID! b: Int } enum E { X } input I { b: Int }\n${field}`);
  const query = (field: string): unknown => check(`type Query { ${field} }`);

  test("what may be, is", () => {
    const dql = '@custom(dql: "{ a(func: uid(1)) { uid } }")';
    const args = "b: ID, c: Int, d: Int64!, e: Float, f: String, g: Boolean, h: DateTime";
    expect(query(`a(${args}): [Oak] @withSubscription ${dql}`)).toEqual([]);
  });

  test("what may not be, is refused", () => {
    const counted = "arguments for @custom directive, it should contain exactly one of `http` or";
    expect(query("a: Int @custom")).toEqual([
      `input:2: Type Query; Field a: has 0 ${counted} \`dql\` arguments.`,
      "input:2: Type Query; Field a: one of `http` or `dql` arguments must be present for @custom directive.",
    ]);
    expect(query('a: Int @custom(http: { url: "http://a", method: GET }, dql: "{}")')).toEqual(
      wrong(`has 2 ${counted} \`dql\` arguments.`),
    );
    const onlyQueries = "@custom directive with `dql` can be used only on queries.";
    expect(check('type Mutation { a: Int @custom(dql: "{}") }')).toEqual(
      wrong(onlyQueries, "Type Mutation; Field a:"),
    );
    expect(check('type Elm { id: ID! b: Int a: Int @custom(dql: "{}") }')).toEqual(
      wrong(onlyQueries, "Type Elm; Field a:"),
    );
    expect(query("a: Int @custom(dql: 5)")).toEqual(
      wrong("dql argument for @custom directive must be of type String."),
    );
    expect(query('a: Int @custom(dql: " ")')).toEqual(
      wrong("dql argument for @custom directive must not be empty."),
    );
    for (const type of ["I", "E", "[Int]"])
      expect(query(`a(p: ${type}): Int @custom(dql: "{}")`)).toEqual(
        wrong(
          "Argument p: must be of a scalar type. @custom DQL queries accept only scalar arguments.",
        ),
      );
  });
});
