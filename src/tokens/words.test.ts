import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitWords } from "./words.ts";
import { runs } from "../../test/support/runs.ts";

const words = (text: string): string[] => splitWords(text).map((word) => word.text);

describe("words", () => {
  test.each([
    ["dot.dot it's 3.14 e-mail", ["dot.dot", "it's", "3.14", "e", "mail"]],
    ["a.1 1.a 1,5 a,b 'x' x:y", ["a", "1", "1", "a", "1,5", "a", "b", "x", "x:y"]],
    ["_a_ __ b_", ["_a_", "b_"]],
    ["naïve café", ["naïve", "café"]],
    ["e\u0301te\u0301 l’été", ["e\u0301te\u0301", "l’été"]],
    ["日本語の カタカナ ひらがな", ["日", "本", "語", "の", "カタカナ", "ひ", "ら", "が", "な"]],
    ["한국어 단어", ["한국어", "단어"]],
    ["שלום עולם, مرحبا بالعالم", ["שלום", "עולם", "مرحبا", "بالعالم"]],
    ["😀 ok 👍🏽!", ["ok"]],
    ["२४ घंटे", ["२४", "घंटे"]],
    ["", []],
  ])("of %j", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test("know where they stand", () => {
    expect(splitWords("a 雪国").map(({ at, isIdeographic }) => [at, isIdeographic])).toEqual([
      [0, false],
      [2, true],
      [3, true],
    ]);
  });
});

test("the quick way for ASCII agrees with the pattern", () => {
  const ascii = fc.string({ unit: fc.constantFrom(..."abZ019_.,:;'\"- @\n"), maxLength: 30 });
  fc.assert(
    fc.property(ascii, (text) => {
      // One letter outside of ASCII, kept apart by blanks, sends the whole text the other way.
      expect(words(text)).toEqual(words(`é ${text}`).slice(1));
    }),
    { numRuns: runs(2000) },
  );
});
