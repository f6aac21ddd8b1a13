// Goal: subscribers who share a query by equal rights do not share the end of a token.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { anyPrincipal, makeStranger, type Principal } from "../../model/principal.ts";

let context: GraphqlContext;
/** Whose tokens have ended. */
const ended = new Set<string>();

function identify(headers: Readonly<Record<string, string | string[] | undefined>>): Principal {
  return ended.has(String(headers["x-who"])) ? makeStranger("Token is expired") : anyPrincipal;
}

beforeAll(async () => {
  context = await openGraphqlContext(
    "type Boat @withSubscription { id: ID! name: String! @id crew: Int }",
    identify,
  );
});
afterAll(() => context.close());

/** What a subscriber was told, and when there is as much as `count` of it. */
async function subscribe(who: string) {
  const told: string[] = [];
  let wake = (): void => {};
  const tell = (text: string): void => {
    told.push(text);
    wake();
  };
  const outcome = await context.service.subscribe(
    {
      kind: "graphql",
      body: "subscription { queryBoat { crew } }",
      headers: { "x-who": who },
      remoteAddress: "127.0.0.1",
      timeoutMs: 0,
    },
    { next: (answer) => tell(new TextDecoder().decode(answer)), end: tell },
  );
  expect(outcome.kind).toBe("open");
  const until = async (count: number): Promise<readonly string[]> => {
    while (told.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return told;
  };
  return { until, close: outcome.kind === "open" ? outcome.close : () => {} };
}

test("who came first may leave, and be believed no more; the others go on", async () => {
  await context.ask('mutation { addBoat(input: [{ name: "Alba", crew: 1 }]) { numUids } }');
  const first = await subscribe("short");
  const second = await subscribe("long");
  expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 2, queries: 1 });
  first.close();
  ended.add("short");
  await context.ask(
    'mutation { updateBoat(input: { filter: { name: { eq: "Alba" } }, set: { crew: 2 } }) { numUids } }',
  );
  expect(await second.until(2)).toEqual([
    '{"data":{"queryBoat":[{"crew":1}]}}',
    '{"data":{"queryBoat":[{"crew":2}]}}',
  ]);
  second.close();
  expect(context.service.subscriptionCounters).toMatchObject({ subscriptions: 0, queries: 0 });
});
