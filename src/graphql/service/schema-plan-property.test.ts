/** Whatever a plan calls safe leaves answers as they were, and makes no query fail. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { runs } from "../../../test/support/runs.ts";
import { findRefused } from "./schema-plan.ts";

const types = ["String", "String!", "Int", "Float", "Boolean", "Mood", "[String]", "DateTime"];
const edgeTypes = ["B", "[B]", "B!", "A", "[A]", "[B!]"];
const searches = ["", "", "@search"];
const field = fc.record({
  name: fc.constantFrom("f", "g", "h"),
  type: fc.constantFrom(...types),
  search: fc.constantFrom(...searches),
  predicate: fc.constantFrom("", "", "", "shared", "A.g"),
});
const edge = fc.record({
  name: fc.constantFrom("e", "k"),
  type: fc.constantFrom(...edgeTypes),
  search: fc.constant(""),
  predicate: fc.constant(""),
});
interface Field {
  readonly name: string;
  readonly type: string;
  readonly search: string;
  readonly predicate: string;
}
const schema = fc.record({
  fields: fc.uniqueArray(field, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
  edges: fc.uniqueArray(edge, { maxLength: 2, selector: ({ name }) => name }),
  moods: fc.constantFrom("GLAD SAD", "GLAD", "GLAD SAD CALM"),
  isNamed: fc.boolean(),
});
type Schema = typeof schema extends fc.Arbitrary<infer T> ? T : never;

/** The first schema with a few things as in the other one. */
const change = fc.record({
  fields: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  more: fc.boolean(),
  edges: fc.constantFrom(false, false, true),
  moods: fc.constantFrom(false, false, true),
  isNamed: fc.constantFrom(false, false, true),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
function mix(
  first: Schema,
  other: Schema,
  { fields, more, edges: isLinked, ...is }: Change,
): Schema {
  const kept = first.fields.map((one, i) =>
    fields[i] === true ? (other.fields.find(({ name }) => name === one.name) ?? one) : one,
  );
  const added = other.fields.filter(({ name }) => kept.every((one) => one.name !== name));
  return {
    fields: more ? [...kept, ...added] : kept,
    edges: isLinked ? other.edges : first.edges,
    moods: is.moods ? other.moods : first.moods,
    isNamed: is.isNamed ? other.isNamed : first.isNamed,
  };
}

const printField = ({ name, type, search, predicate }: Field): string =>
  `${name}: ${type} ${search} ${predicate === "" ? "" : `@dgraph(pred: "${predicate}")`}`;
const print = ({ fields, edges: links, moods, isNamed }: Schema): string => `
  enum Mood { ${moods} }
  ${isNamed ? "interface Named { title: String }" : ""}
  type A ${isNamed ? "implements Named" : ""} { id: ID! ${[...fields, ...links].map(printField).join("\n")} }
  type B { id: ID! name: String }`;
const select = ({ fields, edges: links }: Schema): string =>
  `{ queryA { id ${fields.map(({ name }) => name).join(" ")} ${links.map(({ name }) => `${name} { id }`).join(" ")} } queryB { id } }`;

const value = fc.constantFrom("GLAD", "SAD", "1", "2.5", "true", "2020-01-01", "x");
const data = fc.array(
  fc.record({
    node: fc.integer({ min: 1, max: 4 }),
    field: fc.constantFrom("A.f", "A.g", "A.h", "shared"),
    value,
    edge: fc.constantFrom(undefined, "A.e", "A.k"),
    target: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 10 },
);
type Facts = typeof data extends fc.Arbitrary<infer T> ? T : never;

interface Answer {
  readonly data: unknown;
  readonly errors?: unknown;
}

/** A database with the first schema and what of the facts fits it; undefined where the schema is refused. */
async function prepare(first: Schema, facts: Facts): Promise<GraphqlContext | undefined> {
  const context = await openGraphqlContext();
  const isSet = await context.service.updateSchema(0, print(first)).then(
    () => true,
    () => false,
  );
  if (!isSet) {
    await context.close();
    return undefined;
  }
  const lines = [1, 2, 3, 4].map((node) => `<0x${node}> <dgraph.type> "A" .`);
  lines.push('<0x5> <dgraph.type> "B" .', '<0x6> <dgraph.type> "B" .');
  for (const { node, field: name, value: text, edge: link, target } of facts) {
    lines.push(`<0x${node}> <${name}> ${JSON.stringify(text)} .`);
    if (link !== undefined) lines.push(`<0x${node}> <${link}> <0x${target}> .`);
  }
  // One by one: those that do not fit are refused.
  for (const line of lines) {
    const body = { kind: "rdf" as const, text: `{ set { ${line} } }` };
    const request = { namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 };
    await context.engine.mutate(request).catch(() => undefined);
  }
  return context;
}

test(
  "what a plan calls safe changes no answer, and what is let through fails none",
  async () => {
    let safe = 0;
    await fc.assert(
      fc.asyncProperty(schema, schema, change, data, async (first, other, wish, facts) => {
        const second = mix(first, other, wish);
        const context = await prepare(first, facts);
        if (context === undefined) return;
        try {
          if (await judge(context, first, second)) safe++;
        } finally {
          await context.close();
        }
      }),
      { numRuns: runs(150) },
    );
    expect(safe).toBeGreaterThan(5);
  },
  Math.max(60_000, runs(150) * 40),
);

/** Whether the change was safe. */
async function judge(context: GraphqlContext, first: Schema, second: Schema): Promise<boolean> {
  const { service } = context;
  const ask = async (query: string): Promise<Answer> => (await context.ask(query)) as Answer;
  const before = await ask(select(first));
  const changes = await service.planSchema(0, print(second)).then(
    (plan) => plan.changes,
    () => undefined,
  );
  if (changes === undefined || before.errors !== undefined) return false;
  const isApplied = await service
    .applySchema(0, print(second), { force: [], updates: undefined })
    .then(
      () => true,
      () => false,
    );
  expect(isApplied).toBe(findRefused(changes, []).length === 0);
  if (!isApplied) return false;
  expect((await ask(select(second))).errors).toBeUndefined();
  if (!changes.every(({ effect }) => effect === "safe" || effect === "index")) return false;
  expect(await ask(select(first))).toEqual(before);
  return true;
}
