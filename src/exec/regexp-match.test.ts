import { describe, expect, test } from "vitest";
import { compileRegexp } from "./regexp-match.ts";

describe("expressions", () => {
  test.each([
    ["Glass", "", "The Glass Harbour", true],
    ["glass", "", "The Glass Harbour", false],
    ["gLaSs", "i", "The Glass Harbour", true],
    ["^Glass", "", "The Glass", false],
    ["^line two", "", "line one\nline two", true],
    ["one$", "", "line one\nline two", true],
    ["one.line", "", "line one\nline two", false],
    ["one\\nline", "", "line one\nline two", false],
    ["^.*$", "", "", false],
    ["^.{2}$", "", "ab", true],
    ["\\p{Greek}+", "", "ΟΔΥΣΣΕΥΣ", true],
    ["гавань", "i", "Стеклянная ГАВАНЬ", true],
    ["GH-[0-9]{4}\\/[ab]", "", "GH-1907/a", true],
  ])("/%s/%s on %j: %s", (source, flags, text, matches) => {
    expect(compileRegexp(source, flags)(text)).toBe(matches);
  });

  test.each([
    ["Gla(ss", "", "error parsing regexp: missing closing ): `(?m)Gla(ss`"],
    ["Gla(?=ss)", "", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
    ["Glass", "g", "Invalid regexp modifier: g"],
    ["Glass", "ii", "Invalid regexp modifier: ii"],
  ])("/%s/%s is refused", (source, flags, message) => {
    expect(() => compileRegexp(source, flags)).toThrow(message);
  });

  test("an expression that is slow elsewhere is matched in linear time", () => {
    const matches = compileRegexp("^(a+)+$", "");
    expect(matches("a".repeat(20_000) + "b")).toBe(false);
  });
});
