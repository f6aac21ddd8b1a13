/**
 * CRAFT: values to index tokens. In: a tokenizer's name, a value, a language. Out: the bytes of the tokens, ordered as
 * the values are where the tokenizer is sortable. Never here: reading an index.
 * Source: dql.md 2.4; numbers and dates keep full precision (architecture 3.3).
 */
import { assert } from "../base/assert.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { ConversionError } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import type { Value, ValueKind } from "../model/value.ts";
import { queryShinglesOf, shinglesOf, stemsOf, termsOf } from "./analysis.ts";
import { checkGeoIndexable, geoTokens } from "./geo-cells.ts";
import { bigFloatToken, boolToken, dateTimeToken, floatToken, intToken } from "./number-tokens.ts";
import { exactToken, hashToken, sha256Tokens, textToken, trigramTokens } from "./text-tokens.ts";

interface Tokenizer {
  readonly name: string;
  /** The only kind of predicate that it may stand on. */
  readonly kind: ValueKind;
  /** Its tokens order as the values do. One sortable tokenizer per predicate. */
  readonly sortable: boolean;
  /** A token may be shared by different values: what it finds is compared with the value. */
  readonly lossy: boolean;
  /** Raised when its tokens change; an index of another version is built anew. */
  readonly version: number;
}

function makeTokenizer(
  name: string,
  kind: ValueKind,
  traits: { readonly sortable: boolean; readonly lossy: boolean },
): Tokenizer {
  return { name, kind, ...traits, version: 1 };
}

const precise = { sortable: true, lossy: false };
const searchable = { sortable: false, lossy: true };
const whole = { sortable: false, lossy: false };

/** Every name that `@index` takes but `hnsw`, which is no tokenizer. */
export const tokenizers: ReadonlyMap<string, Tokenizer> = new Map(
  [
    makeTokenizer("int", "int", precise),
    makeTokenizer("float", "float", precise),
    makeTokenizer("bool", "bool", whole),
    makeTokenizer("bigfloat", "bigfloat", precise),
    makeTokenizer("year", "datetime", precise),
    makeTokenizer("month", "datetime", precise),
    makeTokenizer("day", "datetime", precise),
    makeTokenizer("hour", "datetime", precise),
    makeTokenizer("geo", "geo", searchable),
    makeTokenizer("exact", "string", precise),
    makeTokenizer("hash", "string", whole),
    makeTokenizer("term", "string", searchable),
    makeTokenizer("fulltext", "string", searchable),
    makeTokenizer("trigram", "string", searchable),
    makeTokenizer("ngram", "string", searchable),
    makeTokenizer("sha256", "string", whole),
  ].map((tokenizer) => [tokenizer.name, tokenizer]),
);

/**
 * The distinct tokens under which a node with the value is found, in no particular order. The value is converted to
 * the tokenizer's kind first. `language` is the value's tag, "" for none.
 * Throws ConversionError where the value has no place in the index (geometries, failed conversions).
 */
export function tokensOf(tokenizer: string, value: Value, language: string): Uint8Array[] {
  switch (tokenizer) {
    case "exact":
      return [exactToken(textOf(value), language)];
    case "hash":
      return [hashToken(textOf(value), language)];
    case "term":
    case "fulltext":
    case "ngram":
      return tokenTexts(tokenizer, value, language).map(textToken);
    case "trigram":
      return trigramTokens(textOf(value));
    case "sha256":
      return sha256Tokens(textOf(value));
    case "hnsw":
      // Not a tokenizer: vectors are compared, never looked up.
      return [];
    default:
      return tokensOfNumber(tokenizer, value);
  }
}

/** Tokenizers whose tokens are texts (`tokenTexts`). */
type TextTokenizer = "term" | "fulltext" | "ngram";

export function isTextTokenizer(tokenizer: string): tokenizer is TextTokenizer {
  return tokenizer === "term" || tokenizer === "fulltext" || tokenizer === "ngram";
}

/** As `tokensOf`, before each becomes bytes (`textToken`): a few words make up most texts, and callers may know them. */
export function tokenTexts(
  tokenizer: TextTokenizer,
  value: Value,
  language: string,
): readonly string[] {
  const text = textOf(value);
  switch (tokenizer) {
    case "term":
      return termsOf(text, language);
    case "fulltext":
      return distinct(stemsOf(text, language));
    case "ngram":
      return shinglesOf(text, language);
  }
}

function tokensOfNumber(tokenizer: string, value: Value): Uint8Array[] {
  const kind = tokenizers.get(tokenizer)?.kind;
  assert(kind !== undefined, "the tokenizer is known");
  const converted = value.kind === kind ? value : convertValue(value, kind);
  switch (converted.kind) {
    case "int":
      return [intToken(converted.int)];
    case "float":
      return [floatToken(converted.float)];
    case "bool":
      return [boolToken(converted.bool)];
    case "bigfloat":
      return [bigFloatToken(converted.big)];
    case "datetime":
      return [dateTimeToken(converted.time)];
    case "geo":
      return geoTokens(converted.geometry);
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
export function tokensOfQuery(tokenizer: string, value: Value, language: string): Uint8Array[] {
  const tag = language === "." ? "" : language;
  if (tokenizer === "ngram") return queryShinglesOf(textOf(value), tag).map(textToken);
  return tokensOf(tokenizer, value, tag);
}

/** Longest token and predicate together, as the reference has it (dql.md 3.2). */
const tokenBytesMax = 65_000;

/**
 * Refuses a new value that an index cannot take, without making its tokens: a geometry that is neither point nor
 * area, and a text that the reference could not index (`value in the mutation is too large for the index`; one of
 * many words is fine, hashes and trigrams are always short). The value has the predicate's kind.
 */
export function checkIndexable(tokenizer: string, value: Value, predicate: string): void {
  if (tokenizer === "geo" && value.kind === "geo") checkGeoIndexable(value.geometry);
  checkTokenLength(tokenizer, value, predicate);
}

/** The part of `checkIndexable` that values which are removed are held to as well. */
export function checkTokenLength(tokenizer: string, value: Value, predicate: string): void {
  if (value.kind !== "string" && value.kind !== "default") return;
  if ((value.text.length + predicate.length) * 3 <= tokenBytesMax) return;
  const limit = tokenBytesMax - encodeUtf8(predicate).length;
  if (value.text.length * 3 <= limit || encodeUtf8(value.text).length <= limit) return;
  if (!isLongest(tokenizer, value.text, limit)) return;
  throw new ConversionError("value in the mutation is too large for the index");
}

function isLongest(tokenizer: string, text: string, limit: number): boolean {
  if (tokenizer !== "exact" && tokenizer !== "term" && tokenizer !== "fulltext") return false;
  const words = tokenizer === "exact" ? [text] : termsOf(text, "");
  // The reference's token begins with a byte of its own.
  return words.some((word) => encodeUtf8(word).length + 1 > limit);
}
