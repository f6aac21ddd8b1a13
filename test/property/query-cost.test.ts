/**
 * Goal: what a query is expected to cost is near to what it reads. Method: each question of the goldens and made-up ones,
 * profiled; the cost that was expected against the cost of what was read.
 */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import { profilePlan } from "../../src/exec/explain.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { makeFreeBudget } from "../../src/model/request-budget.ts";
import { openItems } from "../support/items-graph.ts";
import { runs } from "../support/runs.ts";

/** An estimate is off by at most this factor, beside a few records that any query may read. */
const factor = 3;
const slack = 64;

/** Their ends are known when they are reached: they are expected to visit all that they may. */
const searches = new Set(["field-shortest"]);

/** A page of texts that match: as many are guessed to pass as always, and where none does all are looked at. */
const guessed = new Set(["root-match"]);

const graph = openItems();
const context = {
  clock: systemClock,
  limits: defaultLimits,
  budget: makeFreeBudget(systemClock),
};

async function costsOf(text: string): Promise<{ cost: number; read: number }> {
  const plan = buildPlan(parseQuery(text, new Map()), graph.schema);
  const { report } = await profilePlan(plan, undefined, graph, context);
  return { cost: report.cost ?? Number.NaN, read: report.costRead ?? Number.NaN };
}

const place = new URL("../golden/items/", import.meta.url);
const questions = readdirSync(place)
  .filter((name) => name.endsWith(".dql"))
  .map((name) => [name.slice(0, -4), readFileSync(new URL(name, place), "utf8")] as const);

test("of each question of the goldens", async () => {
  const far: string[] = [];
  for (const [name, text] of questions) {
    const { cost, read } = await costsOf(text);
    const isLow = read > cost * factor + slack && !guessed.has(name);
    const isHigh = cost > read * factor + slack;
    if (isLow || (isHigh && !searches.has(name)) || Number.isNaN(cost + read)) {
      far.push(`${name}: ${cost} expected, ${read} read`);
    }
  }
  expect(far).toEqual([]);
});

// Roots and conditions of different predicates: what depends on another is not known to.
const root = fc.constantFrom(
  "type(Item)",
  "has(price)",
  "ge(price, 850)",
  "le(price, 40)",
  "eq(count(parts), 2)",
  "uid(1, 2, 3, 700)",
);
const ofStars = fc.constantFrom("eq(stars, 4)", "ge(stars, 3)", "not eq(stars, 1)");
const ofWords = fc.constantFrom(`anyofterms(words, "cedar")`, `not allofterms(words, "amber")`);
const filter = fc.oneof(
  fc.constant(""),
  fc.oneof(ofStars, ofWords).map((one) => `@filter(${one})`),
  fc.tuple(ofStars, ofWords).map(([a, b]) => `@filter(${a} or ${b})`),
);
const order = fc.constantFrom("", ", orderasc: price", ", orderdesc: price", ", orderasc: words");
const page = fc.constantFrom(", first: 5", ", first: 50", ", first: 10, offset: 30");
const fields = fc.constantFrom("uid", "uid words", "price parts { uid }", "parts { words stars }");

const question = fc
  .tuple(root, order, page, filter, fields)
  .map(([func, by, cut, where, shown]) => `{ q(func: ${func}${by}${cut}) ${where} { ${shown} } }`);

/** Where the nodes of a page stand no list says. */
const madeUpFactor = 6;

/** Of so few candidates the records are expected to be read, where a list at hand may answer. */
const fewCandidates = 192;

test("of made-up questions", async () => {
  await fc.assert(
    fc.asyncProperty(question, async (text) => {
      const { cost, read } = await costsOf(text);
      expect(read).toBeLessThanOrEqual(cost * madeUpFactor + slack);
      expect(cost).toBeLessThanOrEqual(read * madeUpFactor + slack + fewCandidates);
    }),
    { numRuns: runs(400) },
  );
});
