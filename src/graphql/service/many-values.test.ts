// Goal: a list of many values is looked up in steps, once a run, and in time that grows with its length alone.
import { expect, test } from "vitest";
import { systemClock, type Clock } from "../../base/clock.ts";
import { makeFairScheduler } from "../../exec/fair-scheduler.ts";
import { defaultLimits } from "../../model/limits.ts";
import { RequestBudget } from "../../model/request-budget.ts";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import { openGraphqlService } from "./open-service.ts";

test("a filter by thousands of values rests while they are bound, made tokens, counted and read", async () => {
  const context = await openGraphqlContext(
    "type Step { id: ID!  key: String! @id  no: Int! @search }",
  );
  const input = Array.from({ length: 600 }, (_, no) => ({ key: `k${no}`, no }));
  await context.ask("mutation m($input: [AddStepInput!]!) { addStep(input: $input) { numUids } }", {
    input,
  });
  let tickMs = 0;
  // Each look at the time finds it a millisecond later: a request that looks rests at every fifth.
  const clock: Clock = { nowMs: () => systemClock.nowMs(), tickMs: () => ++tickMs };
  const limits = { ...defaultLimits, queryTimeoutMs: 0 };
  const service = openGraphqlService({
    engine: context.engine,
    clock,
    limits,
    scheduler: makeFairScheduler(clock),
    extensions: false,
  });
  const count = 20_000;
  const find = async (
    type: string,
    filter: string,
    values: readonly unknown[],
  ): Promise<{ readonly found: number; readonly slices: number }> => {
    const budget = new RequestBudget({ clock, limits });
    const query = `query q($values: ${type}) { queryStep(filter: {${filter}}) { no } }`;
    const { body } = await service.handle({
      kind: "json",
      body: JSON.stringify({ query, variables: { values } }),
      headers: {},
      remoteAddress: "127.0.0.1",
      timeoutMs: 0,
      budget,
    });
    const answer = JSON.parse(new TextDecoder().decode(body)) as {
      readonly data: { readonly queryStep: readonly unknown[] };
    };
    return { found: answer.data.queryStep.length, slices: budget.slices };
  };
  const keys = Array.from({ length: count }, (_, i) => `k${i * 3}`);
  const nos = Array.from({ length: count }, (_, i) => i * 3);
  // Binding and tokens look every 256 values, counts every 256 lists: three passes of 78 looks.
  const least = (3 * count) / 256 / 6;
  const byKey = await find("[String]", "key: {in: $values}", keys);
  expect(byKey.found).toBe(200);
  expect(byKey.slices).toBeGreaterThan(least);
  const byNumber = await find("[Int]", "no: {in: $values}", nos);
  expect(byNumber.found).toBe(200);
  expect(byNumber.slices).toBeGreaterThan(least);
  await context.close();
});
