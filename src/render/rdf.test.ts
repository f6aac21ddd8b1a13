// Goal: what answers in the RDF format say, line by line (here between bars), and what they refuse to say.
import { describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { buildPlan, parseQuery } from "../exec/dql.ts";
import { execute } from "../exec/execute.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits } from "../model/limits.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import { openLibrary } from "../../test/support/library-graph.ts";
import { readExpectations } from "../../test/support/expectation-table.ts";
import { renderRdf } from "./rdf.ts";

const answers = `
# values, counts and edges are lines
{ q(func: eq(name, "Runa Vale")) { uid name } }
  <0x10> <name> "Runa Vale" .
{ q(func: has(pages)) { title pages price } }
  <0x1> <title> "Salt Roads" . | <0x2> <title> "Salt Harbours" . | <0x3> <title> "The Quiet Engine" . | <0x5> <title> "Atlas of Small Islands" . | <0x1> <pages> "320" . | <0x2> <pages> "280" . | <0x3> <pages> "410" . | <0x5> <pages> "96" . | <0x1> <price> "12.5" . | <0x3> <price> "1.234567e+06" .
{ q(func: has(pages)) { count(author) } }
  <0x1> <count(author)> "1" . | <0x2> <count(author)> "2" . | <0x3> <count(author)> "1" . | <0x5> <count(author)> "1" .
{ q(func: has(pages)) { author { name } } }
  <0x1> <author> <0x10> . | <0x2> <author> <0x10> . | <0x2> <author> <0x11> . | <0x3> <author> <0x11> . | <0x5> <author> <0x12> . | <0x10> <name> "Runa Vale" . | <0x11> <name> "Ottis Brandt" . | <0x12> <name> "Mei Castellan" .
{ q(func: has(pages)) { x: title author @filter(has(nosuch)) { name } } }
  <0x1> <x> "Salt Roads" . | <0x2> <x> "Salt Harbours" . | <0x3> <x> "The Quiet Engine" . | <0x5> <x> "Atlas of Small Islands" .
{ q(func: has(pages)) { keyword } }
  <0x1> <keyword> "trade" . | <0x1> <keyword> "sea" . | <0x5> <keyword> "sea" .
{ q(func: has(sequel)) { sequel { title sequel { title } } } }
  <0x1> <sequel> <0x2> . | <0x2> <title> "Salt Harbours" .
{ q(func: eq(name, "nobody")) { name } }
  nothing
{ v as var(func: has(pages)) { p as pages } q(func: uid(v)) { val(p) } }
  <0x1> <pages> "320" . | <0x2> <pages> "280" . | <0x3> <pages> "410" . | <0x5> <pages> "96" . | <0x1> <val(p)> "320" . | <0x2> <val(p)> "280" . | <0x3> <val(p)> "410" . | <0x5> <val(p)> "96" .
{ q(func: has(pages), first: 1) @cascade { title pages } }
  <0x1> <title> "Salt Roads" . | <0x1> <pages> "320" .
{ p as shortest(from: 1, to: 2) { author sequel } q(func: uid(p)) { title } }
  <0x1> <sequel> <0x2> . | <0x1> <title> "Salt Roads" . | <0x2> <title> "Salt Harbours" . | <0x1> <sequel> <0x2> .
{ q(func: has(pages)) { m as pages n: math(m + 1) } }
  <0x1> <pages> "320" . | <0x2> <pages> "280" . | <0x3> <pages> "410" . | <0x5> <pages> "96" . | <0x1> <n> "321" . | <0x2> <n> "281" . | <0x3> <n> "411" . | <0x5> <n> "97" .
{ q(func: has(pages)) @recurse(depth: 2) { title sequel } }
  <0x1> <title> "Salt Roads" . | <0x2> <title> "Salt Harbours" . | <0x3> <title> "The Quiet Engine" . | <0x5> <title> "Atlas of Small Islands" . | <0x1> <sequel> <0x2> . | <0x2> <title> "Salt Harbours" .

# what the format cannot say is refused
{ q(func: has(pages)) @groupby(shelf) { count(uid) } }
  ! groupby is not supported in rdf output format
{ q(func: has(pages)) { author @facets { name } } }
  ! facets are not supported in the rdf output format
{ q(func: has(pages)) { count(uid) } }
  ! uid count is not supported in the rdf output format
{ q(func: has(pages)) @normalize { x: title } }
  ! normalize directive is not supported in the rdf output format
{ q(func: has(pages)) @ignorereflex { title } }
  ! ignorereflex directive is not supported in the rdf output format
{ q(func: has(pages)) { author @groupby(name) { count(uid) } } }
  ! groupby is not supported in rdf output format
`;

const graph = openLibrary();

async function write(query: string): Promise<string> {
  const plan = buildPlan(parseQuery(query, new Map()), graph.schema);
  const budget = makeFreeBudget(systemClock);
  const context = { clock: systemClock, limits: defaultLimits, budget };
  try {
    const result = await execute(plan, undefined, graph, context);
    const bytes = renderRdf(plan, result, { limits: defaultLimits });
    const text = JSON.parse(Buffer.from(bytes).toString()) as string;
    return text.trimEnd().replaceAll("\n", " | ") || "nothing";
  } catch (error) {
    if (error instanceof Fault) return `! ${error.message}`;
    throw error;
  }
}

describe.each(readExpectations(answers))("$title", ({ rows }) => {
  test.each(rows)("%s", async (query, expected) => {
    expect(await write(query)).toBe(expected);
  });
});
