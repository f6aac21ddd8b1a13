// Goal: reference/graphql 4.1.3 rule 8: each query of an operation reads in a transaction of its own.
import { expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import { openGraphqlService } from "./open-service.ts";

test("reference/graphql 4.1.3 rule 8: two root queries read two snapshots", async () => {
  const context = await openGraphqlContext("type Bell { id: ID!  tone: String }");
  const ring = async (tone: string): Promise<void> => {
    await context.ask(`mutation { addBell(input: [{tone: "${tone}"}]) { numUids } }`);
  };
  await ring("c");
  let opened = 0;
  // A commit between the snapshots of the first query and of the second.
  const engine: Engine = Object.assign(Object.create(context.engine) as Engine, {
    openReader: async (namespace: number) => {
      if (++opened === 2) await ring("d");
      return await context.engine.openReader(namespace);
    },
  });
  const service = openGraphqlService({ engine, clock: systemClock, extensions: false });
  const { body } = await service.handle({
    kind: "graphql",
    body: "{ a: queryBell { tone } b: queryBell { tone } }",
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  });
  expect(JSON.parse(new TextDecoder().decode(body))).toEqual({
    data: { a: [{ tone: "c" }], b: [{ tone: "c" }, { tone: "d" }] },
  });
  await context.close();
});

test("a document that begins with a mutation is a query where that is asked for", async () => {
  const context = await openGraphqlContext("type Bell { id: ID!  tone: String }");
  await context.ask('mutation { addBell(input: [{tone: "c"}]) { numUids } }');
  const service = openGraphqlService({
    engine: context.engine,
    clock: systemClock,
    extensions: false,
  });
  const query =
    'mutation Ring { addBell(input: [{tone: "d"}]) { numUids } } query Hear { queryBell { tone } }';
  const { body } = await service.handle({
    kind: "json",
    body: JSON.stringify({ query, operationName: "Hear" }),
    headers: {},
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  });
  expect(JSON.parse(new TextDecoder().decode(body))).toEqual({
    data: { queryBell: [{ tone: "c" }] },
  });
  await context.close();
});
