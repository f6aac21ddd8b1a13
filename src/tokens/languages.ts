/** The language that untagged texts and unknown tags are treated as. */
export const defaultLanguage = "en";

/** Made with the first tag: it takes longer than a hundred modules. */
let names: Intl.DisplayNames | undefined;
const bases = new Map<string, string>();

/** Bounds the cache: tags come from clients. */
const cacheMax = 1000;

/** The base language of a tag (`en-GB` → `en`); "", "." and what is no language are English (reference/dql 2.4). */
export function languageBase(tag: string): string {
  const known = bases.get(tag);
  if (known !== undefined) return known;
  const base = findBase(tag) ?? defaultLanguage;
  if (bases.size >= cacheMax) bases.clear();
  bases.set(tag, base);
  return base;
}

/** Whether a tag names a language that is known. */
export function isLanguage(tag: string): boolean {
  return findBase(tag) !== undefined;
}

function findBase(tag: string): string | undefined {
  const base = /^([a-zA-Z]{2,3})(?:[-_][a-zA-Z0-9]{1,8})*$/.exec(tag)?.[1]?.toLowerCase();
  if (base === undefined) return undefined;
  names ??= new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
  return names.of(base) === undefined ? undefined : base;
}

/** Languages whose terms are parted by blanks alone (reference/dql 2.4). */
export const blankSplitLanguages: ReadonlySet<string> = new Set([
  "zh",
  "ja",
  "th",
  "lo",
  "my",
  "bo",
  "km",
  "kxm",
]);
