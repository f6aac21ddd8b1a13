/** Schemas over data, as `updateGQLSchema` takes or refuses them (docs/schema.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openEngine, type OpenEngine } from "../../engine/open.ts";
import { openMemoryStore } from "../../stores/open.ts";
import { deriveFill } from "../../write/fill.ts";
import { openGraphqlService } from "./open-service.ts";
import type { GraphqlService } from "./service.ts";

let engine: OpenEngine;
let service: GraphqlService;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
  service = openGraphqlService({ engine, clock: systemClock });
});
afterEach(() => engine.close());

const set = (sdl: string) => service.updateSchema(0, sdl);

async function add(facts: string): Promise<void> {
  const lines = facts.replaceAll(/" \. +/g, '" .\n');
  const body = { kind: "rdf" as const, text: `{ set { ${lines} } }` };
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

const people = `
  <0x1> <dgraph.type> "Person" . <0x1> <Person.email> "ada@x" . <0x1> <Person.age> "thirty" .
  <0x2> <dgraph.type> "Person" . <0x2> <Person.email> "ada@x" . <0x2> <Person.age> "31" .
  <0x3> <dgraph.type> "Person" . <0x3> <Person.email> "bob@x" . <0x3> <Person.age> "4e9" .
  <0x4> <dgraph.type> "Robot" . <0x4> <Person.email> "bob@x" . <0x4> <Person.age> "none" .`;

test("@id over values that several nodes have is refused with the nodes; without them it is set", async () => {
  await set("type Person { email: String! age: String }");
  await add(people);
  const keyed = "type Person { email: String! @id age: String }";
  await expect(set(keyed)).rejects.toThrow(
    'Type Person; Field email: @id needs values that no two nodes have, and these are stored at several: "ada@x" at 0x1, 0x2. Change them first.',
  );
  // Nothing was done: neither the text nor an index.
  expect((await service.schemaRow(0))?.schema).not.toContain("@id");
  expect((await engine.schema(0)).predicate("Person.email")?.definition.upsert).toBe(false);
  await add('<0x2> <Person.email> "ada@y" .');
  await set(keyed);
  expect((await engine.schema(0)).predicate("Person.email")?.definition.upsert).toBe(true);
});

test("a type that stored values are none of is refused, one that all are of is set", async () => {
  await set("type Person { email: String! age: String }");
  await add(people);
  await expect(set("type Person { email: String! age: Int }")).rejects.toThrow(
    'Type Person; Field age: 2 nodes have values of Person.age that type Int does not have: "thirty" at 0x1, "4e9" at 0x3. Change them first, or store the field elsewhere with @dgraph(pred:).',
  );
  await set('type Person { email: String! age: Int @dgraph(pred: "Person.years") }');
  await set("type Person { email: String! age: String }");
  await add('<0x1> <Person.age> "30" . <0x3> <Person.age> "4" .');
  await set("type Person { email: String! age: Int }");
});

test("an enum may gain members, and lose those that no node has", async () => {
  await set("enum Mood { GLAD SAD WILD } type Person { email: String! mood: [Mood] }");
  await add(
    '<0x1> <dgraph.type> "Person" . <0x1> <Person.mood> "GLAD" . <0x1> <Person.mood> "SAD" .',
  );
  await set("enum Mood { GLAD SAD } type Person { email: String! mood: [Mood] }");
  await set("enum Mood { GLAD SAD CALM } type Person { email: String! mood: [Mood] }");
  await expect(set("enum Mood { GLAD CALM } type Person { mood: [Mood] }")).rejects.toThrow(
    'Type Person; Field mood: 1 node has a value of Person.mood that enum Mood does not have: "SAD" at 0x1.',
  );
});

test("keys of interfaces are looked at type by type, or over all where they are the interface's", async () => {
  const types =
    "type Dog implements Pet { barks: Boolean } type Cat implements Pet { purrs: Boolean }";
  await set(`interface Pet { tag: String! } ${types}`);
  await add(`<0x1> <dgraph.type> "Pet" . <0x1> <dgraph.type> "Dog" . <0x1> <Pet.tag> "7" .
    <0x2> <dgraph.type> "Pet" . <0x2> <dgraph.type> "Cat" . <0x2> <Pet.tag> "7" .`);
  await expect(set(`interface Pet { tag: String! @id(interface: true) } ${types}`)).rejects.toThrow(
    'Type Pet; Field tag: @id needs values that no two nodes have, and these are stored at several: "7" at 0x1, 0x2.',
  );
  await set(`interface Pet { tag: String! @id } ${types}`);
});

test("several problems are told together; the check can be turned off", async () => {
  await set("type Person { email: String! age: String }");
  await add(people);
  const wish = "type Person { email: String! @id age: Float }";
  await expect(set(wish)).rejects.toMatchObject({ problems: { length: 2 } });
  service = openGraphqlService({ engine, clock: systemClock, dataCheck: false });
  await set(wish);
});
