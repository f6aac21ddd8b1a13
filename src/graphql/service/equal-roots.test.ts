// Goal: roots that ask the same of the same state are read once, answered each, and only those.
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Reader } from "../../graph/reader.ts";
import { openGraphqlService } from "./open-service.ts";

let context: GraphqlContext;
/** Reads of the store by one request. */
let reads = 0;

beforeEach(async () => {
  context = await openGraphqlContext(`
    type Owner { name: String! @id  boats: [Boat] @hasInverse(field: owner) }
    type Boat @auth(query: { rule: "query { queryBoat { owner(filter: {name: {eq: \\"a\\"}}) { name } } }" })
      { id: ID!  name: String! @search(by: [exact])  length: Int @search  owner: Owner! }
    type User @secret(field: "word") { name: String! @id }`);
  await context.ask(`mutation {
    addBoat(input: [{name: "x", length: 1, owner: {name: "a"}}, {name: "y", length: 2, owner: {name: "a"}},
                    {name: "z", length: 3, owner: {name: "b"}}]) { numUids }
    addUser(input: [{name: "u", word: "the word"}]) { numUids } }`);
});
afterEach(() => context.close());

/** The answer, and how often the store was read for it. */
async function ask(query: string, variables?: unknown): Promise<{ data: unknown; reads: number }> {
  const counted = (reader: Reader): Reader =>
    new Proxy(reader, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          if (name !== "close") reads++;
          return (value as (...given: unknown[]) => unknown).apply(target, given);
        };
      },
    });
  const engine: Engine = Object.assign(Object.create(context.engine) as Engine, {
    openReader: async (...given: Parameters<Engine["openReader"]>) =>
      counted(await context.engine.openReader(...given)),
  });
  const service = openGraphqlService({ engine, clock: systemClock, extensions: false });
  const body = JSON.stringify({ query, variables });
  const request = { kind: "json", body, headers: {}, remoteAddress: "", timeoutMs: 0 } as const;
  // The first one also finds the schema.
  await service.handle(request);
  reads = 0;
  const answer = await service.handle(request);
  return { data: JSON.parse(new TextDecoder().decode(answer.body)) as unknown, reads };
}

const roots = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `a${i}: ${make(i)}`).join(" ");

test.each([8, 40])("%d equal roots are read once", async (count) => {
  const root = "queryBoat(filter: {length: {ge: 1}}, order: {asc: name}) { name owner { name } }";
  const one = await ask(`{ b: aggregateBoat { count } ${roots(1, () => root)} }`);
  const many = await ask(`{ b: aggregateBoat { count } ${roots(count, () => root)} }`);
  const boats = ["x", "y"].map((name) => ({ name, owner: { name: "a" } }));
  const all = Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, boats]));
  expect(many.data).toEqual({ data: { b: { count: 2 }, ...all } });
  expect(many.reads).toBeLessThan(one.reads + 10);
});

test("what differs in a literal, a variable or what is asked is read for itself", async () => {
  const { data } = await ask(
    `query($n: Int) { a: queryBoat(filter: {length: {eq: 1}}) { name } b: queryBoat(filter: {length: {eq: 2}}) { name }
      c: queryBoat(filter: {length: {eq: $n}}) { name } d: queryBoat(filter: {length: {eq: 2}}) { length }
      e: queryBoat(filter: {length: {eq: 2}}) { n: name } f: queryBoat(filter: {length: {eq: 2}}, offset: 1) { name } }`,
    { n: 2 },
  );
  expect(data).toEqual({
    data: {
      a: [{ name: "x" }],
      b: [{ name: "y" }],
      c: [{ name: "y" }],
      d: [{ length: 2 }],
      e: [{ n: "y" }],
      f: [],
    },
  });
});

test("each comparison of a password is one", async () => {
  const make = (): string => 'checkUserPassword(name: "u", word: "a guess") { name }';
  const one = await ask(`{ ${roots(1, make)} }`);
  const many = await ask(`{ ${roots(5, make)} }`);
  expect(many.reads).toBe(5 * one.reads);
});
