/**
 * Goldens of the native query language: for each question in dql/ what was decided (.plan) and what was said (.json).
 * A change of either is a change of the file beside the question: look at the difference, then update it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseQuery } from "../../src/dql/parser.ts";
import { buildPlan } from "../../src/plan/build.ts";
import { printPlan } from "../../src/plan/print.ts";
import { librarySchema, openLibrary } from "../support/library-graph.ts";
import { runDql } from "../support/run-dql.ts";

const folder = new URL("dql/", import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".dql"))
  .map((name) => name.slice(0, -".dql".length));

test("there are questions", () => {
  expect(names.length).toBeGreaterThan(8);
});

for (const name of names) {
  const text = readFileSync(new URL(`${name}.dql`, folder), "utf8");

  test(`${name}: what was decided`, async () => {
    const plan = buildPlan(parseQuery(text, new Map()), librarySchema);
    await expect(printPlan(plan)).toMatchFileSnapshot(`dql/${name}.plan`);
  });

  test(`${name}: what was said`, async () => {
    const answer = JSON.parse(await runDql(openLibrary(), text)) as unknown;
    await expect(JSON.stringify(answer, null, 2) + "\n").toMatchFileSnapshot(`dql/${name}.json`);
  });
}
