import { compareText } from "../src/model/text-order.ts";
import type { Value } from "../src/model/value.ts";
import { fingerprintValue } from "../src/tokens/fingerprint.ts";
import { tokensOf } from "../src/tokens/tokenizers.ts";
import type { BenchFile } from "./harness.ts";

const sentence = "The lighthouse keepers of the old harbour were reading by candle light";

/** Tokens of a value for each tokenizer, and the order of texts. */
export const benches: BenchFile = (size) => {
  const texts = Array.from({ length: size }, (_, i) => `${sentence} ${String(i % 997)}`);
  const values: Value[] = texts.map((text) => ({ kind: "string", text }));
  const umlauts: Value[] = texts.map((text) => ({ kind: "string", text: `${text} Häfen` }));
  const ints: Value[] = texts.map((_, i) => ({ kind: "int", int: i * 7919 }));
  const geometries: Value[] = texts.map((_, i) => ({
    kind: "geo",
    geometry: { type: "Point", coordinates: [(i % 360) - 180, (i % 170) - 85] },
  }));
  const tokens = (tokenizer: string, of: readonly Value[], language = ""): (() => number) => {
    return () => of.reduce((sum, value) => sum + tokensOf(tokenizer, value, language).length, 0);
  };
  return [
    { name: "int", count: size, run: tokens("int", ints) },
    { name: "exact", count: size, run: tokens("exact", values) },
    { name: "hash", count: size, run: tokens("hash", values) },
    { name: "term, 12 words", count: size, run: tokens("term", values) },
    { name: "term, 13 words not ASCII", count: size, run: tokens("term", umlauts) },
    { name: "fulltext, English", count: size, run: tokens("fulltext", values) },
    { name: "fulltext, German", count: size, run: tokens("fulltext", umlauts, "de") },
    { name: "trigram", count: size, run: tokens("trigram", values) },
    { name: "geo, a point", count: size, run: tokens("geo", geometries) },
    {
      name: "fingerprint of a text",
      count: size,
      run: () => values.reduce((sum, value) => sum + fingerprintValue(value).length, 0),
    },
    {
      name: "compareText, equal for 70 characters",
      count: size - 1,
      run: () =>
        texts.reduce((sum, text, i) => sum + Math.sign(compareText(text, texts[i - 1] ?? "")), 0),
    },
  ];
};
