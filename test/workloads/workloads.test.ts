/**
 * The benchmark's workloads answer right: each request's answer is compared with one computed by walking plain
 * objects, over the harbour at scale 0.01. Reads first, on data that no write has touched.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Harbour } from "../../bench/workloads/harbour.ts";
import { harbourFacts, harbourSchema, makeHarbour } from "../../bench/workloads/harbour.ts";
import type { Ask } from "../../bench/workloads/workloads.ts";
import { workloads } from "../../bench/workloads/workloads.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import type { GraphqlContext } from "../support/graphql-context.ts";
import { openGraphqlContext } from "../support/graphql-context.ts";

const asksEach = 12;
const factsARequest = 2000;

let context: GraphqlContext;
const harbour: Harbour = makeHarbour(0.01);

async function mutate(text: string): Promise<unknown> {
  const answer = await context.engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });
  expect(answer.commitTs).toBeGreaterThan(0);
  return { code: "Success", message: "Done" };
}

async function send(ask: Ask): Promise<unknown> {
  if (ask.path === "/query") return context.dql(ask.body);
  if (ask.path.startsWith("/mutate")) return mutate(ask.body);
  const answer = (await context.send(ask.body)) as { data?: unknown; errors?: unknown };
  expect(answer.errors).toBeUndefined();
  return answer.data;
}

/** The answer in the form the workload expects; a path counts by its hops. */
function comparable(name: string, answer: unknown): unknown {
  if (name !== "dql-shortest") return answer;
  const path = (answer as { _path_?: { _weight_: number }[] })._path_;
  return { hops: path?.[0]?._weight_ ?? -1 };
}

beforeAll(async () => {
  context = await openGraphqlContext(harbourSchema);
  const facts = [...harbourFacts(harbour)];
  for (let i = 0; i < facts.length; i += factsARequest) {
    await mutate(`{ set {\n${facts.slice(i, i + factsARequest).join("\n")}\n} }`);
  }
});

afterAll(() => context.close());

describe("a workload's answer is the one computed by hand", () => {
  for (const workload of workloads) {
    test(`${workload.name} answers as computed`, async () => {
      const random = makeSeededRandom(7);
      for (let i = 0; i < asksEach; i++) {
        const ask = workload.make(harbour, random);
        expect(comparable(workload.name, await send(ask)), ask.body).toEqual(ask.expected);
      }
    });
  }
});
