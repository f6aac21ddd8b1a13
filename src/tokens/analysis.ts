import { blankSplitLanguages, languageBase } from "./languages.ts";
import { stemmerOf } from "./stemmers.ts";
import { stopWordsOf } from "./stop-words.ts";
import { splitWords, type Word } from "./words.ts";

const ascii = /^[\0-\x7f]*$/;

/**
 * Lower-case and compatibility composed form. Letter by letter, so that a word has one form wherever its letters
 * stand (final sigma, Turkish dotted I).
 */
function foldWord(word: string): string {
  if (ascii.test(word)) return word.toLowerCase();
  return word.replaceAll("İ", "i").toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

/**
 * Tokens of the `term` tokenizer, distinct: words folded. In languages written without blanks the text is parted by
 * ASCII blanks alone and not folded. The empty text has one empty term, which empty texts match (reference/dql 4.3.4).
 */
export function termsOf(text: string, language: string): string[] {
  if (text === "") return [""];
  if (language !== "" && blankSplitLanguages.has(languageBase(language))) {
    return [...new Set(text.split(" "))];
  }
  const terms = new Set<string>();
  for (const word of splitWords(text)) terms.add(foldWord(word.text));
  return [...terms];
}

/** Languages whose ideographs are indexed in pairs. */
const pairLanguages: ReadonlySet<string> = new Set(["ja", "ko", "zh"]);

/** Words of the `fulltext` pipeline in order, with repeats: folded, without stop words, stemmed (reference/dql 2.4). */
export function stemsOf(text: string, language: string): string[] {
  const base = languageBase(language);
  const words = pairLanguages.has(base) ? pairIdeographs(splitWords(text)) : splitWords(text);
  let known = knownStems.get(base);
  if (known === undefined) knownStems.set(base, (known = new Map()));
  const stems: string[] = [];
  for (const { text: word } of words) {
    let stem = known.get(word);
    if (stem === undefined) {
      stem = stemOf(word, base);
      if (known.size >= knownStemsMax) known.clear();
      if (word.length <= knownUnitsMax) known.set(word, stem);
    }
    if (stem !== false) stems.push(stem);
  }
  return stems;
}

/** By base language: words met before → their stems. An answer from here costs 50 ns, a stemmer 2 to 10 µs. */
const knownStems = new Map<string, Map<string, string | false>>();
const knownStemsMax = 20_000;
/** Longer words are views of their texts, which would be kept with them. */
const knownUnitsMax = 12;

/** False for a stop word. */
function stemOf(word: string, base: string): string | false {
  const folded = foldWord(word);
  if (stopWordsOf(base).has(folded)) return false;
  const stem = stemmerOf(base);
  return stem === undefined ? folded : stem(folded);
}

/** Runs of ideographs become overlapping pairs; one that stands alone stays. */
function pairIdeographs(words: readonly Word[]): Word[] {
  const pairs: Word[] = [];
  let run: string[] = [];
  let end = -1;
  const flush = (): void => {
    if (run.length === 1) pairs.push(makeIdeograph(run[0] ?? ""));
    for (let i = 1; i < run.length; i++)
      pairs.push(makeIdeograph((run[i - 1] ?? "") + (run[i] ?? "")));
    run = [];
  };
  for (const word of words) {
    if (!word.isIdeographic || word.at !== end) flush();
    if (word.isIdeographic) run.push(...word.text);
    else pairs.push(word);
    end = word.at + word.text.length;
  }
  flush();
  return pairs;
}

function makeIdeograph(text: string): Word {
  return { text, isIdeographic: true, at: 0 };
}

const shingleWordsMax = 4;

/** Tokens of the `ngram` tokenizer: every run of one to four stems. */
export function shinglesOf(text: string, language: string): string[] {
  const stems = stemsOf(text, language);
  const shingles = new Set<string>();
  for (let i = 0; i < stems.length; i++) {
    let shingle = "";
    for (let words = 0; words < shingleWordsMax && i + words < stems.length; words++) {
      shingle += (words === 0 ? "" : " ") + (stems[i + words] ?? "");
      shingles.add(shingle);
    }
  }
  return [...shingles];
}

const queryShingleWords = 3;

/** What `ngram(p, text)` looks for: runs of three stems, any of which suffices; one shorter run for a short text. */
export function queryShinglesOf(text: string, language: string): string[] {
  const stems = stemsOf(text, language);
  const size = Math.min(queryShingleWords, stems.length);
  const shingles = new Set<string>();
  if (size === 0) return [];
  for (let i = 0; i + size <= stems.length; i++) {
    shingles.add(stems.slice(i, i + size).join(" "));
  }
  return [...shingles];
}
