/** Plans of schemas over data, and what `applySchema` refuses (docs/schema-changes.md). */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

/** Facts without their brackets, one a line: `1 User.name "Ada"`, `1 User.friend 2`. */
async function add(facts: string): Promise<void> {
  const lines = facts
    .trim()
    .split("\n")
    .map((line) => {
      const [, subject, predicate, object = ""] = /^\s*(\d+) (\S+) (.+)$/.exec(line) ?? [];
      const target = /^\d+$/.test(object) ? `<0x${object}>` : object;
      return `<0x${subject}> <${predicate}> ${target} .`;
    });
  const body = { kind: "rdf" as const, text: `{ set {\n${lines.join("\n")}\n} }` };
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

/** One line a change: what it does, how many nodes it touches, and which. */
async function plan(sdl: string): Promise<readonly string[]> {
  const { changes } = await service.planSchema(0, sdl);
  return changes.map(({ kind, effect, type, field, nodes, examples }) =>
    [effect, kind, field === undefined ? type : `${type}.${field}`, nodes, examples.join("; ")]
      .join(" ")
      .trimEnd(),
  );
}

const users = `
  1 dgraph.type "User"
  1 User.name "Ada"
  1 User.age "36"
  1 User.mood "GLAD"
  1 User.friend 2
  2 dgraph.type "User"
  2 User.name "Ada"
  2 User.mood "SAD"
  3 dgraph.type "User"
  3 User.age "old"
  3 User.friend 4
  4 dgraph.type "Robot"`;

const schema = `enum Mood { GLAD SAD }
  type User { id: ID! name: String age: String mood: Mood friend: [User] }`;

describe("a plan of a schema", () => {
  beforeEach(async () => {
    await service.updateSchema(0, schema);
    await add(users);
  });

  it("shows some nodes, and an ellipsis where there are more", async () => {
    await add(
      [5, 6, 7, 8].map((uid) => `${uid} dgraph.type "User"\n${uid} User.name "Bo"`).join("\n"),
    );
    expect(await plan(schema.replace("age: String", "age: String!"))).toEqual([
      "breaks required User.age 5 0x2; 0x5; 0x6; …",
    ]);
    expect(await plan(schema.replace("name: String", "name: String @id"))).toContain(
      'breaks id-added User.name 6 "Ada" at 0x1, 0x2; "Bo" at 0x5, 0x6, 0x7, …',
    );
  });

  const cases: [string, string, string[]][] = [
    ["the same", schema, []],
    [
      "a new type and a new field",
      `${schema} type Tag { name: String! } `.replace("age:", "nick: String age:"),
      ["safe field-added User.nick 0", "safe type-added Tag 0"],
    ],
    [
      "a field that becomes required",
      schema.replace("name: String", "name: String!"),
      ["breaks required User.name 1 0x3"],
    ],
    [
      "a new field that is required",
      schema.replace("age:", "email: String! age:"),
      ["safe field-added User.email 0", "breaks required User.email 3 0x1; 0x2; 0x3"],
    ],
    [
      "a key",
      schema.replace("name: String", "name: String! @id"),
      [
        "breaks required User.name 1 0x3",
        'breaks id-added User.name 2 "Ada" at 0x1, 0x2',
        "index index-added User.name 2 0x1; 0x2",
      ],
    ],
    [
      "another type",
      schema.replace("age: String", "age: Int"),
      ['breaks type-changed User.age 1 "old" at 0x3'],
    ],
    [
      "a member that goes",
      schema.replace("GLAD SAD", "GLAD"),
      ['breaks enum-members-removed User.mood 1 "SAD" at 0x2'],
    ],
    ["a member that comes", schema.replace("GLAD SAD", "GLAD SAD CALM"), []],
    [
      "an index",
      schema.replace("name: String", "name: String @search(by: [term])"),
      ["index index-added User.name 2 0x1; 0x2"],
    ],
    [
      "a field that goes",
      schema.replace("age: String", ""),
      ["removes field-removed User.age 2 0x1; 0x3"],
    ],
    [
      "a field under another name",
      schema.replace("age: String", "years: String"),
      ["safe field-added User.years 0", "removes field-removed User.age 2 0x1; 0x3"],
    ],
    [
      "a field under another name that keeps its predicate",
      schema.replace("age: String", 'years: String @dgraph(pred: "User.age")'),
      ["safe field-added User.years 0", "removes field-renamed User.age 0"],
    ],
    [
      "a field that is stored elsewhere",
      schema.replace("age: String", 'age: String @dgraph(pred: "age")'),
      ["removes field-moved User.age 2 0x1; 0x3"],
    ],
    [
      "a list",
      schema.replace("name: String", "name: [String]"),
      ["changes single-to-list User.name 0"],
    ],
    [
      "a single edge in place of a list",
      schema.replace("friend: [User]", "friend: User"),
      ["impossible unstorable User.friend 2 0x1; 0x3"],
    ],
    [
      "another target",
      `${schema.replace("friend: [User]", "friend: [Robot]")} type Robot { arms: Int }`,
      ["breaks target-changed User.friend 1 0x1 → 0x2", "safe type-added Robot 0"],
    ],
    [
      "an inverse",
      schema.replace("friend: [User]", "friend: [User] @hasInverse(field: friend)"),
      ["breaks inverse-added User.friend 2 0x1 → 0x2; 0x3 → 0x4"],
    ],
    [
      "an interface",
      `${schema.replace("type User", "type User implements Named")} interface Named { title: String }`,
      ["breaks interface-added User 3 0x1; 0x2; 0x3", "safe type-added Named 0"],
    ],
    [
      "a type that goes",
      "type Robot { arms: Int }",
      ["safe type-added Robot 0", "removes type-removed User 3 0x1; 0x2; 0x3"],
    ],
  ];

  it.each(cases)("tells %s", async (_name, next, expected) => {
    expect(await plan(next)).toEqual(expected);
  });

  it("hints at a field that was renamed", async () => {
    const { changes } = await service.planSchema(0, schema.replace("age: String", "years: String"));
    expect(changes.find(({ kind }) => kind === "field-removed")?.hint).toBe(
      'renamed? years: String @dgraph(pred: "User.age") keeps its values',
    );
  });

  it("of a schema that is wrong is refused as the update is", async () => {
    await expect(service.planSchema(0, "type User {")).rejects.toMatchObject({
      code: "E_GRAPHQL_SCHEMA",
    });
  });
});

describe("a schema that is applied", () => {
  beforeEach(async () => {
    await service.updateSchema(0, schema);
    await add(users);
  });

  const apply = (sdl: string, force: string[] = [], updates?: number) =>
    service.applySchema(0, sdl, { force, updates });

  it("is refused where stored nodes lose by it, with the nodes, unless that is named", async () => {
    const next = schema.replace("name: String", "name: String!").replace("age: String", "");
    await expect(apply(next)).rejects.toThrow(
      /^User\.name: String! needs a value .* \(1 node: 0x3\); give them one .*; or name it in force\nUser\.age: the field goes/,
    );
    await expect(apply(next, ["User.name"])).rejects.toThrow(/^User\.age: the field goes/);
    expect((await service.schemaRow(0))?.schema).toBe(schema);
    expect((await apply(next, ["User.name", "User.age"])).schema).toBe(next);
    expect((await service.schemaRow(0))?.schema).toBe(next);
  });

  it("may be forced by whole types, not by names of which nothing changes", async () => {
    const next = schema.replace("name: String", "name: String!");
    await expect(apply(next, ["User", "Usr.name"])).rejects.toThrow(
      "force names Usr.name, of which nothing changes",
    );
    await apply(next, ["User"]);
  });

  it("never is what the store refuses, and nothing is done then", async () => {
    const next = schema.replace("friend: [User]", "friend: User");
    await expect(apply(next, ["User.friend"])).rejects.toThrow(/no list becomes a single value/);
    expect((await service.schemaRow(0))?.schema).toBe(schema);
  });

  it("is refused where the schema was set since it was planned", async () => {
    const next = `${schema} type Tag { name: String! }`;
    const { updates } = await service.planSchema(0, next);
    await service.updateSchema(0, `${schema} type Other { name: String! }`);
    await expect(apply(next, [], updates)).rejects.toThrow("changed meanwhile");
    const again = await service.planSchema(0, next);
    await expect(apply(next, ["Other"], again.updates)).resolves.toMatchObject({ schema: next });
  });
});
