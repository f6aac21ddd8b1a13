/** Which tokens a predicate's value has in an index: for upkeep, for building, and for checking. */
import { attempt } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import type { Value } from "../model/value.ts";
import { tokenizerOf } from "../tokens/tokenizers.ts";
import type { Predicate, PredicateIndex } from "./schema.ts";

/** A value with its tag, as far as tokens are concerned. */
export interface TaggedValue {
  readonly value: Value;
  readonly language: string;
}

/**
 * A value's tokens for an index, of the predicate's kind. A stored value that a type change made unconvertible has
 * none, as in a rebuilt index. Indexes of vectors keep no tokens.
 */
export function indexTokens(
  predicate: Predicate,
  index: PredicateIndex,
  tagged: TaggedValue,
): readonly Uint8Array[] {
  const tokenizer = tokenizerOf(index);
  if (tokenizer === undefined) return [];
  const value = indexedValue(predicate, tagged.value);
  return value === undefined ? [] : tokenizer.tokens(value, tagged.language);
}

/** As indexTokens, of an index whose tokens are texts: those texts. undefined of any other. */
export function indexTexts(
  predicate: Predicate,
  index: PredicateIndex,
  tagged: TaggedValue,
): readonly string[] | undefined {
  const texts = tokenizerOf(index)?.texts;
  if (texts === undefined) return undefined;
  const value = indexedValue(predicate, tagged.value);
  return value === undefined ? [] : texts(value, tagged.language);
}

function indexedValue(predicate: Predicate, value: Value): Value | undefined {
  const { kind } = predicate.definition;
  if (kind === "uid") return undefined;
  return value.kind === kind ? value : attempt(() => convertValue(value, kind));
}

/** As indexTokens, for a value that is stored already: none where the index cannot take it. */
export function storedTokens(
  predicate: Predicate,
  index: PredicateIndex,
  tagged: TaggedValue,
): readonly Uint8Array[] {
  return attempt(() => indexTokens(predicate, index, tagged)) ?? [];
}
