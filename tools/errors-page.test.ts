// Goal: docs/errors.md has every code of the table with its cause and its remedy, and nothing else.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultTable, type FaultSpec } from "../src/model/fault-table.ts";
import { drawErrorsPage, findErrorsPageFaults, findUnusedFaults } from "./errors-page.ts";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs", "errors.md");
const drawn = drawErrorsPage(faultTable);
if (process.env["WEFT_DRAW"] === "1") writeFileSync(file, drawn);
const page = readFileSync(file, "utf8");

test("the page is as made from the table", () => expect(page).toBe(drawn));

test("each code has an entry, each entry a code", () =>
  expect(findErrorsPageFaults(page, faultTable)).toEqual([]));

test("each code is thrown, and each message of the page is said", () => {
  const src = join(root, "src");
  const texts = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => !name.endsWith("fault-table.ts"))
    .map((name) => readFileSync(join(src, name), "utf8"));
  expect(findUnusedFaults(texts, faultTable)).toEqual([]);
});

test("pages that are linked are there", () => {
  const links = [...page.matchAll(/\]\((?<name>[a-z]+\.md)\)/g)];
  expect(links.length).toBeGreaterThan(0);
  const pages = new Set(readdirSync(join(root, "docs")));
  expect(links.filter((link) => !pages.has(link[1] ?? "")).map(([link]) => link)).toEqual([]);
});

describe("planted faults", () => {
  const spec: FaultSpec = {
    area: "Here",
    phase: "parser",
    extension: "Error",
    says: "no such thing",
    cause: "It is gone.",
    remedy: "Look elsewhere.",
  };

  test("a code without an entry", () => {
    const old = drawErrorsPage({ E_ONE: spec });
    expect(findErrorsPageFaults(old, { E_ONE: spec, E_TWO: spec })).toEqual([
      "E_TWO has no entry in docs/errors.md",
    ]);
  });

  test("an entry without a code", () => {
    const old = drawErrorsPage({ E_ONE: spec, E_TWO: spec });
    expect(findErrorsPageFaults(old, { E_ONE: spec })).toEqual([
      "docs/errors.md has an entry for E_TWO, which is gone",
    ]);
  });

  test("an entry that says nothing", () => {
    const table = { E_ONE: { ...spec, cause: "", remedy: "" } };
    expect(findErrorsPageFaults(drawErrorsPage(table), table)).toEqual([
      "E_ONE has no cause",
      "E_ONE has no remedy",
    ]);
  });

  test("a code that nothing throws, a message that nothing says", () => {
    const source = 'throw new Fault("E_ONE", "something else");';
    expect(findUnusedFaults([source], { E_ONE: spec, E_TWO: spec })).toEqual([
      'nothing says "no such thing" (E_ONE)',
      "nothing throws E_TWO",
      'nothing says "no such thing" (E_TWO)',
    ]);
  });
});
