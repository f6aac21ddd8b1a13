/**
 * Values to index tokens. In: a tokenizer's name, a value, a language. Out: the bytes of the tokens, ordered as
 * the values are where the tokenizer is sortable. Never here: reading an index.
 * Source: reference/dql 2.4; numbers and dates keep full precision (reference/storage 5).
 */
import { assert } from "../base/assert.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { ConversionError } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import { isVectorIndex } from "../model/definition.ts";
import type { Value, ValueKind } from "../model/value.ts";
import { queryShinglesOf, shinglesOf, stemsOf, termsOf } from "./analysis.ts";
import { checkGeoIndexable, geoTokens } from "./geo-cells.ts";
import { bigFloatToken, boolToken, dateTimeToken, floatToken, intToken } from "./number-tokens.ts";
import { exactToken, hashToken, sha256Tokens, textToken, trigramTokens } from "./text-tokens.ts";

/** One way to cut values into tokens: all that the rest of the server asks of a tokenizer. */
export interface Tokenizer {
  /** As `@index` says it. */
  readonly name: string;
  /** The only kind of predicate that it may stand on. */
  readonly kind: ValueKind;
  /** Its tokens order as the values do. One sortable tokenizer per predicate. */
  readonly sortable: boolean;
  /** A token may be shared by different values: what it finds is compared with the value. */
  readonly lossy: boolean;
  /** Each value has one token. */
  readonly single: boolean;
  /**
   * Tokens of long texts are cut and closed by a hash (`isCutToken`): they tell the value no more, and are not in the
   * order of the texts.
   */
  readonly cutsLong: boolean;
  /**
   * How the tokens of one text in all languages are found. ranges: the language stands before the text. prefix: it
   * stands behind. undefined: not at all.
   */
  readonly acrossLanguages: "ranges" | "prefix" | undefined;
  /**
   * Raised when the tokens of any value change. It is stored with each index; one of another version is built anew
   * (`SchemaChanges.renewIndexes`). Reserved predicates are not renewed: `exact`, `hash` and `sha256` stay at 1.
   */
  readonly version: number;
  /** Distinct, in no particular order; as `tokensOf`. */
  readonly tokens: (value: Value, language: string) => Uint8Array[];
  /** Of tokens that are texts, cut by `textToken`: those texts. */
  readonly texts?: (value: Value, language: string) => readonly string[];
  /** Where a query looks for other tokens than a value has; as `texts`. */
  readonly queryTexts?: (value: Value, language: string) => readonly string[];
  /** What has to fit a token of the reference: its longest word decides whether a text is refused. */
  readonly words?: (text: string) => readonly string[];
  /** Refuses a new value that has no place in the index. Throws ConversionError. */
  readonly check?: (value: Value) => void;
}

type Traits = Pick<Tokenizer, "sortable" | "lossy" | "single" | "cutsLong" | "acrossLanguages">;

const precise: Traits = {
  sortable: true,
  lossy: false,
  single: true,
  cutsLong: false,
  acrossLanguages: undefined,
};
const whole: Traits = { ...precise, sortable: false };
const searchable: Traits = { ...whole, lossy: true, single: false };

/** Its value is converted to the kind first. */
function numeric(name: string, kind: ValueKind, traits: Traits): Tokenizer {
  const tokens = (value: Value): Uint8Array[] =>
    numberTokens(value.kind === kind ? value : convertValue(value, kind));
  return { name, kind, ...traits, version: 1, tokens };
}

/** Its tokens are texts. */
function textual(
  name: string,
  texts: NonNullable<Tokenizer["texts"]>,
  more: Partial<Tokenizer> = {},
): Tokenizer {
  const tokens = (value: Value, language: string): Uint8Array[] =>
    texts(value, language).map(textToken);
  return { name, kind: "string", ...searchable, version: 1, tokens, texts, ...more };
}

const all: readonly Tokenizer[] = [
  numeric("int", "int", precise),
  numeric("float", "float", precise),
  numeric("bool", "bool", whole),
  numeric("bigfloat", "bigfloat", precise),
  numeric("year", "datetime", precise),
  numeric("month", "datetime", precise),
  numeric("day", "datetime", precise),
  numeric("hour", "datetime", precise),
  {
    ...numeric("geo", "geo", searchable),
    check: (value) => {
      if (value.kind === "geo") checkGeoIndexable(value.geometry);
    },
  },
  {
    name: "exact",
    kind: "string",
    ...precise,
    cutsLong: true,
    acrossLanguages: "ranges",
    version: 1,
    tokens: (value, language) => [exactToken(textOf(value), language)],
    words: (text) => [text],
  },
  {
    name: "hash",
    kind: "string",
    ...whole,
    acrossLanguages: "prefix",
    version: 1,
    tokens: (value, language) => [hashToken(textOf(value), language)],
  },
  textual("term", (value, language) => termsOf(textOf(value), language), { words: plainTerms }),
  textual("fulltext", (value, language) => distinct(stemsOf(textOf(value), language)), {
    words: plainTerms,
  }),
  {
    name: "trigram",
    kind: "string",
    ...searchable,
    version: 1,
    tokens: (value) => trigramTokens(textOf(value)),
  },
  textual("ngram", (value, language) => shinglesOf(textOf(value), language), {
    queryTexts: (value, language) => queryShinglesOf(textOf(value), language),
  }),
  {
    name: "sha256",
    kind: "string",
    ...whole,
    single: false,
    version: 1,
    tokens: (value) => sha256Tokens(textOf(value)),
  },
];

/** Every name that `@index` takes but that of vectors. */
export const tokenizers: ReadonlyMap<string, Tokenizer> = new Map(
  all.map((tokenizer) => [tokenizer.name, tokenizer]),
);

/** undefined for an index of vectors. */
export function tokenizerOf(index: { readonly tokenizer: string }): Tokenizer | undefined {
  const tokenizer = tokenizers.get(index.tokenizer);
  assert(tokenizer !== undefined || isVectorIndex(index), "the tokenizer is known");
  return tokenizer;
}

/** Whether a token of the index stands for one value, and the value for that token alone. */
export function isIdentifying(index: { readonly tokenizer: string }): boolean {
  const tokenizer = tokenizerOf(index);
  return tokenizer !== undefined && tokenizer.single && !tokenizer.lossy;
}

/** The version of a tokenizer's tokens; 1 for vectors, of which nothing is stored. */
export function tokenVersionOf(name: string): number {
  return tokenizers.get(name)?.version ?? 1;
}

/**
 * The distinct tokens under which a node with the value is found, in no particular order. The value is converted to
 * the tokenizer's kind first. `language` is the value's tag, "" for none.
 * Throws ConversionError where the value has no place in the index (geometries, failed conversions).
 */
export function tokensOf(name: string, value: Value, language: string): Uint8Array[] {
  return tokenizerOf({ tokenizer: name })?.tokens(value, language) ?? [];
}

function numberTokens(value: Value): Uint8Array[] {
  switch (value.kind) {
    case "int":
      return [intToken(value.int)];
    case "float":
      return [floatToken(value.float)];
    case "bool":
      return [boolToken(value.bool)];
    case "bigfloat":
      return [bigFloatToken(value.big)];
    case "datetime":
      return [dateTimeToken(value.time)];
    case "geo":
      return geoTokens(value.geometry);
    default:
      assert(false, "only numbers, dates and geometries come here");
  }
}

/** Passwords, vectors and the like have no text to index. */
function textOf(value: Value): string {
  if (value.kind === "string" || value.kind === "default") return value.text;
  const converted = convertValue(value, "string");
  return converted.kind === "string" ? converted.text : "";
}

function plainTerms(text: string): readonly string[] {
  return termsOf(text, "");
}

/** Texts of a few words need no table. */
function distinct(words: readonly string[]): readonly string[] {
  if (words.length > fewWords) return [...new Set(words)];
  const found: string[] = [];
  for (const word of words) if (!found.includes(word)) found.push(word);
  return found;
}

const fewWords = 24;

/**
 * The tokens that a query looks for. `eq`: all of them must be there (of a sortable or whole tokenizer there is one).
 * Term and text functions: all or any. `ngram`: any. An empty result finds nothing.
 */
export function tokensOfQuery(name: string, value: Value, language: string): Uint8Array[] {
  const tag = language === "." ? "" : language;
  const texts = tokenizers.get(name)?.queryTexts;
  return texts === undefined ? tokensOf(name, value, tag) : texts(value, tag).map(textToken);
}

/** Longest token and predicate together, as the reference has it (reference/dql 3.2). */
const tokenBytesMax = 65_000;

/**
 * Refuses a new value that an index cannot take, without making its tokens: a geometry that is neither point nor
 * area, and a text that the reference could not index (`value in the mutation is too large for the index`; one of
 * many words is fine, hashes and trigrams are always short). The value has the predicate's kind.
 */
export function checkIndexable(tokenizer: string, value: Value, predicate: string): void {
  tokenizers.get(tokenizer)?.check?.(value);
  checkTokenLength(tokenizer, value, predicate);
}

/** The part of `checkIndexable` that values which are removed are held to as well. */
export function checkTokenLength(tokenizer: string, value: Value, predicate: string): void {
  if (value.kind !== "string" && value.kind !== "default") return;
  if ((value.text.length + predicate.length) * 3 <= tokenBytesMax) return;
  const limit = tokenBytesMax - encodeUtf8(predicate).length;
  if (value.text.length * 3 <= limit || encodeUtf8(value.text).length <= limit) return;
  const words = tokenizers.get(tokenizer)?.words?.(value.text) ?? [];
  // The reference's token begins with a byte of its own.
  if (words.every((word) => encodeUtf8(word).length + 1 <= limit)) return;
  throw new ConversionError("value in the mutation is too large for the index");
}
