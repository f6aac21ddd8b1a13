import type Snowball from "snowball-stemmers";
import { LatePackage } from "../base/late-package.ts";
import {
  stemFrench,
  stemGerman,
  stemItalian,
  stemPortuguese,
  stemSpanish,
} from "./light-stemmers.ts";
import { stemArabic, stemHindi, stemSorani } from "./suffix-stemmers.ts";

type Stemmer = (word: string) => string;

const snowball = new LatePackage<typeof Snowball>("snowball-stemmers");

/** Stemmers of the `fulltext` and `ngram` tokenizers by base language (reference/dql 2.4); others are not stemmed. */
const stemmers = new Map<string, () => Stemmer>([
  ["ar", () => stemArabic],
  ["ckb", () => stemSorani],
  ["da", () => snowballStemmer("danish")],
  ["de", () => stemGerman],
  ["en", () => snowballStemmer("porter")],
  ["es", () => stemSpanish],
  ["fi", () => snowballStemmer("finnish")],
  ["fr", () => stemFrench],
  ["hi", () => stemHindi],
  ["hu", () => snowballStemmer("hungarian")],
  ["it", () => stemItalian],
  ["nl", () => snowballStemmer("dutch")],
  ["no", () => snowballStemmer("norwegian")],
  ["pt", () => stemPortuguese],
  ["ro", () => snowballStemmer("romanian")],
  ["ru", () => snowballStemmer("russian")],
  ["sv", () => snowballStemmer("swedish")],
  ["tr", () => snowballStemmer("turkish")],
]);

const made = new Map<string, Stemmer>();

/** undefined: words of the language stay as they are. */
export function stemmerOf(base: string): Stemmer | undefined {
  const known = made.get(base);
  if (known !== undefined) return known;
  const stemmer = stemmers.get(base)?.();
  if (stemmer !== undefined) made.set(base, stemmer);
  return stemmer;
}

function snowballStemmer(algorithm: string): Stemmer {
  const stemmer = snowball.load().newStemmer(algorithm);
  return (word) => stemmer.stem(word);
}
