// Goal: what counts, groups, orders and paths give where several things meet: languages, pages, ties, missing values.
import { beforeAll, describe, expect, test } from "vitest";
import { openEngineContext, type EngineContext } from "../support/engine-context.ts";
import { queryDql, runDql } from "../support/run-dql.ts";

let context: EngineContext;

beforeAll(async () => {
  context = await openEngineContext(`
    title: string @lang @index(exact) .
    mark: [string] .
    port: string @index(exact) .
    tons: int .
    calls: [uid] @reverse .
    owner: uid .
    route: [uid] .`);
  await context.write(`
    <0x1> <title> "Petrel" (painted="red") .
    <0x1> <title> "Sturmvogel"@de (painted="blue") .
    <0x2> <title> "Albatros"@de .
    <0x1> <mark> "A" .
    <0x1> <mark> "B" .
    <0x1> <calls> <0x11> .
    <0x1> <calls> <0x12> .
    <0x1> <calls> <0x13> .
    <0x2> <calls> <0x12> .
    <0x2> <calls> <0x13> .
    <0x11> <port> "Bergen" .
    <0x12> <port> "Bergen" .
    <0x13> <port> "Turku" .
    <0x11> <owner> <0x21> .
    <0x12> <owner> <0x21> .
    <0x13> <owner> <0x22> .
    <0x13> <tons> "7" .
    <0x31> <route> <0x32> (miles=11) .
    <0x31> <route> <0x33> (miles=1) .
    <0x31> <route> <0x34> (miles=10) .
    <0x33> <route> <0x32> (miles=10) .
    <0x33> <route> <0x34> (miles=1) .
    <0x34> <route> <0x32> (miles=2) .
    <0x34> <route> <0x33> (miles=10) .`);
});

const query = (text: string): Promise<unknown> => context.read((reader) => queryDql(reader, text));
const text = (source: string): Promise<string> => context.read((reader) => runDql(reader, source));

describe("count(p)", () => {
  test("counts the value that p would print, not those of other languages", async () => {
    expect(
      await query(`{ q(func: uid(1, 2)) {
        plain: count(title)
        german: count(title@de)
        either: count(title@fr:.)
        all: count(title@*)
        count(mark)
      } }`),
    ).toEqual({
      q: [
        { plain: 1, german: 1, either: 1, all: 2, "count(mark)": 2 },
        { plain: 0, german: 1, either: 1, all: 1, "count(mark)": 0 },
      ],
    });
  });

  test("looks at the facets of that value", async () => {
    expect(
      await query(`{ q(func: uid(1)) {
        red: count(title @facets(eq(painted, "red")))
        blue: count(title @facets(eq(painted, "blue")))
        german: count(title@de @facets(eq(painted, "blue")))
      } }`),
    ).toEqual({ q: [{ red: 1, blue: 0, german: 1 }] });
  });

  test.each([
    ["(first: 2)", 3],
    ['@filter(eq(port, "Bergen"))', 2],
    ['(first: 1) @filter(eq(port, "Bergen"))', 1],
    ["(offset: 2) @filter(has(port))", 1],
    ["(first: -5, after: 0x11) @filter(has(port))", 2],
    ["(offset: 9) @filter(has(port))", 0],
  ])("a page is cut from what passes a filter: %s", async (how, count) => {
    expect(await query(`{ q(func: uid(1)) { n: count(calls ${how}) } }`)).toEqual({
      q: [{ n: count }],
    });
  });
});

describe("@groupby", () => {
  test("stands beside the same edges without it, in one list", async () => {
    const groups = {
      "@groupby": [
        { port: "Turku", count: 1 },
        { port: "Bergen", count: 1 },
      ],
    };
    const edges = [{ port: "Bergen" }, { port: "Turku" }];
    const grouped = "calls @groupby(port) { count(uid) }";
    expect(await query(`{ q(func: uid(2)) { ${grouped} calls { port } } }`)).toEqual({
      q: [{ calls: [sortGroups(groups), ...edges] }],
    });
    expect(await query(`{ q(func: uid(2)) { calls { port } ${grouped} } }`)).toEqual({
      q: [{ calls: [...edges, sortGroups(groups)] }],
    });
    expect(
      await query(`{ q(func: uid(2)) { ${grouped} calls @filter(eq(port, "Oslo")) { port } } }`),
    ).toEqual({ q: [{ calls: [sortGroups(groups)] }] });
  });

  /** Groups of one size come in the order of their keys. */
  function sortGroups(of: { "@groupby": readonly { port: string }[] }): unknown {
    return { "@groupby": [...of["@groupby"]].sort((a, b) => (a.port < b.port ? -1 : 1)) };
  }

  test("a single edge becomes a list there", async () => {
    expect(
      await query(`{ q(func: uid(0x11)) { owner @groupby(port) { count(uid) } owner { uid } } }`),
    ).toEqual({ q: [{ owner: [{ uid: "0x21" }] }] });
  });

  test("a variable counts over all parents, each node once", async () => {
    expect(
      await query(`{
        var(func: uid(1, 2)) { calls @groupby(owner) { n as count(uid) } }
        q(func: uid(n), orderdesc: val(n)) { uid val(n) }
      }`),
    ).toEqual({
      q: [
        { uid: "0x21", "val(n)": 2 },
        { uid: "0x22", "val(n)": 1 },
      ],
    });
  });
});

describe("@normalize", () => {
  test("shows a count(uid) only under an alias, as a row beside its nodes", async () => {
    expect(await query("{ q(func: uid(1)) @normalize { count(uid) } }")).toEqual({ q: [] });
    expect(await query("{ q(func: uid(1)) @normalize { n: count(uid) } }")).toEqual({
      q: [{ n: 1 }],
    });
    expect(await query("{ q(func: uid(1)) @normalize { calls { count(uid) } } }")).toEqual({
      q: [],
    });
    expect(
      await query("{ q(func: uid(2)) @normalize { s: mark calls { at: port n: count(uid) } } }"),
    ).toEqual({ q: [{ at: "Bergen" }, { at: "Turku" }, { n: 2 }] });
    expect(await query("{ q(func: uid(2)) { calls @normalize { at: port count(uid) } } }")).toEqual(
      { q: [{ calls: [{ at: "Bergen" }, { at: "Turku" }] }] },
    );
  });

  test("shows an aggregate of an empty block only under an alias", async () => {
    const tons = "var(func: has(tons)) { t as tons }";
    expect(await query(`{ ${tons} q() @normalize { sum(val(t)) } }`)).toEqual({ q: [] });
    expect(await query(`{ ${tons} q() @normalize { s: sum(val(t)) max(val(t)) } }`)).toEqual({
      q: [{ s: 7 }],
    });
  });
});

test("@cascade(__all__) is @cascade, whatever names stand beside it", async () => {
  const all = { q: [{ tons: 7, port: "Turku" }] };
  for (const how of ["@cascade", "@cascade(__all__)", "@cascade(port, __all__)"]) {
    expect(await query(`{ q(func: has(port)) ${how} { tons port } }`)).toEqual(all);
  }
  expect(await query("{ q(func: has(tons)) @cascade(port) { tons port } }")).toEqual(all);
});

describe("several keys of an order", () => {
  test("nodes that lack a descending key stand in descending order of their uids", async () => {
    const order = (tons: string): string =>
      `{ q(func: uid(0x11, 0x12, 0x13), orderasc: port, ${tons}: tons) { uid } }`;
    const uids = (...list: string[]): unknown => ({ q: list.map((uid) => ({ uid })) });
    expect(await query(order("orderasc"))).toEqual(uids("0x11", "0x12", "0x13"));
    expect(await query(order("orderdesc"))).toEqual(uids("0x12", "0x11", "0x13"));
  });
});

describe("paths of equal weight", () => {
  test("come in the order in which the heap gives them back", async () => {
    const answer = await text(`{
      shortest(from: 0x31, to: 0x32, numpaths: 4) { route @facets(miles) }
    }`);
    const weights = [...answer.matchAll(/"_weight_":(\d+)/g)].map((found) => found[1]);
    expect(weights).toEqual(["4", "11", "11", "12"]);
    expect(answer.indexOf('"route|miles":10')).toBeLessThan(answer.indexOf('"route|miles":11'));
  });
});

test("eq() takes as many values as a request has room for, and names the bound of more", async () => {
  const named = (count: number): string =>
    `{ q(func: eq(port, [${Array.from({ length: count }, (_, i) => `"p${i}"`).join()}, "Turku"])) { port } }`;
  expect(await query(named(40_000))).toEqual({ q: [{ port: "Turku" }] });
  await expect(query(named(300_000))).rejects.toThrow("(--limit document-tokens)");
});
