// Goal: what the planner decides with the schema alone: the order of conditions, the index of an order, what is refused.
import { beforeAll, describe, expect, test } from "vitest";
import { openEngineContext, type EngineContext } from "../../test/support/engine-context.ts";
import { buildPlan, parseQuery } from "../exec/dql.ts";
import type { BlockPlan, FilterPlan } from "./plan.ts";

let context: EngineContext;

beforeAll(async () => {
  context = await openEngineContext(`
    name: string @index(term, exact) .
    note: string @index(hash, trigram) @lang .
    tags: [string] @index(exact) .
    age: int @index(int) .
    friend: [uid] @reverse .
    boss: uid .
    done: bool .
    secret: password .`);
});

function planned(query: string): Promise<BlockPlan | undefined> {
  return context.read(async (reader) => {
    const { blocks } = buildPlan(parseQuery(query, new Map()), reader.schema);
    return blocks[0];
  });
}

/** The kinds of calls, in the order in which they are asked. */
function shape(filter: FilterPlan | undefined): unknown {
  switch (filter?.kind) {
    case "and":
    case "or":
      return { [filter.kind]: filter.filters.map(shape) };
    case "not":
      return { not: shape(filter.filter) };
    case "call":
      return filter.call.kind;
    default:
      return filter?.kind;
  }
}

describe("conditions are asked the cheapest first", () => {
  test.each<[string, unknown]>([
    [
      "regexp(note, /abc/) AND uid_in(friend, 1) AND eq(age, 1) AND uid(1)",
      { and: ["uid", "compare", "uidIn", "regexp"] },
    ],
    ["has(age) AND has(name)", { and: ["has", "has"] }],
    ["has(age) OR uid(1)", { or: ["uid", "has"] }],
    ["NOT regexp(note, /abc/) AND uid(1)", { and: ["uid", { not: "regexp" }] }],
    // As dear as its dearest part, on whichever side that stands.
    [
      "(uid(1) OR regexp(note, /abc/)) AND uid_in(friend, 1)",
      { and: ["uidIn", { or: ["uid", "regexp"] }] },
    ],
    ["(has(age) AND uid(1)) AND uid_in(friend, 1)", { and: ["uid", "has", "uidIn"] }],
    ["((has(age)))", "has"],
  ])("%s", async (filter, expected) => {
    const block = await planned(`{ q(func: has(name)) @filter(${filter}) { uid } }`);
    expect(shape(block?.filter)).toEqual(expected);
  });
});

describe("the index that an order is walked in", () => {
  test.each<[string, string | undefined]>([
    ["name", "exact"],
    ["age", "int"],
    ["note", undefined],
    ["note@en", undefined],
    ["tags", undefined],
    ["boss", undefined],
  ])("%s: %s", async (key, tokenizer) => {
    const block = await planned(`{ q(func: has(name), orderasc: ${key}) { uid } }`);
    const order = block?.order;
    expect(order?.kind === "values" ? order.walk?.tokenizer : undefined).toBe(tokenizer);
  });
});

describe("keys of an order", () => {
  const keysOf = async (args: string): Promise<unknown> => {
    const order = (await planned(`{ q(func: has(name), ${args}) { uid } }`))?.order;
    if (order?.kind === "refused") return order.refusal.text;
    if (order?.kind !== "values") return order?.kind;
    return order.keys.map(({ predicate, descending, collation, turnsMissing }) => [
      predicate.definition.name,
      descending,
      collation,
      turnsMissing,
    ]);
  };
  test.each<[string, unknown]>([
    ["orderasc: note@de", [["note", false, "de", false]]],
    ["orderasc: note@.", [["note", false, undefined, false]]],
    ["orderdesc: age", [["age", true, undefined, false]]],
    [
      "orderdesc: age, orderasc: note@de",
      [
        ["age", true, undefined, true],
        ["note", false, undefined, false],
      ],
    ],
    ["orderasc: nosuch", "Cannot sort by unknown attribute nosuch"],
    ["orderasc: name, orderasc: nosuch", "Requested predicate is not being served by any tablet"],
    ["orderasc: tags", "Sorting not supported on attr: tags of type: [scalar]"],
    ["orderasc: boss", "Cannot sort attribute 0-boss of type object."],
    ["orderasc: secret", "Value of type: password isn't sortable"],
  ])("%s", async (args, expected) => {
    expect(await keysOf(args)).toEqual(expected);
  });
});

describe("calls that are refused", () => {
  const refusalOf = async (call: string): Promise<string | undefined> => {
    const root = (await planned(`{ q(func: ${call}) { uid } }`))?.root?.call;
    return root?.kind === "refused" ? root.refusal.text : undefined;
  };
  test.each<[string, string | undefined]>([
    ["has(~friend)", undefined],
    ["has(~boss)", "Predicate boss doesn't have reverse edge"],
    ["regexp(note@en, /abc/)", undefined],
    [
      'anyofterms(name@en, "a")',
      "Language tags can only be used with predicates of string type having @lang directive in schema. Got: [name]",
    ],
  ])("%s", async (call, expected) => {
    expect(await refusalOf(call)).toBe(expected);
  });
});
