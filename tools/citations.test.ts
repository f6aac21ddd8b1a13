// Goal: every citation of the reference leads to a rule; the check finds one that does not.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { countCitations, findCitationFaults } from "./citations.ts";

const root = join(import.meta.dirname, "..");
const folders = ["src", "test", "tools"].map((name) => join(root, name));

test("citations lead to headings of the reference, and nowhere else", () => {
  expect(findCitationFaults(folders, join(root, "docs", "reference"))).toEqual([]);
  expect(countCitations(folders)).toBeGreaterThan(300);
});

describe("planted citations", () => {
  const planted = mkdtempSync(join(tmpdir(), "weft-citations-"));
  afterAll(() => rmSync(planted, { recursive: true, force: true }));
  const code = join(planted, "code");
  const pages = join(planted, "pages");
  mkdirSync(code);
  mkdirSync(pages);
  writeFileSync(
    join(pages, "dql.md"),
    "# DQL\n\n## 1. Ways\n\n1. So\n\n### 1.2 In\n\n| 4    | So |\n\n#### 1.2.3 Deep\n",
  );

  function judge(text: string): string[] {
    const file = join(code, "planted.ts");
    writeFileSync(file, text);
    return findCitationFaults([code], pages).map((fault) => fault.slice(file.length + 2));
  }

  test("those that resolve", () => {
    expect(
      judge("// As reference/dql 1.2.3, 1 – 1.2 and 1 have it. See reference/dql 1.2."),
    ).toEqual([]);
    expect(judge("/**\n * Rows (reference/dql\n * 1.2,\n * 1.2.3): 7 of them.\n */")).toEqual([]);
  });

  test("a row of a table, an item of a list", () => {
    expect(judge("// reference/dql 1 step 1, reference/dql 1.2 rule 4: so")).toEqual([]);
    expect(judge("// reference/dql 1 step 4, reference/dql 1.2 rules 4 and 5")).toEqual([
      "reference/dql 1 has no 4",
      "reference/dql 1.2 has no 5",
    ]);
  });

  test("a number, one of several, one over the end of a line, a page", () => {
    expect(judge("// reference/dql 1.3")).toEqual(["reference/dql has no 1.3"]);
    expect(judge("// (reference/dql 1, 1.2, 9)")).toEqual(["reference/dql has no 9"]);
    expect(judge("/**\n * reference/dql 1.2,\n * 4.\n */")).toEqual(["reference/dql has no 4"]);
    expect(judge("// reference/tables 1.2")).toEqual(["there is no reference/tables"]);
  });

  test.each(["dql.md 4.3", "graphql-messages.md D.2", "architecture 3.2", "seed 5:", "Msg E.1"])(
    "what is not in the repository: %s",
    (stranger) => expect(judge(`// As of ${stranger}`)).toHaveLength(1),
  );

  test("a page for users may be named", () => {
    expect(judge('// see docs/dql.md and "docs/reference/dql.md"')).toEqual([]);
  });
});
