// Goal: measuring the steps of a query changes nothing of its answer, and explaining it runs nothing of it.
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { explainPlan, profilePlan, type PlanStep } from "../../src/exec/explain.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { makeFreeBudget } from "../../src/model/request-budget.ts";
import { renderDql } from "../../src/render/dql-json.ts";
import { librarySchema, openLibrary } from "../support/library-graph.ts";
import { runDql } from "../support/run-dql.ts";
import { runs } from "../support/runs.ts";

const condition = fc.constantFrom(
  `eq(shelf, "A")`,
  `ge(pages, 200)`,
  `between(pages, 90, 300)`,
  `has(keyword)`,
  `eq(keyword, "sea")`,
  `anyofterms(title, "salt engine")`,
  `regexp(title, /ar.ou/)`,
  `type(Person)`,
  `eq(count(author), 1)`,
  `uid_in(author, 0x10)`,
  `uid(1, 3, 16)`,
);

const filter: fc.Arbitrary<string> = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small" },
    condition,
    fc.tuple(tie("filter"), tie("filter")).map(([a, b]) => `(${a} and ${b})`),
    fc.tuple(tie("filter"), tie("filter")).map(([a, b]) => `(${a} or ${b})`),
    tie("filter").map((inner) => `not (${inner})`),
  ),
})).filter;

const root = fc.constantFrom(
  "type(Book)",
  "has(title)",
  `eq(shelf, ["A", "B"])`,
  "ge(pages, 90)",
  "uid(1, 2, 16, 40)",
);
const order = fc.constantFrom("", ", orderasc: pages", ", orderdesc: title", ", orderasc: shelf");
const page = fc.constantFrom("", ", first: 2", ", first: 3, offset: 1", ", after: 0x2");
const fields = fc.constantFrom(
  "uid title",
  "title @cascade",
  "pages author (first: 1) { name ~author { title } }",
  "n as pages author @filter(has(name)) { uid }",
  "count(uid)",
);

const question = fc
  .tuple(root, order, page, fc.option(filter, { nil: undefined }), fields)
  .map(([func, by, cut, where, shown]) => {
    const cascade = shown.endsWith("@cascade") ? "@cascade" : "";
    const uses = shown.startsWith("n as") ? " u(func: uid(n)) { val(n) }" : "";
    const test = where === undefined ? "" : `@filter(${where})`;
    return `{ q(func: ${func}${by}${cut}) ${test} ${cascade} { ${shown.replace(" @cascade", "")} }${uses} }`;
  });

const context = {
  clock: systemClock,
  limits: defaultLimits,
  budget: makeFreeBudget(systemClock),
};

function flatten(steps: readonly PlanStep[]): readonly PlanStep[] {
  return steps.flatMap((step) => [step, ...flatten(step.steps ?? [])]);
}

function textsOf(steps: readonly PlanStep[]): readonly string[] {
  return flatten(steps)
    .map((step) => step.text)
    .sort();
}

test("a profile's answer is the plain answer, and tells of as many nodes", async () => {
  await fc.assert(
    fc.asyncProperty(question, async (text) => {
      const reader = openLibrary();
      const plain = await runDql(reader, text).catch((error: unknown) => String(error));
      const plan = buildPlan(parseQuery(text, new Map()), librarySchema);
      const profiled = await profilePlan(plan, undefined, reader, context).catch((error: unknown) =>
        String(error),
      );
      if (typeof profiled === "string") return expect(profiled).toBe(plain);
      const options = { limits: defaultLimits, debug: false };
      const said = Buffer.from(renderDql(plan, profiled.result, options)).toString();
      expect(said).toBe(plain);
      const [block] = profiled.report.steps;
      const result = profiled.result.blocks[0];
      expect(block?.out).toBe(result?.count ?? result?.rows.length);
      for (const step of flatten(profiled.report.steps)) {
        if (step.step === "filter") expect(step.out ?? 0).toBeLessThanOrEqual(step.in ?? 0);
      }
      const explained = await explainPlan(plan, undefined, reader, context);
      // The parts of an AND stand in the order in which they were asked, which a run knows better.
      expect(textsOf(explained.steps)).toEqual(textsOf(profiled.report.steps));
    }),
    { numRuns: runs(300) },
  );
});
