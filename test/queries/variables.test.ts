// Goal: variables reach what may use them: counts as nodes, facets further down, empty ones at roots.
import { beforeAll, describe, expect, test } from "vitest";
import { openEngineContext, type EngineContext } from "../support/engine-context.ts";
import { queryDql } from "../support/run-dql.ts";

let context: EngineContext;

beforeAll(async () => {
  context = await openEngineContext(`
    name: string @index(exact) .
    depth: int @index(int) .
    width: float .
    knows: [uid] .`);
  await context.write(`
    <0x1> <name> "Aino" .
    <0x2> <name> "Bo" .
    <0x3> <name> "Cai" .
    <0x1> <depth> "4" .
    <0x2> <depth> "9" .
    <0x1> <knows> <0x2> (since=3) .
    <0x1> <knows> <0x3> .
    <0x2> <knows> <0x2> .
    <0x2> <knows> <0x3> .
    <0x3> <knows> <0x1> .`);
});

const query = (text: string): Promise<unknown> => context.read((reader) => queryDql(reader, text));

describe("a count(uid) variable", () => {
  const counted = "var(func: has(name)) { n as count(uid) }";

  test("is the value of one node that no other block has", async () => {
    expect(await query(`{ ${counted} q(func: uid(n)) { uid val(n) twice: math(n * 2) } }`)).toEqual(
      {
        q: [{ uid: "0xffffffffffffffff", "val(n)": 3, twice: 6 }],
      },
    );
    expect(await query(`{ ${counted} q(func: uid(n)) { count(uid) } }`)).toEqual({
      q: [{ count: 1 }],
    });
    expect(await query(`{ ${counted} q(func: has(name)) @filter(uid(n)) { uid } }`)).toEqual({
      q: [],
    });
  });

  test("stays a constant elsewhere", async () => {
    expect(await query(`{ ${counted} q(func: uid(1)) { half: math(n / 2.0) val(n) } }`)).toEqual({
      q: [{ half: 1.5 }],
    });
    expect(await query(`{ ${counted} q() { sum(val(n)) } }`)).toEqual({
      q: [{ "sum(val(n))": 3 }],
    });
  });
});

test("a facet variable is known below its own edge", async () => {
  expect(
    await query(`{ q(func: uid(1)) {
      knows @facets(s as since) { uid knows @filter(uid(s)) { uid val(s) } }
    } }`),
  ).toEqual({
    q: [
      {
        knows: [
          { uid: "0x2", "knows|since": 3, knows: [{ uid: "0x2", "val(s)": 3 }] },
          { uid: "0x3" },
        ],
      },
    ],
  });
});

describe("a comparison with a variable that has no value", () => {
  const empty = 'var(func: eq(name, "nobody")) { d as depth }';

  test.each(["eq", "ge", "lt", "between"])("finds nothing at the root: %s", async (operator) => {
    expect(await query(`{ ${empty} q(func: ${operator}(depth, val(d))) { uid } }`)).toEqual({
      q: [],
    });
    expect(await query(`{ ${empty} q(func: ${operator}(width, val(d))) { uid } }`)).toEqual({
      q: [],
    });
  });

  test("is refused in a filter", async () => {
    await expect(
      query(`{ ${empty} q(func: has(name)) @filter(ge(depth, val(d))) { uid } }`),
    ).rejects.toThrow("ge expects only 1 argument. Got: []");
  });
});

describe("an empty block", () => {
  test("takes no math over the values of nodes", async () => {
    await expect(
      query(`{ var(func: has(name)) { d as depth } q() { more: math(d + 1) } }`),
    ).rejects.toThrow(/^Only aggregated variables allowed within empty block\.$/);
  });

  test("takes math over aggregates of nothing", async () => {
    expect(
      await query(`{
        var(func: eq(name, "nobody")) { d as depth }
        q() { m as max(val(d)) more: math(m + 1) }
      }`),
    ).toEqual({ q: [{ "max(val(d))": null }, { more: null }] });
  });

  test("takes math over aggregates", async () => {
    expect(
      await query(`{
        var(func: has(name)) { d as depth }
        q() { m as max(val(d)) more: math(m + 1) }
      }`),
    ).toEqual({ q: [{ "max(val(d))": 9 }, { more: 10 }] });
  });
});
