import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { trigramsOfRegexp, type TrigramQuery } from "./regexp-trigrams.ts";
import { trigramTokens } from "./text-tokens.ts";
import { runs } from "../../test/support/runs.ts";

function print(query: TrigramQuery): string {
  if (query.kind === "trigram") return new TextDecoder().decode(query.token);
  if (query.kind === "all" || query.kind === "none") return query.kind;
  return `(${query.queries
    .map(print)
    .sort()
    .join(query.kind === "and" ? " " : "|")})`;
}

const shown = (source: string, ignoreCase = false): string =>
  print(trigramsOfRegexp(source, ignoreCase));

/** Whether a text has the trigrams that a query asks for. */
function passes(query: TrigramQuery, trigrams: ReadonlySet<string>): boolean {
  switch (query.kind) {
    case "all":
      return true;
    case "none":
      return false;
    case "trigram":
      return trigrams.has(String(query.token));
    case "and":
      return query.queries.every((member) => passes(member, trigrams));
    case "or":
      return query.queries.some((member) => passes(member, trigrams));
  }
}

describe("trigrams of expressions", () => {
  test.each([
    ["abc", "abc"],
    ["Glass", "(Gla ass las)"],
    ["^The$", "The"],
    ["abc|def", "(abc|def)"],
    ["abc.def", "(abc def)"],
    ["ab+c", "all"],
    ["(abc)+", "abc"],
    ["abc*", "all"],
    ["abcd*", "abc"],
    ["x?abc", "abc"],
    ["a[bc]d", "(abd|acd)"],
    ["a{3}", "aaa"],
    ["C\\+\\+ & C#", "( &   C# & C + & ++  C++)"],
    ["\\Qa.c\\E", "a.c"],
    ["a\\.b\\/c", "(.b/ a.b b/c)"],
    ["\\x61bc", "abc"],
    ["[[:alpha:]]bcd", "bcd"],
    ["(?:abc)(?P<name>def)", "(abc bcd cde def)"],
  ])("%s", (source, query) => {
    expect(shown(source)).toBe(query);
  });

  test.each([".*", "Gl", "(Harbour|a)", "", "^.{2}$", "\\w+", "[^a]bc", "a.b.c", "\\d\\d\\d\\d?"])(
    "%s is too wide",
    (source) => {
      expect(shown(source)).toBe("all");
    },
  );

  test("ignoring case asks for one of the ways to write it", () => {
    expect(shown("abc", true)).toBe("(ABC|ABc|AbC|Abc|aBC|aBc|abC|abc)");
    expect(shown("(?i)a(?-i)bc")).toBe("(Abc|abc)");
    expect(shown("GH-x*", true)).toBe("(GH-|Gh-|gH-|gh-)");
  });

  test("letters of several bytes give trigrams soon", () => {
    expect(trigramsOfRegexp("на", false).kind).toBe("and");
  });
});

test("a text that an expression matches always has the trigrams", () => {
  const piece = fc.constantFrom(
    ..."abcABC",
    "[ab]",
    "[^a]",
    ".",
    "(ab|c)",
    "a+",
    "b*",
    "c?",
    "(abc){1,2}",
    "(a|bc|)",
    "B{2,}",
    "ä",
    "(?i:ab)",
    "[a-c]",
  );
  const letters = fc.string({ unit: fc.constantFrom(..."abcABCä"), maxLength: 14 });
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 8 }),
      fc.array(letters, { minLength: 20, maxLength: 20 }),
      fc.boolean(),
      (pieces, texts, ignoreCase) => {
        const source = pieces.join("");
        const query = trigramsOfRegexp(source, ignoreCase);
        // Only this engine of ours knows flags inside an expression on every platform.
        const plain = source.replaceAll("(?i:ab)", "(?:ab|AB|aB|Ab)");
        const expression = new RegExp(plain, ignoreCase ? "iu" : "u");
        for (const text of texts) {
          if (!expression.test(text)) continue;
          const trigrams = new Set(trigramTokens(text).map(String));
          expect([source, text, passes(query, trigrams)]).toEqual([source, text, true]);
        }
      },
    ),
    { numRuns: runs(500) },
  );
});
