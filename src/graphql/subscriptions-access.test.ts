// Goal: subscribers who share a query by equal rights do not share the end of a token.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGraphqlHouse, type GraphqlHouse } from "../../test/support/graphql-house.ts";
import { anyVisitor, makeStranger, type Visitor } from "../model/visitor.ts";

let house: GraphqlHouse;
/** Whose tokens have ended. */
const ended = new Set<string>();

function identify(headers: Readonly<Record<string, string | string[] | undefined>>): Visitor {
  return ended.has(String(headers["x-who"])) ? makeStranger("Token is expired") : anyVisitor;
}

beforeAll(async () => {
  house = await openGraphqlHouse(
    "type Boat @withSubscription { id: ID! name: String! @id crew: Int }",
    identify,
  );
});
afterAll(() => house.close());

/** What a subscriber was told, and when there is as much as `count` of it. */
async function subscribe(who: string) {
  const told: string[] = [];
  let wake = (): void => {};
  const tell = (text: string): void => {
    told.push(text);
    wake();
  };
  const outcome = await house.service.subscribe(
    {
      namespace: 0,
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
  await house.ask('mutation { addBoat(input: [{ name: "Alba", crew: 1 }]) { numUids } }');
  const first = await subscribe("short");
  const second = await subscribe("long");
  expect(house.service.subscriptionCounters).toMatchObject({ subscriptions: 2, queries: 1 });
  first.close();
  ended.add("short");
  await house.ask(
    'mutation { updateBoat(input: { filter: { name: { eq: "Alba" } }, set: { crew: 2 } }) { numUids } }',
  );
  expect(await second.until(2)).toEqual([
    '{"data":{"queryBoat":[{"crew":1}]}}',
    '{"data":{"queryBoat":[{"crew":2}]}}',
  ]);
  second.close();
  expect(house.service.subscriptionCounters).toMatchObject({ subscriptions: 0, queries: 0 });
});
