import { stopwords as armenian } from "@orama/stopwords/armenian";
import { stopwords as danish } from "@orama/stopwords/danish";
import { stopwords as dutch } from "@orama/stopwords/dutch";
import { stopwords as english } from "@orama/stopwords/english";
import { stopwords as finnish } from "@orama/stopwords/finnish";
import { stopwords as french } from "@orama/stopwords/french";
import { stopwords as german } from "@orama/stopwords/german";
import { stopwords as greek } from "@orama/stopwords/greek";
import { stopwords as indonesian } from "@orama/stopwords/indonesian";
import { stopwords as irish } from "@orama/stopwords/irish";
import { stopwords as italian } from "@orama/stopwords/italian";
import { stopwords as norwegian } from "@orama/stopwords/norwegian";
import { stopwords as portuguese } from "@orama/stopwords/portuguese";
import { stopwords as russian } from "@orama/stopwords/russian";
import { stopwords as swedish } from "@orama/stopwords/swedish";
import { stopWordTexts } from "./stop-word-lists.ts";

const packaged: Readonly<Record<string, readonly string[]>> = {
  da: danish,
  de: german,
  el: greek,
  // The package's English list has verbs which are words to search for here, and lacks the article.
  en: withChanges(english, ["a"], ["us", "will", "shall", "can", "may", "might", "must"]),
  fi: withChanges(finnish, ["tallä", "tuotä"], ["tällä", "tuota"]),
  fr: withChanges(french, [], [""]),
  ga: withChanges(irish, ["b'", "d'", "m'"], ["b", "d", "m"]),
  hy: armenian,
  id: indonesian,
  it: italian,
  nl: dutch,
  no: norwegian,
  pt: portuguese,
  ru: russian,
  sv: swedish,
};

function withChanges(
  words: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): readonly string[] {
  return [...words.filter((word) => !removed.includes(word)), ...added];
}

const none: ReadonlySet<string> = new Set();
const sets = new Map<string, ReadonlySet<string>>();

/** Words that full text leaves out, by base language (reference/dql 2.4); empty for languages without a list. */
export function stopWordsOf(base: string): ReadonlySet<string> {
  const known = sets.get(base);
  if (known !== undefined) return known;
  const words = packaged[base] ?? stopWordTexts[base]?.trim().split(/\s+/);
  if (words === undefined) return none;
  const set = new Set(words);
  sets.set(base, set);
  return set;
}
