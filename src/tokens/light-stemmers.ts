/**
 * Light stemmers after Jacques Savoy: they cut the endings of number and gender, and leave short words alone
 * (reference/dql 2.4: `niño` and `niños` stay two words). Words are lower-case and in composed form (NFKC).
 */

type Stemmer = (word: string) => string;

const aVowels = /[àáâä]/g;
const eVowels = /[èéêë]/g;
const iVowels = /[ìíîï]/g;
const oVowels = /[òóôö]/g;
const uVowels = /[ùúûü]/g;

function plainVowels(word: string): string {
  return word
    .replace(aVowels, "a")
    .replace(eVowels, "e")
    .replace(iVowels, "i")
    .replace(oVowels, "o")
    .replace(uVowels, "u");
}

/** Length in code points. */
function lengthOf(word: string): number {
  let length = 0;
  for (let i = 0; i < word.length; i++) if ((word.charCodeAt(i) & 0xfc00) !== 0xdc00) length++;
  return length;
}

export const stemSpanish: Stemmer = (word) => {
  if (lengthOf(word) < 5) return word;
  if (/[oae]$/.test(word)) return word.slice(0, -1);
  if (word.endsWith("eses")) return word.slice(0, -2);
  if (word.endsWith("ces")) return word.slice(0, -3) + "z";
  if (/[oae]s$/.test(word)) return word.slice(0, -2);
  return word;
};

export const stemItalian: Stemmer = (word) => {
  if (lengthOf(word) < 6) return word;
  const plain = plainVowels(word);
  if (/(?:[ih]e|[hi]i|ia|io)$/.test(plain)) return plain.slice(0, -2);
  return /[eiao]$/.test(plain) ? plain.slice(0, -1) : plain;
};

export const stemGerman: Stemmer = (word) => {
  const plain = word
    .replace(aVowels, "a")
    .replace(oVowels, "o")
    .replace(/[ïìíî]/g, "i")
    .replace(uVowels, "u");
  return cutGermanDegree(cutGermanCase(plain));
};

function cutGermanCase(word: string): string {
  const length = lengthOf(word);
  if (length > 5 && word.endsWith("ern")) return word.slice(0, -3);
  if (length > 4 && /e[mnrs]$/.test(word)) return word.slice(0, -2);
  if (length > 3 && word.endsWith("e")) return word.slice(0, -1);
  if (length > 3 && /[bdfghklmnt]s$/.test(word)) return word.slice(0, -1);
  return word;
}

function cutGermanDegree(word: string): string {
  const length = lengthOf(word);
  if (length > 5 && word.endsWith("est")) return word.slice(0, -3);
  if (length > 4 && /e[rn]$/.test(word)) return word.slice(0, -2);
  if (length > 4 && /[bdfghklmnt]st$/.test(word)) return word.slice(0, -2);
  return word;
}

export const stemPortuguese: Stemmer = (word) => {
  if (lengthOf(word) < 4) return word;
  let stem = cutPortuguesePlural(word);
  if (lengthOf(stem) > 3 && stem.endsWith("a")) stem = toPortugueseMasculine(stem);
  if (lengthOf(stem) > 4 && /[eao]$/.test(stem)) stem = stem.slice(0, -1);
  return plainVowels(stem).replace(/ã/g, "a").replace(/õ/g, "o").replace(/ç/g, "c");
};

function cutPortuguesePlural(word: string): string {
  const length = lengthOf(word);
  if (length > 4 && /[rslz]es$/.test(word)) return word.slice(0, -2);
  if (length > 3 && word.endsWith("ns")) return word.slice(0, -2) + "m";
  if (length > 4 && /[eé]is$/.test(word)) return word.slice(0, -3) + "el";
  if (length > 4 && word.endsWith("ais")) return word.slice(0, -2) + "l";
  if (length > 4 && word.endsWith("óis")) return word.slice(0, -3) + "ol";
  if (length > 4 && word.endsWith("is")) return word.slice(0, -1) + "l";
  if (length > 3 && /[õã]es$/.test(word)) return word.slice(0, -3) + "ão";
  if (length > 6 && word.endsWith("mente")) return word.slice(0, -5);
  return length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
}

function toPortugueseMasculine(word: string): string {
  const length = lengthOf(word);
  if (length > 7 && /(?:inha|iaca|eira)$/.test(word)) return word.slice(0, -1) + "o";
  if (length <= 6) return word;
  if (/(?:osa|ica|ida|ada|iva|ama)$/.test(word)) return word.slice(0, -1) + "o";
  if (word.endsWith("ona")) return word.slice(0, -3) + "ão";
  if (word.endsWith("ora")) return word.slice(0, -1);
  if (word.endsWith("esa")) return word.slice(0, -3) + "ês";
  return word.endsWith("na") ? word.slice(0, -1) + "o" : word;
}

/** A word longer than `over` that ends in `ending` gets `put` instead; the first that fits ends the list. */
interface FrenchRule {
  readonly over: number;
  readonly ending: string;
  readonly put: string;
}

const frenchRules: readonly FrenchRule[] = [
  { over: 9, ending: "issement", put: "ir" },
  { over: 8, ending: "issant", put: "ir" },
  { over: 7, ending: "ivement", put: "if" },
  { over: 6, ending: "ement", put: "e" },
  { over: 11, ending: "ficatrice", put: "fier" },
  { over: 10, ending: "ficateur", put: "fier" },
  { over: 9, ending: "catrice", put: "quer" },
  { over: 8, ending: "cateur", put: "quer" },
  { over: 8, ending: "atrice", put: "er" },
  { over: 7, ending: "ateur", put: "er" },
];

const laterFrenchRules: readonly FrenchRule[] = [
  { over: 5, ending: "ième", put: "" },
  { over: 7, ending: "teuse", put: "ter" },
  { over: 6, ending: "teur", put: "ter" },
  { over: 5, ending: "euse", put: "eu" },
  { over: 8, ending: "ère", put: "er" },
  { over: 7, ending: "ive", put: "if" },
  { over: 4, ending: "folle", put: "fou" },
  { over: 4, ending: "molle", put: "mou" },
  { over: 9, ending: "nnelle", put: "n" },
  { over: 9, ending: "nnel", put: "n" },
];

const lastFrenchRules: readonly FrenchRule[] = [
  { over: 8, ending: "esse", put: "e" },
  { over: 7, ending: "inage", put: "in" },
  { over: 9, ending: "isateur", put: "" },
  { over: 8, ending: "ation", put: "" },
  { over: 8, ending: "ition", put: "" },
];

function applyFrench(word: string, rules: readonly FrenchRule[]): string | undefined {
  const length = lengthOf(word);
  const rule = rules.find(({ over, ending }) => length > over && word.endsWith(ending));
  return rule === undefined ? undefined : word.slice(0, -rule.ending.length) + rule.put;
}

export const stemFrench: Stemmer = (word) => {
  let stem = cutFrenchPlural(word);
  const early = applyFrench(stem, frenchRules);
  if (early !== undefined) return smoothFrench(early);
  if (lengthOf(stem) > 6 && stem.endsWith("trice")) stem = stem.slice(0, -5) + "teur";
  const later = applyFrench(stem, laterFrenchRules);
  if (later !== undefined) return smoothFrench(later);
  if (lengthOf(stem) > 4 && stem.endsWith("ète")) stem = stem.slice(0, -3) + "et";
  if (lengthOf(stem) > 8 && stem.endsWith("ique")) stem = stem.slice(0, -4);
  if (lengthOf(stem) > 9 && stem.endsWith("isation")) {
    stem = stem.slice(0, -7);
    const isUal = lengthOf(stem) > 5 && stem.endsWith("ual");
    return smoothFrench(isUal ? stem.slice(0, -2) + "el" : stem);
  }
  return smoothFrench(applyFrench(stem, lastFrenchRules) ?? stem);
};

function cutFrenchPlural(word: string): string {
  let stem = word;
  if (lengthOf(stem) > 5 && stem.endsWith("x")) {
    const isAux = stem.endsWith("aux") && !stem.endsWith("eaux");
    stem = isAux ? stem.slice(0, -2) + "l" : stem.slice(0, -1);
  }
  if (lengthOf(stem) > 3 && stem.endsWith("x")) stem = stem.slice(0, -1);
  if (lengthOf(stem) > 3 && stem.endsWith("s")) stem = stem.slice(0, -1);
  return stem;
}

/** Accents and doubled letters go, then silent endings. */
function smoothFrench(word: string): string {
  let stem = word;
  if (lengthOf(stem) > 4) {
    stem = stem
      .replace(/[àáâ]/g, "a")
      .replace(/ô/g, "o")
      .replace(/[èéê]/g, "e")
      .replace(/[ùû]/g, "u")
      .replace(/î/g, "i")
      .replace(/ç/g, "c")
      .replace(/(\p{L})\1+/gu, "$1");
  }
  if (lengthOf(stem) > 4 && stem.endsWith("ie")) stem = stem.slice(0, -2);
  if (lengthOf(stem) <= 4) return stem;
  if (stem.endsWith("r")) stem = stem.slice(0, -1);
  if (stem.endsWith("e")) stem = stem.slice(0, -1);
  if (stem.endsWith("e")) stem = stem.slice(0, -1);
  return stem.replace(/(\p{L})\1$/u, "$1");
}
