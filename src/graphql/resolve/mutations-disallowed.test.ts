/** `--limit mutations=disallow` holds for GraphQL too, not only at the native endpoints. */
import { expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openEngine } from "../../engine/open.ts";
import { openMemoryStore } from "../../stores/open.ts";
import { deriveFill } from "../../write/fill.ts";
import { openGraphqlService } from "../service/open-service.ts";
import type { GraphqlService } from "../service/service.ts";

async function ask(service: GraphqlService, query: string): Promise<unknown> {
  const answer = await service.handle({
    kind: "graphql",
    body: query,
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  });
  return JSON.parse(new TextDecoder().decode(answer.body));
}

test("a GraphQL mutation is refused and nothing is written", async () => {
  const store = openMemoryStore({ derive: deriveFill });
  const open = await openEngine({ store });
  const writing = openGraphqlService({ engine: open, clock: systemClock, extensions: false });
  await writing.updateSchema(0, "type Buoy { id: ID! name: String! @search(by: [hash]) }");

  const closed = await openEngine({ store, mutations: "disallow" });
  const reading = openGraphqlService({ engine: closed, clock: systemClock, extensions: false });
  const refused = await ask(reading, 'mutation { addBuoy(input: [{ name: "Red" }]) { numUids } }');
  expect(JSON.stringify(refused)).toContain("no mutations allowed");
  expect(await ask(reading, "{ queryBuoy { name } }")).toEqual({ data: { queryBuoy: [] } });
  await expect(reading.updateSchema(0, "type Mark { id: ID! n: Int }")).rejects.toThrow(
    "No mutations allowed by server.",
  );
  expect((await closed.schema(0)).predicate("Mark.n")).toBeUndefined();
});
