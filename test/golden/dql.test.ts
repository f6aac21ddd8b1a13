/**
 * Goldens of the native query language: for each question in dql/ (a small library: the forms of the language) and
 * items/ (a large shop: each function at a root, in a filter, and each choice) what was decided (.plan), what was expected
 * of each step and what it did (.profile, without times), and what was said (.json).
 * A change of either is a change of the file beside the question: look at the difference, then update it.
 */
import { buildPlan, parseQuery, printPlan } from "../../src/exec/dql.ts";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { printReport, profilePlan } from "../../src/exec/explain.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { makeFreeBudget } from "../../src/model/request-budget.ts";
import { openItems } from "../support/items-graph.ts";
import { openLibrary } from "../support/library-graph.ts";
import { runDql } from "../support/run-dql.ts";

const collections = [
  { folder: "dql", open: openLibrary },
  { folder: "items", open: openItems },
];

describe.each(collections)("$folder", ({ folder, open }) => {
  const place = new URL(`${folder}/`, import.meta.url);
  const graph = open();
  const { schema } = graph;
  const names = readdirSync(place)
    .filter((name) => name.endsWith(".dql"))
    .map((name) => name.slice(0, -".dql".length));

  test("there are questions", () => {
    expect(names.length).toBeGreaterThan(8);
  });

  for (const name of names) {
    const text = readFileSync(new URL(`${name}.dql`, place), "utf8");

    test(`${name}: what was decided`, async () => {
      const plan = buildPlan(parseQuery(text, new Map()), schema);
      await expect(printPlan(plan)).toMatchFileSnapshot(`${folder}/${name}.plan`);
    });

    test(`${name}: what was expected and done`, async () => {
      const plan = buildPlan(parseQuery(text, new Map()), schema);
      const { report } = await profilePlan(plan, undefined, graph, {
        clock: systemClock,
        limits: defaultLimits,
        budget: makeFreeBudget(systemClock),
      });
      const table = printReport(report, { times: false });
      await expect(table).toMatchFileSnapshot(`${folder}/${name}.profile`);
    });

    test(`${name}: what was said`, async () => {
      const answer = JSON.parse(await runDql(graph, text)) as unknown;
      const said = `${JSON.stringify(answer, null, 2)}\n`;
      await expect(said).toMatchFileSnapshot(`${folder}/${name}.json`);
    });
  }
});
