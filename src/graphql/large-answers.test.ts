// Goal: a list that is written in steps says what a small one says, what is wrong with it included.
import { expect, test } from "vitest";
import { openGraphqlHouse } from "../../test/support/graphql-house.ts";

const count = 1200;

test("a large list, with its errors", async () => {
  const house = await openGraphqlHouse(
    "type Step { id: ID!  no: Int! @search  name: String  next: [Step] }",
  );
  const input = Array.from({ length: count }, (_, no) => ({ no, name: `step ${no}` }));
  await house.ask("mutation m($input: [AddStepInput!]!) { addStep(input: $input) { numUids } }", {
    input,
  });
  const list =
    "{ queryStep(order: {asc: no}, first: 2000) { no name } few: queryStep(first: 1, order: {desc: no}) { no } }";
  expect(await house.ask(list)).toEqual({
    data: { queryStep: input, few: [{ no: count - 1 }] },
  });
  await house.ask(
    "mutation { updateStep(input: {filter: {no: {eq: 7}}, set: {next: [{no: 8}]}}) { numUids } }",
  );
  // A node without what its type asks for: null in the list, and told.
  await house.ask(
    "mutation { updateStep(input: {filter: {no: {eq: 1199}}, remove: {no: 1199}}) { numUids } }",
  );
  const answer = (await house.ask("{ all: queryStep(first: 2000) { no } }")) as {
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
  await house.close();
});
