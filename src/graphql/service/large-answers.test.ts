// Goal: a list that is written in steps says what a small one says, what is wrong with it included.
import { expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";

const count = 1200;

test("a large list, with its errors", async () => {
  const context = await openGraphqlContext(
    "type Step { id: ID!  no: Int! @search  name: String  next: [Step] }",
  );
  const input = Array.from({ length: count }, (_, no) => ({ no, name: `step ${no}` }));
  await context.ask("mutation m($input: [AddStepInput!]!) { addStep(input: $input) { numUids } }", {
    input,
  });
  const list =
    "{ queryStep(order: {asc: no}, first: 2000) { no name } few: queryStep(first: 1, order: {desc: no}) { no } }";
  expect(await context.ask(list)).toEqual({
    data: { queryStep: input, few: [{ no: count - 1 }] },
  });
  await context.ask(
    "mutation { updateStep(input: {filter: {no: {eq: 7}}, set: {next: [{no: 8}]}}) { numUids } }",
  );
  // A node without what its type asks for: null in the list, and told.
  await context.ask(
    "mutation { updateStep(input: {filter: {no: {eq: 1199}}, remove: {no: 1199}}) { numUids } }",
  );
  const answer = (await context.ask("{ all: queryStep(first: 2000) { no } }")) as {
    data: { all: unknown[] };
    errors: unknown[];
  };
  expect(answer.data.all.filter((one) => one === null)).toHaveLength(1);
  expect(answer.errors).toMatchObject([
    {
      message: expect.stringContaining("Non-nullable field 'no'") as unknown,
      path: ["all", answer.data.all.indexOf(null), "no"],
    },
  ]);
  await context.close();
});

test("an answer of several megabytes, alone and beside another", async () => {
  const context = await openGraphqlContext("type Step { id: ID!  no: Int! @search  name: String }");
  const name = "x".repeat(4000);
  const input = Array.from({ length: 1500 }, (_, no) => ({ no, name }));
  await context.ask("mutation m($input: [AddStepInput!]!) { addStep(input: $input) { numUids } }", {
    input,
  });
  const list = "queryStep(order: {asc: no}, first: 2000) { no name }";
  expect(await context.ask(`{ all: ${list} }`)).toEqual({ data: { all: input } });
  expect(await context.ask(`{ all: ${list} two: ${list} }`)).toEqual({
    data: { all: input, two: input },
  });
  // A small one takes the place of a large one that was begun.
  expect(await context.ask("{ queryStep(first: 1, order: {asc: no}) { no } }")).toEqual({
    data: { queryStep: [{ no: 0 }] },
  });
  await context.close();
});

test("a long list below one node, with its errors, says what many short ones say", async () => {
  const context = await openGraphqlContext(
    `type Hub { id: ID!  label: String!  to: [Step]  strict: [Step!]  first: Step }
     type Step { id: ID!  no: Int! @search  kind: String!  back: [Hub] }`,
  );
  const to = Array.from({ length: count }, (_, no) => ({ no, kind: `k${no % 3}` }));
  const added = (await context.ask(
    'mutation m($to: [StepRef]) { addHub(input: [{label: "a", to: $to, first: {no: 5000, kind: "f"}}]) { hub { id } } }',
    { to },
  )) as { data: { addHub: { hub: { id: string }[] } } };
  const id = added.data.addHub.hub[0]?.id;
  const steps = "to(order: {asc: no}, first: 2000) { no kind back { label } } first { no }";
  const expected = {
    to: to.map((step) => ({ ...step, back: [] })),
    first: { no: 5000 },
  };
  const one = `{ getHub(id: "${id}") { label ${steps} } queryHub { ${steps} strict { no } } }`;
  expect(await context.ask(one)).toEqual({
    data: {
      getHub: { label: "a", ...expected },
      queryHub: [{ ...expected, strict: [] }],
    },
  });
  // Steps without what their type asks for are null in the list, and told.
  await context.ask(
    'mutation { updateStep(input: {filter: {no: {in: [3, 700]}}, remove: {kind: "k0"}}) { numUids } }',
  );
  await context.ask(
    `mutation { updateStep(input: {filter: {no: {eq: 700}}, remove: {kind: "k1"}}) { numUids } }`,
  );
  const answer = (await context.ask(`{ getHub(id: "${id}") { ${steps} } }`)) as {
    data: { getHub: { to: unknown[] } };
    errors: unknown[];
  };
  const lacking = answer.data.getHub.to.flatMap((step, i) => (step === null ? [i] : []));
  expect(lacking).toEqual([3, 700]);
  expect(answer.errors).toMatchObject(
    lacking.map((i) => ({
      message: expect.stringContaining("Non-nullable field 'kind'") as unknown,
      path: ["getHub", "to", i, "kind"],
    })),
  );
  await context.close();
});
