// Goal: a document of many roots is one request: it rests as one, holds the memory of one root, and is told once that it is over.
import { expect, test } from "vitest";
import { systemClock, type Clock } from "../../base/clock.ts";
import { makeFairScheduler } from "../../exec/fair-scheduler.ts";
import { defaultLimits, type Limits } from "../../model/limits.ts";
import { RequestBudget } from "../../model/request-budget.ts";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { openGraphqlService } from "./open-service.ts";

const stepCount = 1000;
const rootCount = 100;

interface Answer {
  readonly data: Record<string, unknown>;
  readonly errors?: readonly { readonly message: string; readonly path?: readonly string[] }[];
}

async function openSteps(): Promise<GraphqlContext> {
  const context = await openGraphqlContext("type Step { id: ID!  no: Int! @search  name: String }");
  const input = Array.from({ length: stepCount }, (_, no) => ({ no, name: `step ${no}` }));
  await context.ask("mutation m($input: [AddStepInput!]!) { addStep(input: $input) { numUids } }", {
    input,
  });
  return context;
}

/** Each root reads a value of each node. */
const text = `{ ${Array.from({ length: rootCount }, (_, i) => `a${i}: aggregateStep(filter: {no: {ge: ${i}}}) { count nameMax }`).join(" ")} }`;

async function ask(
  { engine }: GraphqlContext,
  given: Partial<Limits>,
  clock: Clock = systemClock,
): Promise<{ readonly answer: Answer; readonly budget: RequestBudget }> {
  const limits = { ...defaultLimits, ...given };
  const budget = new RequestBudget({ clock, limits });
  const scheduler = makeFairScheduler(clock);
  const service = openGraphqlService({ engine, clock, limits, scheduler, extensions: false });
  const { body } = await service.handle({
    kind: "graphql",
    body: text,
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
    budget,
  });
  return { answer: JSON.parse(new TextDecoder().decode(body)) as Answer, budget };
}

test("a hundred roots need the memory of one, and rest as one request does", async () => {
  const context = await openSteps();
  let tickMs = 0;
  // Each look at the time finds it a millisecond later: a request that looks rests at every fifth.
  const clock: Clock = { nowMs: () => systemClock.nowMs(), tickMs: () => ++tickMs };
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const given = { queryMemoryMax: 1_000_000, queryTimeoutMs: 0 };
  const { answer, budget } = await ask(context, given, clock);
  isOver = true;
  expect(answer.errors).toBeUndefined();
  expect(Object.keys(answer.data)).toHaveLength(rootCount);
  expect(answer.data["a7"]).toEqual({ count: stepCount - 7, nameMax: "step 999" });
  expect(budget.slices).toBeGreaterThan(rootCount / 5);
  expect(rounds).toBeGreaterThanOrEqual(budget.slices);
  await context.close();
});

test("the roots behind the one that meets a bound of the request are not begun, and told of together", async () => {
  const context = await openSteps();
  const { answer, budget } = await ask(context, { queryWorkMax: 20_000 });
  const done = Object.keys(answer.data).length;
  expect(done).toBeGreaterThan(2);
  expect(done).toBeLessThan(rootCount / 2);
  const [first, rest, ...others] = answer.errors ?? [];
  expect(first).toMatchObject({
    message: expect.stringContaining("(--limit query-work)") as unknown,
    path: [`a${done}`],
  });
  expect(rest).toEqual({
    message: `${rootCount - done - 1} more of the root fields are not answered: the request is over`,
  });
  expect(others).toEqual([]);
  expect(budget.work).toBeLessThan(25_000);
  await context.close();
});
