// Goal: whatever a plan reads is named, so that a change of anything else can be passed over.
import { buildPlan, parseQuery } from "../exec/dql.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { openEngineContext, type EngineContext } from "../../test/support/engine-context.ts";
import { findReads } from "./reads.ts";

let context: EngineContext;

beforeAll(async () => {
  context = await openEngineContext(`
    name: string @index(exact, term, trigram) .
    age: int @index(int) .
    secret: password .
    friend: [uid] @reverse @count .
    boss: uid .
    place: geo @index(geo) .
    team: string .`);
});

async function readsOf(query: string): Promise<string[] | undefined> {
  return context.read(async (reader) => {
    const reads = findReads(buildPlan(parseQuery(query, new Map()), reader.schema));
    if (reads === undefined) return undefined;
    return [...reads].map((id) => reader.schema.predicateById(id)?.definition.name ?? "?").sort();
  });
}

describe("what a plan reads", () => {
  test.each<[string, string[]]>([
    ["{ q(func: uid(1)) { uid } }", []],
    ["{ q(func: type(T)) { name } }", ["dgraph.type", "name"]],
    ['{ q(func: eq(name, "a"), orderasc: age) { boss { uid } } }', ["age", "boss", "name"]],
    ["{ q(func: has(name)) @filter(gt(count(friend), 2)) { uid } }", ["friend", "name"]],
    ["{ q(func: has(name)) { ~friend { age } count(boss) } }", ["age", "boss", "friend", "name"]],
    ['{ q(func: has(name)) { checkpwd(secret, "x") } }', ["name", "secret"]],
    [
      "{ q(func: has(name)) { friend (orderdesc: age) @facets(lt(since, 3)) { uid } } }",
      ["age", "friend", "name"],
    ],
    ["{ v as var(func: has(age)) { t as team } q(func: uid(v)) { val(t) } }", ["age", "team"]],
    ["{ q(func: has(name)) @groupby(team) { max(age) } }", ["age", "name", "team"]],
    ["{ q(func: uid(1)) @recurse(depth: 3) { name friend } }", ["friend", "name"]],
    [
      "{ path as shortest(from: 1, to: 2) { friend } q(func: uid(path)) { name } }",
      ["friend", "name"],
    ],
    ["{ q(func: near(place, [1.0, 2.0], 10)) { name } }", ["name", "place"]],
    ["{ q(func: regexp(name, /abc/)) @cascade { team } }", ["name", "team"]],
    ["{ q(func: uid(1)) { unknown } }", []],
  ])("%s", async (query, names) => {
    expect(await readsOf(query)).toEqual(names);
  });

  test("expand reads what the data say", async () => {
    expect(await readsOf("{ q(func: uid(1)) { expand(_all_) } }")).toBeUndefined();
  });
});
