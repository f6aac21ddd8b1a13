/** Queries end to end over an engine in memory (reference/graphql 4). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import type { GraphqlContext } from "../../../test/support/graphql-context.ts";

let context: GraphqlContext;

beforeAll(async () => {
  context = await openGraphqlContext(`
    enum Mood { CALM WILD }
    interface Named { id: ID!  name: String! @id(interface: true) @search(by: [exact, term, regexp]) }
    type Cat implements Named { lives: Int @search  born: DateTime @search  mood: Mood @search  weight: Float  big: Int64 @search
      tags: [String!] @search(by: [hash])  owner: Person @hasInverse(field: pets)  spot: Point @search  area: Polygon }
    type Dog implements Named { tricks: [String]  owner: Person }
    union Pet = Cat | Dog
    type Person @secret(field: "pin") { id: ID!  login: String! @id  pets: [Cat]  all: [Pet]  best: Pet  motto: String!  mottoFr: String @dgraph(pred: "Person.motto@fr") }
    type Song { id: ID!  title: String!  vec: [Float!] @embedding @search(by: ["hnsw(metric: euclidean)"]) }
  `);
  await context.ask(`mutation {
    addPerson(input: [
      { login: "ann", pin: "secret1", motto: "go", mottoFr: "allez", best: {dogRef: {name: "Rex", tricks: ["sit"]}},
        all: [{catRef: {name: "Tom"}}, {dogRef: {name: "Rex"}}],
        pets: [{ name: "Tom", lives: 9, born: "2020-05-01", mood: CALM, weight: 1250000.5, big: "9007199254740993", tags: ["a", "b"],
                 spot: {longitude: 1.5, latitude: -2}, area: {coordinates: [{points: [{longitude: 0, latitude: 0}, {longitude: 1, latitude: 0}, {longitude: 1, latitude: 1}, {longitude: 0, latitude: 0}]}]} },
               { name: "Kit", lives: 3 }] },
      { login: "bob", pin: "secret2", motto: "\\"stay\\" <here>" }]) { numUids }
    addSong(input: [{title: "near", vec: [1, 0]}, {title: "far", vec: [5, 5]}]) { numUids }
  }`);
});

afterAll(() => context.close());

async function data(query: string, variables?: unknown): Promise<unknown> {
  const answer = (await context.ask(query, variables)) as { data?: unknown; errors?: unknown };
  expect(answer.errors).toBe(undefined);
  return answer.data;
}

describe("values", () => {
  test("of every type", async () => {
    expect(
      await data(
        '{ queryCat(filter: {name: {eq: "Tom"}}) { __typename name lives born mood weight tags spot { longitude latitude } area { coordinates { points { longitude } } } owner { login motto m: mottoFr } } }',
      ),
    ).toEqual({
      queryCat: [
        {
          __typename: "Cat",
          name: "Tom",
          lives: 9,
          born: "2020-05-01T00:00:00Z",
          mood: "CALM",
          weight: 1250000.5,
          tags: expect.arrayContaining(["a", "b"]),
          spot: { longitude: 1.5, latitude: -2 },
          area: {
            coordinates: [
              { points: [{ longitude: 0 }, { longitude: 1 }, { longitude: 1 }, { longitude: 0 }] },
            ],
          },
          owner: { login: "ann", motto: "go", m: "allez" },
        },
      ],
    });
  });

  test("an Int64 keeps all its digits", async () => {
    const answer = await context.service.handle({
      kind: "json",
      body: JSON.stringify({
        query: "{ queryCat(filter: {big: {gt: 9007199254740992}}) { big } }",
      }),
      headers: {},
      remoteAddress: "",
      timeoutMs: 0,
    });
    expect(new TextDecoder().decode(answer.body)).toBe(
      '{"data":{"queryCat":[{"big":9007199254740993}]}}',
    );
  });

  test("text is escaped as JSON needs it", async () => {
    expect(await data('{ getPerson(login: "bob") { motto } }')).toEqual({
      getPerson: { motto: '"stay" <here>' },
    });
  });

  test("missing values are null, missing lists empty", async () => {
    expect(await data('{ getCat(name: "Kit") { born tags spot { latitude } mood } }')).toEqual({
      getCat: { born: null, tags: [], spot: null, mood: null },
    });
  });
});

describe("interfaces, unions, fragments", () => {
  test("each node has the fields of its own type", async () => {
    expect(
      await data(`query {
        queryNamed(order: {asc: name}) { __typename ...N ... on Cat { lives } ... on Dog { tricks } }
        getPerson(login: "ann") { best { __typename ... on Named { name } } all { ... on Dog { name } } cats: all(filter: {memberTypes: [Cat]}) { ... on Cat { name } } }
      } fragment N on Named { name }`),
    ).toEqual({
      queryNamed: [
        { __typename: "Cat", name: "Kit", lives: 3 },
        { __typename: "Dog", name: "Rex", tricks: ["sit"] },
        { __typename: "Cat", name: "Tom", lives: 9 },
      ],
      getPerson: {
        best: { __typename: "Dog", name: "Rex" },
        all: expect.arrayContaining([{}, { name: "Rex" }]),
        cats: [{ name: "Tom" }],
      },
    });
  });
});

describe("aggregates, passwords, vectors", () => {
  test("at the root and on edges", async () => {
    expect(
      await data(
        "{ aggregateCat { count livesSum livesAvg nameMin bornMax } none: aggregateCat(filter: {lives: {gt: 99}}) { count livesMin } queryPerson(order: {asc: login}) { petsAggregate { count } p: petsAggregate(filter: {lives: {lt: 9}}) { livesMax count } } }",
      ),
    ).toEqual({
      aggregateCat: {
        count: 2,
        livesSum: 12,
        livesAvg: 6,
        nameMin: "Kit",
        bornMax: "2020-05-01T00:00:00Z",
      },
      none: { count: 0, livesMin: null },
      queryPerson: [
        { petsAggregate: { count: 2 }, p: { livesMax: 3, count: 1 } },
        { petsAggregate: { count: 0 }, p: { livesMax: null, count: 0 } },
      ],
    });
  });

  test("a password is right or wrong, never an error", async () => {
    const { queryPerson } = (await data("{ queryPerson(first: 1) { id login } }")) as {
      queryPerson: { id: string; login: string }[];
    };
    const [person] = queryPerson;
    const pin = person?.login === "ann" ? "secret1" : "secret2";
    expect(
      await data(
        'query($id: ID!, $pin: String!) { a: checkPersonPassword(id: $id, pin: $pin) { login } b: checkPersonPassword(id: $id, pin: "no") { login } }',
        { id: person?.id, pin },
      ),
    ).toEqual({ a: { login: person?.login }, b: null });
  });

  test("the nearest vectors first, with their distance", async () => {
    expect(
      await data(
        "{ querySimilarSongByEmbedding(by: vec, topK: 2, vector: [2, 0]) { title vector_distance } near: querySimilarSongByEmbedding(by: vec, topK: 2, vector: [2, 0], distance_threshold: 2) { title } }",
      ),
    ).toEqual({
      querySimilarSongByEmbedding: [
        { title: "near", vector_distance: 1 },
        { title: "far", vector_distance: Math.sqrt(34) },
      ],
      near: [{ title: "near" }],
    });
  });
});

describe("pages, order, cascade, conditions", () => {
  test("order and pages on edges", async () => {
    expect(
      await data(
        "query($n: Int = 1) { queryPerson(order: {asc: login}) { pets(order: {desc: name}, first: $n) { name } } }",
      ),
    ).toEqual({ queryPerson: [{ pets: [{ name: "Tom" }] }, { pets: [] }] });
  });

  test("@cascade drops what lacks a field, aggregates do not count", async () => {
    expect(
      await data(
        '{ a: queryPerson @cascade { login pets { born } petsAggregate { count livesMax } none: petsAggregate(filter: {lives: {gt: 99}}) { livesMax } } b: queryPerson @cascade(fields: ["pets"]) { login pets { born } } }',
      ),
    ).toEqual({
      a: [
        {
          login: "ann",
          pets: [{ born: "2020-05-01T00:00:00Z" }],
          petsAggregate: { count: 2, livesMax: 9 },
          none: { livesMax: null },
        },
      ],
      b: [{ login: "ann", pets: expect.arrayContaining([{ born: null }]) }],
    });
  });

  test("@skip and @include, at the root too", async () => {
    const query =
      'query($no: Boolean!) { queryCat @skip(if: $no) { name } getPerson(login: "ann") { login @include(if: $no) motto @skip(if: $no) } }';
    expect(await data(query, { no: true })).toEqual({ getPerson: { login: "ann" } });
    expect(await data(query, { no: false })).toMatchObject({ getPerson: { motto: "go" } });
    expect(await context.ask("{ queryCat @skip(if: true) { name } }")).toEqual({ data: {} });
  });
});

describe("errors", () => {
  test("a lack of what is required goes up to the next that may be null", async () => {
    await context.ask(
      'mutation { updatePerson(input: {filter: {login: {eq: "bob"}}, remove: {motto: null}}) { numUids } }',
    );
    const answer = await context.ask("{ queryPerson(order: {asc: login}) { login\n motto } }");
    expect(answer).toEqual({
      errors: [
        {
          message:
            "Non-nullable field 'motto' (type String!) was not present in result from Dgraph.  GraphQL error propagation triggered.",
          locations: [{ line: 2, column: 2 }],
          path: ["queryPerson", 1, "motto"],
        },
      ],
      data: { queryPerson: [{ login: "ann", motto: "go" }, null] },
    });
    await context.ask(
      'mutation { updatePerson(input: {filter: {login: {eq: "bob"}}, set: {motto: "back"}}) { numUids } }',
    );
  });

  test("a root field fails alone", async () => {
    expect(
      await context.ask(
        '{ a: getCat(id: "zz") { name } b: queryCat(filter: {name: {regexp: "x"}}) { name } c: getCat(name: "Kit") { name } }',
      ),
    ).toEqual({
      errors: [
        {
          message:
            "couldn't rewrite query a because ID argument (zz) of getCat was not able to be parsed",
          locations: [{ line: 1, column: 3 }],
          path: ["a"],
        },
        {
          message:
            "Dgraph query failed because Dgraph execution failed because : Function 'regexp' requires 2 arguments, but got 1 ([x])",
          path: ["b"],
        },
      ],
      data: { a: null, c: { name: "Kit" } },
    });
  });

  test("no schema: one error for each root field", async () => {
    const bare = await openGraphqlContext();
    expect(await bare.ask("{ a: __typename ...F } fragment F on Query { b }")).toEqual({
      errors: ["a", "b"].map((name) => ({
        message: `Not resolving ${name}. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema`,
      })),
    });
    await bare.close();
  });
});

describe("caches", () => {
  const requests: [string, unknown?][] = [
    ['{ getCat(name: "Tom") { name lives } }'],
    ['{ getCat(name: "Kit") { name lives } }'],
    ['{ getCat(name: "nobody") { name lives } }'],
    ["{ queryCat(filter: {lives: {ge: 3}}, first: 1) { name } }"],
    ["{ queryCat(filter: {lives: {ge: 4}}, first: 5) { name } }"],
    ["{ queryCat(filter: {lives: {ge: 2147483648}}, first: 5) { name } }"],
    ['{ queryCat(order: {asc: name}) @cascade(fields: ["born"]) { name born } }'],
    ['{ queryCat(order: {asc: name}) @cascade(fields: ["lives"]) { name born } }'],
    ['{ queryCat(order: {asc: name}) @cascade(fields: ["nope"]) { name born } }'],
    [
      "query($f: CatFilter) { queryCat(filter: $f, order: {asc: name}) { name } }",
      { f: { lives: { in: [3] } } },
    ],
    [
      "query($f: CatFilter) { queryCat(filter: $f, order: {asc: name}) { name } }",
      { f: { lives: { in: [3, 9] } } },
    ],
    [
      "query($f: CatFilter) { queryCat(filter: $f, order: {asc: name}) { name } }",
      { f: { lives: { eq: null } } },
    ],
    [
      "query($f: CatFilter) { queryCat(filter: $f, order: {asc: name}) { name } }",
      { f: { or: [{ name: { eq: "Tom" } }, { lives: { lt: 5 } }] } },
    ],
    [
      "query($f: CatFilter) { queryCat(filter: $f, order: {asc: name}) { name } }",
      { f: { lives: { near: 1 } } },
    ],
    ['{ a: getCat(name: "Tom") { owner { pets(filter: {name: {eq: "Kit"}}) { name } } } }'],
    ['{ a: getCat(name: "Tom") { owner { pets(filter: {name: {eq: "Tom"}}) { name } } } }'],
    ['{ getCat(name: "Tom") { name } getCat(name: "Tom") { lives } }'],
    ['{ getCat(name: "Tom") { name } getCat(name: "Kit") { lives } }'],
    ["{ queryPerson(first: 1) { nope } }"],
  ];

  test("answers are the same, however often and in whatever order", async () => {
    // A comment of its own makes each text new to the caches.
    const fresh: unknown[] = [];
    for (const [i, [query, variables]] of requests.entries()) {
      fresh.push(await context.ask(`${query} # ${"x".repeat(i + 1)}`, variables));
    }
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < requests.length; i++) {
        const at = (i * 7 + round) % requests.length;
        const [query, variables] = requests[at]!;
        expect(await context.ask(query, variables)).toEqual(fresh[at]);
      }
    }
  });

  test("places are those of the request's own text", async () => {
    const column = async (name: string): Promise<unknown> => {
      const answer = (await context.ask(
        `{ queryCat(filter: {name: {regexp: "/${name}/"}}) { id } getPerson(id: "q") { id } }`,
      )) as {
        errors: { locations: { column: number }[] }[];
      };
      return answer.errors[0]?.locations[0]?.column;
    };
    expect(await column("a")).toBe(52);
    expect(await column("abcdef")).toBe(57);
  });

  test("a new schema has caches of its own", async () => {
    const other = await openGraphqlContext("type A { x: Int }");
    expect(await other.ask("{ queryA { y } }")).toHaveProperty("errors");
    await other.service.updateSchema(0, "type A { y: Int }");
    expect(await other.ask("{ queryA { y } }")).toEqual({ data: { queryA: [] } });
    await other.close();
  });
});

describe("persisted queries", () => {
  test("are stored by their hash, once", async () => {
    const query = "{ aggregateCat { count } }";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(query));
    const sha256Hash = Buffer.from(digest).toString("hex");
    const extensions = { persistedQuery: { sha256Hash } };
    const ask = (fields: object): Promise<unknown> =>
      context.send(JSON.stringify({ ...fields, extensions }));
    expect(await ask({})).toEqual({ errors: [{ message: "PersistedQueryNotFound" }] });
    expect(await ask({ query: "{ __typename }" })).toEqual({
      errors: [{ message: "provided sha does not match query" }],
    });
    expect(await ask({ query })).toEqual({ data: { aggregateCat: { count: 2 } } });
    expect(await ask({})).toEqual({ data: { aggregateCat: { count: 2 } } });
    expect(await ask({ query })).toEqual({ data: { aggregateCat: { count: 2 } } });
    const ofGo = JSON.stringify({ extensions: { PersistedQuery: { Sha256Hash: sha256Hash } } });
    expect(await context.send(ofGo)).toEqual({ data: { aggregateCat: { count: 2 } } });
  });
});

describe("lists of geometry", () => {
  test("are lists, with what is asked of each", async () => {
    const places = await openGraphqlContext(
      "type Walk { id: ID!  stops: [Point]  near: [Point!] @search  fields: [Polygon] }",
    );
    try {
      const answer = await places.ask(`mutation { addWalk(input: [{
        stops: [{longitude: 1, latitude: 2}, {longitude: 3, latitude: 4}]
        near: [{longitude: 5, latitude: 6}]
      }]) { walk { stops { longitude at: latitude } near { __typename } fields { coordinates { points { latitude } } } } } }`);
      expect(answer).toMatchObject({
        data: {
          addWalk: {
            walk: [
              {
                stops: expect.arrayContaining([
                  { longitude: 1, at: 2 },
                  { longitude: 3, at: 4 },
                ]),
                near: [{ __typename: "Point" }],
                fields: [],
              },
            ],
          },
        },
      });
    } finally {
      await places.close();
    }
  });
});

describe("values that the schema does not expect", () => {
  test("are null with an error, in lists in their place", async () => {
    const odd = await openGraphqlContext(
      "enum Mood { CALM } type Odd { key: String! @id  int: Int  ints: [Int]  strict: [Int!]  mood: Mood  one: Odd  many: [Odd!] }",
    );
    const write = (facts: string): Promise<unknown> =>
      odd.engine.mutate({
        namespace: 0,
        body: { kind: "rdf", text: `{ set { ${facts} } }` },
        startTs: 0,
        commitNow: true,
        timeoutMs: 0,
      });
    await write(`
      <0x1> <dgraph.type> "Odd" .
      <0x1> <Odd.key> "k" .
      <0x1> <Odd.int> "2147483648" .
      <0x1> <Odd.ints> "4294967296" .
      <0x1> <Odd.ints> "5" .
      <0x1> <Odd.strict> "4294967296" .
      <0x1> <Odd.mood> "ANGRY" .
      <0x1> <Odd.many> <0x2> .
      <0x1> <Odd.one> <0x2> .`);
    const answer = (await odd.ask(
      '{ getOdd(key: "k") { int ints strict mood one { int } many { key } } }',
    )) as { errors: { message: string; path: unknown }[]; data: { getOdd: { ints: unknown[] } } };
    expect(answer.errors.map(({ message, path }) => [message, path])).toEqual([
      ["Error coercing value '2147483648' for field 'int' to type Int.", ["getOdd", "int"]],
      [
        "Error coercing value '4294967296' for field 'ints' to type Int.",
        ["getOdd", "ints", answer.data.getOdd.ints.indexOf(null)],
      ],
      [
        "Error coercing value '4294967296' for field 'strict' to type Int.",
        ["getOdd", "strict", 0],
      ],
      ["Error coercing value 'ANGRY' for field 'mood' to type Mood.", ["getOdd", "mood"]],
      [
        "Non-nullable field 'key' (type String!) was not present in result from Dgraph.  GraphQL error propagation triggered.",
        ["getOdd", "many", 0, "key"],
      ],
    ]);
    expect(answer.data).toEqual({
      getOdd: {
        int: null,
        ints: expect.arrayContaining([null, 5]),
        strict: null,
        mood: null,
        one: { int: null },
        many: null,
      },
    });
    await odd.close();
  });

  test("several nodes where one is expected", async () => {
    const odd = await openGraphqlContext("type Twin { key: String! @id }");
    await odd.engine.mutate({
      namespace: 0,
      body: {
        kind: "rdf",
        text: '{ set { <0x1> <dgraph.type> "Twin" .\n<0x1> <Twin.key> "k" .\n<0x2> <dgraph.type> "Twin" .\n<0x2> <Twin.key> "k" . } }',
      },
      startTs: 0,
      commitNow: true,
      timeoutMs: 0,
    });
    expect(await odd.ask('{ getTwin(key: "k") { key } }')).toMatchObject({
      errors: [{ path: ["getTwin"], locations: [{ line: 1, column: 3 }] }],
      data: { getTwin: null },
    });
    expect(await odd.ask('mutation { addTwin(input: [{key: "k"}]) { numUids } }')).toMatchObject({
      errors: [{ message: "mutation addTwin failed because Found multiple nodes with ID: 0x2" }],
      data: { addTwin: null },
    });
    await odd.close();
  });
});
