/**
 * Goal: what a query is expected to cost, and how many nodes each step is expected to give, follow from the heads of its
 * lists. Method: a thousand nodes with round numbers, and for each decision a query on each side of it. Costs are in
 * records: a list, two tokens and 200 members of lists count as one.
 */
import { describe, expect, test } from "vitest";
import { must } from "../base/assert.ts";
import { readExpectations } from "../../test/support/expectation-table.ts";
import { systemClock } from "../base/clock.ts";
import { buildPlan, parseQuery } from "../exec/dql.ts";
import { explainPlan, type PlanStep } from "../exec/explain.ts";
import type { QueryDocument, Filter } from "../dql/ast.ts";
import { defaultLimits } from "../model/limits.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import type { Value } from "../model/value.ts";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../../test/support/memory-graph.ts";

const index = (...names: string[]) => ({ indexes: names.map((tokenizer) => ({ tokenizer })) });
const schema = makeTestSchema([
  definePredicate("name", "string"),
  definePredicate("kind", "string", index("exact")),
  definePredicate("price", "int", index("int")),
  definePredicate("stars", "int", index("int")),
  definePredicate("note", "string"),
  definePredicate("words", "string", index("term", "trigram")),
  definePredicate("parts", "uid", { list: true, reverse: true, count: true }),
  definePredicate("maker", "uid"),
  definePredicate("never", "uid", { list: true, reverse: true }),
  definePredicate("nevermore", "string"),
]);

const text = (value: string): Value => ({ kind: "string", text: value });
const int = (value: number): Value => ({ kind: "int", int: value });

/** Of 1,000 nodes all have a name and stars, 800 a price, 50 a note, 100 are rare; 200 have three of ten parts each. */
const facts = Array.from({ length: 1000 }, (_, i) => i + 1).flatMap((uid): TestFact[] => {
  const fact = (predicate: string, object: Value | number): TestFact => ({
    subject: uid,
    predicate,
    object,
  });
  const parts = [1, 2, 3].map((k) => ((uid / 5 + k) % 10) * 100 + 1);
  return [
    fact("name", text(`name ${uid}`)),
    fact("kind", text(uid % 10 === 0 ? "rare" : "usual")),
    ...(uid <= 800 ? [fact("price", int(uid))] : []),
    fact("stars", int(uid % 5)),
    ...(uid % 20 === 0 ? [fact("note", text(`note ${uid}`))] : []),
    fact("words", text(uid % 4 === 0 ? "amber basin" : "cedar")),
    ...(uid % 5 === 0 ? parts.map((part) => fact("parts", part)) : []),
    fact("maker", (uid % 4) + 1),
  ];
});
const graph = new MemoryGraph(schema, facts);
const context = {
  clock: systemClock,
  limits: defaultLimits,
  budget: makeFreeBudget(systemClock),
};

/** The cost, and by step what it is expected to give, where that is known. */
async function explain(query: QueryDocument): Promise<string> {
  const { cost, steps } = await explainPlan(buildPlan(query, schema), undefined, graph, context);
  const counts = (of: readonly PlanStep[]): string[] =>
    of.flatMap(({ step, estimated, steps: inner }) => [
      ...(estimated === undefined ? [] : [`${step} ${estimated}`]),
      ...counts(inner ?? []),
    ]);
  return `${cost}: ${counts(steps).join(", ") || "nothing told"}`;
}

const parse = (query: string): QueryDocument => parseQuery(query, new Map());
const told = (query: string): Promise<string> => explain(parse(query));

const expectations = `
# a root is a list, whose members are counted; fields read each node's record once
{ q(func: has(name)) { uid } }
  6: block 1000, root 1000, level 1000
{ q(func: has(name)) { name } }
  1006: block 1000, root 1000, level 1000
{ q(func: has(price)) { price name } }
  805: block 800, root 800, level 800
{ q(func: eq(kind, "rare")) { name } }
  102: block 100, root 100, level 100
{ q(func: has(nevermore)) { name } }
  1: block 0, root 0, level 0
{ q(func: has(nosuch)) { name } }
  1: block 0, root 0, level 0
{ q(func: has(~parts)) { uid } }
  2: block 10, root 10, level 10
{ q(func: has(note)) { count(uid) } }
  2: block 50, root 50, level 50
{ q(func: has(note)) { m: math(1) } }
  2: block 50, root 50, level 50
{ q(func: has(name)) { count(parts) } }
  1006: block 1000, root 1000, level 1000
{ q(func: has(name)) @groupby(stars) { count(uid) } }
  1006: block 1000, root 1000, level 1000

# the values of many nodes come from an index with few different ones; not with facets, nor beside what needs records
{ q(func: has(name)) { stars kind } }
  6: block 1000, root 1000, level 1000
{ q(func: has(name), first: 511) { stars } }
  515: block 511, root 1000, level 511
{ q(func: has(name), first: 512) { stars } }
  4: block 512, root 1000, level 512
{ q(func: has(name)) { stars @facets } }
  1006: block 1000, root 1000, level 1000
{ q(func: has(name)) { stars name } }
  1006: block 1000, root 1000, level 1000
{ q(func: has(name)) { stars parts { uid } } }
  1006: block 1000, root 1000, level 1000, field 3000, level 10

# where no list tells what a root finds, all that have its predicate may be looked at; nothing is told of the steps
{ q(func: regexp(words, /amb/)) { uid } }
  253: nothing told
{ q(func: regexp(words, /a/)) { name } }
  1106: nothing told
{ q(func: ge(price, 300)) @filter(has(price)) { uid } }
  8: nothing told
{ var(func: has(note)) { p as price } q(func: eq(price, val(p))) { uid } }
  53: block 50, root 50, level 50

# a filter leaves the share that its list says, the guessed share where none does; the cheapest choice is the root
{ q(func: has(name)) @filter(has(price)) { uid } }
  11: block 800, root 1000, filter 800, level 800
{ q(func: has(note)) @filter(has(name)) { uid } }
  52: block 50, root 50, filter 50, level 50
{ q(func: has(nevermore)) @filter(has(name)) { uid } }
  1: block 0, root 0, filter 0, level 0
{ q(func: has(name)) @filter(has(nosuch)) { uid } }
  6: block 0, root 1000, filter 0, level 0
{ v as var(func: has(note)) q(func: uid(v)) @filter(has(price)) { uid } }
  53: block 50, root 50, level 50, block 50, root 50, filter 50, level 50
{ q(func: has(name)) @filter(eq(kind, "rare")) { uid } }
  102: block 100, root 1000, or 100, filter 100, level 100
{ q(func: has(name)) @filter(eq(kind, "none")) { uid } }
  1: block 0, root 1000, or 0, filter 0, level 0
{ q(func: has(nevermore)) @filter(eq(kind, "rare")) { uid } }
  1: block 0, root 0, or 100, filter 0, level 0
{ q(func: has(name)) @filter(eq(note, "x")) { uid } }
  1006: block 100, root 1000, filter 100, level 100
{ q(func: has(name)) @filter(ge(price, 700)) { uid } }
  103: block 101, root 1000, or 101, filter 126, level 101
{ q(func: has(name)) @filter(regexp(words, /amb/)) { uid } }
  1006: block 100, root 1000, filter 100, level 100
{ q(func: has(name)) @filter(uid(1, 2)) { uid } }
  3: block 2, root 1000, or 2, filter 2, level 2
{ q(func: has(name)) @filter(uid_in(maker, 1)) { uid } }
  7: block 0, root 1000, filter 0, level 0
{ q(func: has(name)) @filter(lt(count(parts), 3)) { uid } }
  1006: block 333, root 1000, filter 333, level 333
{ q(func: uid(1, 2, 3)) @filter(eq(kind, "rare")) { name } }
  4: block 0, root 3, filter 0, level 0

# conditions are asked of what the ones before leave: of many nodes those first whose lists are short
{ q(func: has(name)) @filter(eq(name, "y") and eq(stars, 1) and eq(kind, "rare")) { uid } }
  102: block 2, root 1000, or 200, or 100, filter 2, filter 100, filter 20, filter 2, level 2
{ q(func: has(note)) @filter(eq(name, "y") and eq(stars, 1) and eq(kind, "rare")) { uid } }
  52: block 0, root 50, or 200, or 100, filter 0, filter 5, filter 1, filter 0, level 0
{ q(func: has(name)) @filter(eq(note, "x") and eq(nevermore, "y") and has(price)) { uid } }
  811: block 8, root 1000, filter 8, filter 800, filter 80, filter 8, level 8
{ q(func: has(name)) @filter(eq(note, "x") or eq(name, "y")) { uid } }
  1006: block 190, root 1000, filter 190, filter 100, filter 100, level 190
{ q(func: has(name)) @filter(eq(kind, "rare") or eq(name, "y")) { uid } }
  1008: block 190, root 1000, filter 190, filter 100, filter 100, level 190
{ q(func: has(name)) @filter(eq(kind, "rare") or eq(stars, 1)) { uid } }
  10: block 280, root 1000, filter 280, filter 100, filter 200, level 280
{ q(func: has(note)) @filter(eq(kind, "rare") or eq(stars, 1)) { uid } }
  52: block 14, root 50, filter 14, filter 5, filter 10, level 14
{ q(func: has(name)) @filter(not eq(kind, "rare")) { uid } }
  8: block 900, root 1000, filter 900, level 900
{ q(func: has(name)) @filter(not eq(note, "x")) { uid } }
  1006: block 900, root 1000, filter 900, level 900

# variables are as many as their blocks found; those of another block's calls are not known
{ v as var(func: has(note)) q(func: uid(v)) { name } }
  53: block 50, root 50, level 50, block 50, root 50, level 50
{ v as var(func: has(note)) q(func: has(name)) @filter(uid(v)) { uid } }
  53: block 50, root 50, level 50, block 50, root 1000, or 50, filter 50, level 50
{ v as var(func: has(note)) q(func: has(name)) @filter(uid_in(parts, uid(v))) { uid } }
  14: block 50, root 50, level 50, block 333, root 1000, filter 333, level 333
{ var(func: has(name)) { v as parts } q(func: uid(v)) { name } }
  1017: block 1000, root 1000, level 1000, field 3000, block 10, root 10, level 10
{ var(func: has(note)) { v as maker } q(func: uid(v)) { name } }
  103: block 50, root 50, level 50, field 50, block 50, root 50, level 50
{ var(func: has(note)) { c as count(parts) } r(func: uid(c)) { name } }
  103: block 50, root 50, level 50, block 50, root 50, level 50
{ var(func: has(note)) { p as price } q(func: ge(val(p), 3)) { uid } }
  53: block 50, root 50, level 50, block 50, root 50, level 50
{ var(func: has(note)) { p as price } q(func: has(name)) @filter(ge(val(p), 3)) { uid } }
  58: block 50, root 50, level 50, block 50, root 1000, filter 50, level 50

# a page ends the reading when it is full, with batches that grow; not where @cascade may leave less
{ q(func: has(name), first: 5) { uid } }
  2: block 5, root 1000, level 5
{ q(func: has(name), first: -5) { uid } }
  6: block 5, root 1000, level 5
{ q(func: has(note), first: 5, offset: 48) { name } }
  4: block 2, root 50, level 2
{ q(func: has(name), first: 5) @filter(eq(name, "y")) { uid } }
  106: block 5, root 1000, filter 100, level 5
{ q(func: has(name), first: 2) @filter(eq(note, "x") and eq(kind, "usual")) { uid } }
  46: block 2, root 1000, or 900, filter 90, filter 900, filter 90, level 2
{ q(func: has(name), first: 5, offset: 50) @filter(eq(name, "y")) { uid } }
  1006: block 5, root 1000, filter 100, level 5
{ q(func: has(name)) @cascade { note } }
  1006: block 1000, root 1000, level 1000
{ q(func: has(name), first: 5) @cascade { note } }
  1006: block 5, root 1000, level 5

# an order is sorted, or its index walked in whole tokens as far as the page
{ q(func: has(name), orderasc: name, first: 3) { uid } }
  1006: block 3, root 1000, order 1000, level 3
{ q(func: has(name), orderasc: price) { uid } }
  1006: block 1000, root 1000, order 1000, level 1000
{ q(func: has(note), orderasc: price, first: 3) { uid } }
  52: block 3, root 50, order 50, level 3
{ q(func: has(name), orderasc: price, first: 3) { uid } }
  3: block 3, root 1000, order 1000, level 3
{ q(func: has(name), orderasc: price, first: 300) { uid } }
  1006: block 300, root 1000, order 1000, level 300
{ q(func: has(name), orderasc: kind, first: 3) { uid } }
  52: block 3, root 1000, order 1000, level 3
{ q(func: has(name), orderdesc: kind, first: 3) { uid } }
  456: block 3, root 1000, order 1000, level 3
{ var(func: has(price)) { p as price } q(func: has(name), orderasc: val(p), first: 3) { uid } }
  811: block 800, root 800, level 800, block 3, root 1000, order 1000, level 3
{ q(func: ge(price, 100), orderasc: price, first: 3) { uid } }
  7: nothing told
{ q(func: ge(price, 100), orderasc: price, first: 3) @filter(eq(kind, "rare")) { uid } }
  112: block 3, or 100, filter 10, order 10, level 3
{ q(func: ge(price, 100), orderasc: stars, first: 3) { uid } }
  272: nothing told
{ q(func: has(name), orderasc: price, first: 3) @filter(ge(price, 300)) { uid } }
  14: block 3, root 1000, filter 333, order 333, level 3
{ q(func: has(name), orderasc: price, first: 3) @filter(ge(stars, 1)) { uid } }
  6: block 3, root 1000, or 800, filter 800, order 800, level 3
{ q(func: has(name), orderasc: price, first: 3) @filter(eq(price, 300)) { uid } }
  4: block 1, root 1000, or 1, filter 1, order 1, level 1
{ q(func: has(name), orderasc: price, first: 3) @filter(eq(kind, "usual")) { uid } }
  6: block 3, root 1000, or 900, filter 900, order 900, level 3
{ q(func: has(name), orderasc: price, first: 3) @filter(eq(kind, "rare")) { uid } }
  202: block 3, root 1000, or 100, filter 100, order 100, level 3
{ q(func: has(name), orderasc: price, first: 3) @filter(eq(kind, "usual") and eq(stars, 1)) { uid } }
  187: block 3, root 1000, or 900, or 200, filter 180, filter 200, filter 180, order 180, level 3
{ q(func: regexp(words, /cedar/), orderasc: price, first: 3) { uid } }
  855: nothing told
{ q(func: anyofterms(words, "cedar"), orderasc: price, first: 3) { uid } }
  755: block 3, root 750, order 750, level 3
{ q(func: anyofterms(words, "cedar amber"), orderasc: price, first: 3) { uid } }
  1006: block 3, root 1000, order 1000, level 3
{ q(func: anyofterms(words, "cedar amber"), orderasc: price, first: 3) @filter(eq(kind, "usual")) { uid } }
  4: block 3, root 1000, or 900, filter 900, order 900, level 3

# edges: as many as those nodes have that have some; nodes behind them: at most those that are pointed at
{ q(func: has(name)) { parts { name } } }
  1016: block 1000, root 1000, level 1000, field 3000, level 10
{ q(func: has(note)) { parts { note } } }
  62: block 50, root 50, level 50, field 150, level 10
{ q(func: has(name)) { ~parts { name } } }
  1206: block 1000, root 1000, level 1000, field 60000, level 200
{ q(func: has(name)) { never (first: 1) { name } } }
  1006: block 1000, root 1000, level 1000, field 0, level 0
{ q(func: has(nevermore)) { parts (first: 1) { uid } } }
  1: block 0, root 0, level 0, field 0, level 0
{ q(func: has(name)) { maker { name } } }
  2006: block 1000, root 1000, level 1000, field 1000, level 1000
{ q(func: has(name)) { maker { note price } } }
  1856: block 1000, root 1000, level 1000, field 1000, level 1000
{ q(func: has(name)) { maker { parts { uid } } } }
  1206: block 1000, root 1000, level 1000, field 1000, level 1000, field 3000, level 10
{ q(func: has(name)) { parts (first: 1) { name } } }
  1016: block 1000, root 1000, level 1000, field 1000, level 10
{ q(func: has(name)) { parts (offset: 2) { name } } }
  1016: block 1000, root 1000, level 1000, field 1000, level 10
{ q(func: has(name)) { parts (orderasc: name) { uid } } }
  1016: block 1000, root 1000, level 1000, field 3000, level 10
{ q(func: has(name)) { parts @filter(eq(name, "x")) { uid } } }
  1016: block 1000, root 1000, level 1000, field 300, filter 300, level 10
{ q(func: has(name)) { parts (orderasc: name) @filter(eq(name, "x")) { uid } } }
  1017: block 1000, root 1000, level 1000, field 300, filter 300, level 10
{ q(func: has(name)) { maker @filter(eq(name, "x")) @groupby(stars) { count(uid) } } }
  2106: block 1000, root 1000, level 1000, field 100, filter 100
{ q(func: has(name)) { maker @filter(has(price)) { uid } } }
  1011: block 1000, root 1000, level 1000, field 800, filter 800, level 800
{ q(func: has(note)) { count(maker @filter(eq(name, "x"))) } }
  102: block 50, root 50, level 50
{ q(func: has(name)) { count(never @filter(eq(name, "x"))) } }
  1006: block 1000, root 1000, level 1000

# a recursion goes as deep as it may, and ends where it has met all; a path may meet all that have an edge
{ q(func: has(note)) @recurse(depth: 1) { name parts } }
  52: block 50, root 50
{ q(func: has(note)) @recurse(depth: 2) { name parts } }
  62: block 50, root 50
{ q(func: uid(5)) @recurse(depth: 2) { name ~parts maker } }
  63: block 1, root 1
{ q(func: uid(5)) @recurse(depth: 3) { name ~parts parts } }
  212: block 1, root 1
{ q(func: uid(5)) @recurse { name ~parts maker } }
  202: block 1, root 1
{ q(func: has(note)) @recurse(depth: 4) { name parts ~parts } }
  262: block 50, root 50
{ q(func: has(nevermore)) @recurse(depth: 4) { name parts ~parts } }
  1: block 0, root 0
{ p as shortest(from: 1, to: 2) { parts maker } q(func: uid(p)) { name } }
  1201: nothing told
{ p as shortest(from: 1, to: 2) { name parts nosuch } q(func: uid(p)) { name } }
  201: nothing told
`;

describe.each(readExpectations(expectations))("$title", ({ rows }) => {
  test.each(rows)("%s", async (query, expected) => {
    expect(await told(query)).toBe(expected);
  });
});

/** Conditions that the text of a query cannot have: rules make them. */
describe("behind edges all candidates are looked at, and the nodes that the edges lead to", () => {
  const never: Filter = { kind: "constant", value: false };
  const always: Filter = { kind: "constant", value: true };
  const all = (...filters: readonly Filter[]): Filter => ({ kind: "and", filters });
  const behind = (name: string, filter?: Filter): Filter => ({
    kind: "edge",
    predicate: { kind: "predicate", name, reverse: false, languages: [] },
    filter,
  });
  test.each<[string, Filter, string]>([
    ["nothing passes", never, "6: block 0, root 1000, filter 0, level 0"],
    ["all pass", always, "6: block 1000, root 1000, filter 1000, level 1000"],
    ["an edge", behind("parts"), "1006: block 200, root 1000, filter 200, level 200"],
    ["an edge of none", behind("never"), "1006: block 0, root 1000, filter 0, level 0"],
    [
      "what leads to a node with a price",
      behind("maker", conditionOf("has(price)")),
      "1011: block 1000, root 1000, filter 1000, level 1000",
    ],
    [
      "what leads to a node named so",
      behind("maker", conditionOf('eq(name, "x")')),
      "2006: block 1000, root 1000, filter 1000, level 1000",
    ],
    [
      "what leads to one of ten named so",
      behind("parts", conditionOf('eq(name, "x")')),
      "1016: block 200, root 1000, filter 200, level 200",
    ],
    [
      "values, then edges",
      all(behind("maker", always), conditionOf('eq(note, "x")')),
      "1106: block 100, root 1000, filter 100, filter 100, filter 100, level 100",
    ],
    [
      "lists, values, then edges",
      all(
        behind("maker", conditionOf('eq(name, "x")')),
        behind("parts", conditionOf('eq(name, "x")')),
        conditionOf('eq(note, "x")'),
        conditionOf('eq(kind, "rare")'),
      ),
      "142: block 2, root 1000, or 100, filter 2, filter 100, filter 10, filter 10, filter 2, level 2",
    ],
  ])("%s", async (_, filter, expected) => {
    const query = parse("{ q(func: has(name)) { uid } }");
    const blocks = query.blocks.map((block) => ({ ...block, filter }));
    expect(await explain({ ...query, blocks })).toBe(expected);
  });

  function conditionOf(condition: string): Filter {
    const [block] = parse(`{ q(func: has(name)) @filter(${condition}) { uid } }`).blocks;
    return must(block?.filter, "the text has a filter");
  }
});
