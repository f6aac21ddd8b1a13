// Goal: a federation's gateway gets the nodes that it asks for by their keys, in the order asked, and the schema to merge.
import { afterEach, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testNamespace, testSecret, tokenOf } from "../../../test/support/tokens.ts";

let context: GraphqlContext;
afterEach(() => context.close());

const sdl = `
type Boat @key(fields: "sail") { sail: Int! @id  name: String @search  port: Port  crew: [Sailor] }
type Port @key(fields: "id") { id: ID!  city: String }
extend type Sailor @key(fields: "id") {
  id: ID! @external
  rank: String @external
  knots: Int @search
  boats: [Boat] @hasInverse(field: crew)
}
type Buoy { colour: String }`;

const boats = (...given: object[]): Promise<unknown> =>
  context.ask(
    "query q($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Boat { sail name } } }",
    { r: given.map((one) => ({ __typename: "Boat", ...one })) },
  );

async function openBoats(): Promise<void> {
  context = await openGraphqlContext(sdl);
  await context.ask(
    `mutation { addBoat(input: [
       {sail: 7, name: "Alba", crew: [{id: "ann", knots: 3}]},
       {sail: 8, name: "Brisa", port: {city: "Vigo"}}
     ]) { numUids } }`,
  );
}

test("in the order asked, as often as asked, null where there is none", async () => {
  await openBoats();
  expect(await boats({ sail: 8 }, { sail: 99 }, { sail: 7 }, { sail: 8 })).toEqual({
    data: {
      _entities: [
        { __typename: "Boat", sail: 8, name: "Brisa" },
        null,
        { __typename: "Boat", sail: 7, name: "Alba" },
        { __typename: "Boat", sail: 8, name: "Brisa" },
      ],
    },
  });
});

test("by uid, and by the id that another service gives", async () => {
  await openBoats();
  const { data } = (await context.ask("{ queryPort { id } }")) as {
    data: { queryPort: { id: string }[] };
  };
  const [port] = data.queryPort;
  const query =
    "query q($r: [_Any!]!) { _entities(representations: $r) { ... on Port { city } ... on Sailor { id knots boats { sail } } } }";
  const ask = (r: object): Promise<unknown> => context.ask(query, { r: [r] });
  expect(await ask({ __typename: "Port", id: port?.id })).toEqual({
    data: { _entities: [{ city: "Vigo" }] },
  });
  expect(await ask({ __typename: "Sailor", id: "ann", rank: "mate" })).toEqual({
    data: { _entities: [{ id: "ann", knots: 3, boats: [{ sail: 7 }] }] },
  });
});

test("written out in the document", async () => {
  await openBoats();
  const query =
    '{ _entities(representations: [{__typename: "Boat", sail: 7}]) { ... on Boat { name } } }';
  expect(await context.ask(query)).toEqual({ data: { _entities: [{ name: "Alba" }] } });
});

test.each([
  [[], "expecting at least one item in `representations` argument"],
  [["x"], "error parsing 0th item in the `_representations` argument"],
  [[{ sail: 1 }], "unable to extract __typename from 0th item in the `_representations` argument"],
  [[{ __typename: "Car" }], "type Car not found in the schema"],
  [[{ __typename: "Buoy" }], "type Buoy doesn't have a key Directive"],
  [
    [{ __typename: "Boat", sail: 7 }, { __typename: "Boat" }],
    "unable to extract value for key field `sail` from 1th item in the `_representations` argument",
  ],
  [
    [
      { __typename: "Boat", sail: 7 },
      { __typename: "Port", id: "0x1" },
    ],
    "expected only one unique typename in `_representations` argument, got: [Boat, Port]",
  ],
])("%j is refused", async (r, message) => {
  context = await openGraphqlContext(sdl);
  const query = "query q($r: [_Any!]!) { _entities(representations: $r) { __typename } }";
  expect(await context.ask(query, { r })).toEqual({
    errors: [
      { message: `couldn't rewrite query _entities because ${message}`, path: ["_entities"] },
      { message },
    ],
    data: { _entities: [] },
  });
});

test("rules hide entities as they hide nodes", async () => {
  const rule = String.raw`{ rule: "query($USER: String!) { queryLog(filter: {by: {eq: $USER}}) { by } }" }`;
  context = await openGraphqlContext(
    `type Log @key(fields: "key") @auth(query: ${rule}) { key: String! @id  by: String @search(by: [exact]) }
# Dgraph.Authorization {"VerificationKey":"${testSecret}","Header":"X-Auth","Namespace":"${testNamespace}","Algo":"HS256"}`,
  );
  await context.ask(
    'mutation { addLog(input: [{key: "a", by: "ann"}, {key: "b", by: "bob"}]) { numUids } }',
  );
  const query =
    "query q($r: [_Any!]!) { _entities(representations: $r) { ... on Log { key by } } }";
  const r = ["a", "b"].map((key) => ({ __typename: "Log", key }));
  const body = JSON.stringify({ query, variables: { r } });
  expect(await context.send(body, { "x-auth": tokenOf({ USER: "bob" }) })).toEqual({
    data: { _entities: [null, { key: "b", by: "bob" }] },
  });
});

test("the schema to merge: without what is no business of the gateway", async () => {
  context = await openGraphqlContext(`${sdl}
type Query { fast: [Boat] @custom(dql: "query { fast(func: type(Boat)) { name: Boat.name } }") }`);
  const { data } = (await context.ask("{ _service { __typename it: sdl } }")) as {
    data: { _service: { __typename: string; it: string } };
  };
  expect(data._service.__typename).toBe("_Service");
  const text = data._service.it;
  expect(text).toContain('type Sailor @key(fields: "id") @extends {');
  // Edges to types of other services have no arguments.
  expect(text).toContain("\tcrew: [Sailor] @hasInverse(field: boats)\n");
  expect(text).toContain("\tfast: [Boat]\n");
  for (const hidden of [
    "_entities",
    "_Any",
    "directive @auth",
    "@custom(",
    "querySailor",
    "crewAggregate",
  ])
    expect(text).not.toContain(hidden);
  expect(text).toContain("addSailor(");
});

test("the schema is not sent many times over in one answer", async () => {
  const fields = Array.from({ length: 200 }, (_, i) => `f${i}: String @search(by: [term, exact])`);
  context = await openGraphqlContext(
    `type Boat @key(fields: "sail") { sail: Int! @id ${fields.join(" ")} }`,
  );
  const copies = Array.from({ length: 600 }, (_, i) => `c${i}: sdl`).join(" ");
  expect(await context.ask(`{ _service { ${copies} } }`)).toEqual({
    errors: [{ message: expect.stringContaining("(--limit document-fields)") as string }],
  });
  const roots = Array.from({ length: 600 }, (_, i) => `c${i}: _service { sdl }`).join(" ");
  expect(await context.ask(`{ ${roots} }`)).toMatchObject({
    errors: [{ message: expect.stringContaining("(--limit document-fields)") as string }],
  });
});

test("an answer of one entity many times over is written in steps", async () => {
  await openBoats();
  const asked = Array.from({ length: 3000 }, () => ({ sail: 7 }));
  const { data } = (await boats(...asked)) as { data: { _entities: object[] } };
  expect(data._entities).toHaveLength(3000);
  expect(new Set(data._entities.map((one) => JSON.stringify(one))).size).toBe(1);
});
