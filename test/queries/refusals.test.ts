// Goal: what is wrong with a query is told whatever nodes it finds.
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { execute } from "../../src/exec/execute.ts";
import { systemClock } from "../../src/base/clock.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { makeFreeBudget, RequestBudget } from "../../src/model/request-budget.ts";
import { renderRdf } from "../../src/render/rdf.ts";
import { openEngineContext, type EngineContext } from "../support/engine-context.ts";
import { queryDql } from "../support/run-dql.ts";

let context: EngineContext;

beforeAll(async () => {
  context = await openEngineContext(`
    type Crew {
      name
      code
      mate
    }
    name: string @index(exact) .
    code: password .
    mate: [uid] .
    alive: bool .`);
  await context.write(`
    <0x1> <dgraph.type> "Crew" .
    <0x1> <name> "Aino" .
    <0x1> <code> "long enough" .
    <0x1> <mate> <0x2> .
    <0x2> <name> "Bo" .`);
});

const query = (text: string): Promise<unknown> => context.read((reader) => queryDql(reader, text));

describe("levels that no node has reached", () => {
  test.each([
    ["mate (orderasc: nosuch) { name }", "Cannot sort by unknown attribute nosuch"],
    ["mate { mate (orderasc: nosuch) { uid } }", "Cannot sort by unknown attribute nosuch"],
    ["~mate { uid }", "Predicate mate doesn't have reverse edge"],
    ["name@fr", "Language tags can only be used with predicates of string type"],
  ])("%s", async (fields, message) => {
    await expect(query(`{ q(func: eq(name, "nobody")) { ${fields} } }`)).rejects.toThrow(message);
    await expect(
      query(`{ var(func: eq(name, "nobody")) { ${fields} v as alive } q(func: uid(v)) { uid } }`),
    ).rejects.toThrow(message);
  });
});

describe("uid is no predicate", () => {
  const message = 'Argument cannot be "uid"';
  test.each([
    "eq(uid, 1)",
    "has(uid)",
    "anyofterms(uid, 1)",
    "uid_in(uid, 0x1)",
    "gt(count(uid), 1)",
  ])("%s", async (call) => {
    await expect(query(`{ q(func: ${call}) { uid } }`)).rejects.toThrow(message);
    await expect(query(`{ q(func: has(name)) @filter(${call}) { uid } }`)).rejects.toThrow(message);
  });

  test("checkpwd", async () => {
    await expect(query(`{ q(func: uid(1)) { checkpwd(uid, "x") } }`)).rejects.toThrow(message);
  });

  test("as a value it is a text like others", async () => {
    expect(await query(`{ q(func: eq(name, "uid")) { uid } }`)).toEqual({ q: [] });
  });
});

describe("expand() beside one of its predicates", () => {
  const repeated = (name: string): string => `Repeated subgraph: [${name}] while using expand()`;

  test.each(["name", "code", "mate { uid }"])("%s", async (field) => {
    const [name = ""] = field.split(" ");
    await expect(query(`{ q(func: uid(1)) { expand(_all_) ${field} } }`)).rejects.toThrow(
      repeated(name),
    );
  });

  test("edges with a filter stand beside an expand() that follows none", async () => {
    const mate = 'mate @filter(eq(name, "Bo")) { name }';
    expect(await query(`{ q(func: uid(1)) { expand(_all_) ${mate} } }`)).toEqual({
      q: [{ name: "Aino", mate: [{ name: "Bo" }] }],
    });
    await expect(query(`{ q(func: uid(1)) { expand(_all_) { uid } ${mate} } }`)).rejects.toThrow(
      repeated("mate"),
    );
  });
});

test("names of predicates are at most 65,535 bytes long", async () => {
  const name = "ö".repeat(32_768);
  const message = `Predicate name length cannot be bigger than 2^16. Predicate: ${"ö".repeat(40)}`;
  await expect(query(`{ q(func: uid(1)) { <${name}> { name } } }`)).rejects.toThrow(message);
  expect(await query(`{ q(func: uid(1)) { name <${"a".repeat(65_535)}> } }`)).toEqual({
    q: [{ name: "Aino" }],
  });
});

test("an answer that comes after its deadline is none", async () => {
  await context.read(async (reader) => {
    const plan = buildPlan(parseQuery("{ q(func: uid(1)) { name } }", new Map()), reader.schema);
    const run = (timeoutMs: number): Promise<unknown> =>
      execute(plan, undefined, reader, {
        clock: systemClock,
        limits: defaultLimits,
        budget: new RequestBudget({ clock: systemClock, limits: defaultLimits, timeoutMs }),
      });
    await expect(run(-1)).rejects.toThrow("context deadline exceeded");
    await expect(run(systemClock.tickMs() + 60_000)).resolves.toBeDefined();
  });
});

test("facets of a path cannot be said in RDF", async () => {
  await context.read(async (reader) => {
    const text = "{ shortest(from: 0x1, to: 0x2) { mate @facets(since) } }";
    const plan = buildPlan(parseQuery(text, new Map()), reader.schema);
    const result = await execute(plan, undefined, reader, {
      clock: systemClock,
      limits: defaultLimits,
      budget: makeFreeBudget(systemClock),
    });
    expect(() => renderRdf(plan, result, { limits: defaultLimits })).toThrow(
      "facets are not supported in the rdf output format",
    );
  });
});

test.each(["uid", "Uid"])("no predicate may be called %s", async (name) => {
  const message = `Cannot create user-defined predicate with internal name ${name}`;
  await expect(context.write(`_:a <${name}> "17" .`)).rejects.toThrow(message);
  await expect(context.alter(`${name}: string .`)).rejects.toThrow(message);
});

describe("constants that an operation is not for", () => {
  test.each([
    ["1 + $s", "invalid types 0, 3 for func +"],
    ["$s + $s", "Wrong type 9 encountered for func +"],
    ["$s * $s", "invalid types 3, 3 for func *"],
    ["pow($s, $s)", "Wrong type 9 encountered for func ^"],
    ["ceil($s)", "Wrong type 9 encountered for fun ceil"],
    ["since(1)", "Wrong type 2 encountered for func since"],
    ["max($b, $b)", "Compare not supported for type: 4"],
    ["max($b, $s)", "Arguments of different type can not be compared."],
    ["1 + $one", "invalid types 0, 3 for func +"],
    ["max($s, 1)", "invalid types 3, 0 for func max"],
    ["$v + 1", "Left and right arguments must match"],
    ["1 + $v", "invalid types 0, 2 for func +"],
    ["2 / $v", "invalid types 0, 2 for func /"],
    ["$v dot 2", "invalid types 2, 1 for func dot"],
    ["2 dot 3", "invalid types 0, 0 for func dot"],
    ["max($v, 1)", "Arguments of different type can not be compared."],
    ["max($v, $v)", "invalid types 2, 2 for func max"],
    ["sqrt($v)", "Query: harmless error, e.g. task.Val is nil"],
    ["$v % 2", "Query: harmless error, e.g. task.Val is nil"],
    ["cond(1, 2, 3)", "Expected a value variable in cond but missing."],
  ])("%s", async (expression, message) => {
    const text = `query q($s: string = "x", $b: bool = true, $one: bool = 1, $v: float32vector = "[1, 2]") {
      q(func: uid(1)) { x: math(${expression}) } }`;
    await expect(query(text)).rejects.toThrow(message);
  });
});

describe("checkpwd takes one password", () => {
  test.each([
    ['checkpwd(code, "a", b)', "requires 2 arguments, but got 3 ([a b code])"],
    ["checkpwd(code)", "requires 2 arguments, but got 1 ([code])"],
  ])("%s", async (field, message) => {
    await expect(query(`{ q(func: uid(1)) { ${field} } }`)).rejects.toThrow(message);
  });
});

describe("uid_in takes numbers of 64 bits", () => {
  test.each([
    ["99999999999999999999", 'parsing "99999999999999999999": value out of range'],
    ["far", 'Value "far" in uid_in is not a number'],
  ])("%s", async (text, message) => {
    await expect(
      query(`{ q(func: uid(1)) @filter(uid_in(mate, ${text})) { uid } }`),
    ).rejects.toThrow(message);
  });
});
