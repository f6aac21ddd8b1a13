import fc from "fast-check";
import { expect, test } from "vitest";
import { printRune, quoteRune, skipIri } from "./characters.ts";
import { locate } from "./position.ts";
import { unquote } from "./unquote.ts";

test.each([
  ['"plain é ☃"', "plain é ☃"],
  ['"\\a\\b\\f\\n\\r\\t\\v\\\\\\""', '\x07\b\f\n\r\t\v\\"'],
  ['"\\u00e9\\U0001F600"', "é😀"],
  ['"\\xe2\\x98\\x83\\303\\251"', "☃é"],
  ['""', ""],
])("%s is unquoted", (quoted, text) => {
  expect(unquote(quoted)).toBe(text);
});

test.each(['"a\nb"', '"\\u26"', '"it\\\'s"', '"\\ud800"', '"\\q"', '"a"b"', '"', "'a'", '"\\400"'])(
  "%j has no meaning",
  (quoted) => {
    expect(unquote(quoted)).toBeUndefined();
  },
);

test("what JSON writes without slashes and surrogates is read the same", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const quoted = JSON.stringify(text);
      fc.pre(!/\\u[dD]/.test(quoted));
      expect(unquote(quoted)).toBe(text);
    }),
  );
});

test("places count bytes in a line", () => {
  expect(locate("aé☃😀x\nb", 6)).toEqual({ line: 1, column: 11 });
  expect(locate("a\r\nbc", 4)).toEqual({ line: 3, column: 1 });
});

test("characters are named so that they can be seen", () => {
  expect(printRune(0x7b)).toBe("U+007B '{'");
  expect(printRune(0x0b)).toBe("U+000B");
  expect(quoteRune(0x20)).toBe("' '");
  expect(quoteRune(0x09)).toBe("'\\t'");
});

test("an IRI ends at the first character that it may not hold", () => {
  expect(skipIri("a/b#c> ", 0)).toBe(5);
  expect(skipIri("a\\u00e9b c", 0)).toBe(8);
  expect(skipIri("a\\u0 ", 0)).toBe(3);
});
