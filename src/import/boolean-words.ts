/** Pairs of words that columns of yes and no are written with, for drafts. */

/** In lower case. `true`, `t` and `1` are read without being named. */
const pairs: readonly (readonly [yes: string, no: string])[] = [
  ["yes", "no"],
  ["y", "n"],
  ["on", "off"],
  ["ja", "nein"],
  ["ja", "nee"],
  ["j", "n"],
  ["oui", "non"],
  ["o", "n"],
  ["sí", "no"],
  ["si", "no"],
  ["sim", "não"],
  ["s", "n"],
];

export interface BooleanWords {
  /** As the column writes them. */
  readonly trues: readonly string[];
  readonly falses: readonly string[];
}

/** undefined where the texts are no such pair. */
export function findBooleanWords(texts: readonly string[]): BooleanWords | undefined {
  const words = [...new Set(texts.map((text) => text.trim()))];
  if (words.length === 0) return undefined;
  const pair = pairs.find((two) => words.every((word) => two.includes(word.toLowerCase())));
  if (pair === undefined) return undefined;
  const of = (side: string): string[] =>
    words.filter((word) => word.toLowerCase() === side).toSorted();
  // A column that shows one of the two so far may have the other further down.
  const orPlain = (found: readonly string[], side: string): readonly string[] =>
    found.length > 0 ? found : [side];
  return { trues: orPlain(of(pair[0]), pair[0]), falses: orPlain(of(pair[1]), pair[1]) };
}
