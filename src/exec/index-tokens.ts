/** Which tokens of an index a function looks for. */
import type { PredicateIndex } from "../graph/schema.ts";
import type { TokenRange } from "../graph/reader.ts";
import { Fault } from "../model/fault.ts";
import type { Value } from "../model/value.ts";
import type { CompareOperator, PredicateUse, SlotIndex } from "../plan/plan.ts";
import { exactPrefix, isCutToken } from "../tokens/text-tokens.ts";
import { slotText, type Run } from "./run.ts";
import { tokenizerOf, tokensOf, tokensOfQuery } from "../tokens/tokenizers.ts";

/** The tag whose tokens a function sees; undefined for any ("."). Predicates without @lang have one kind of tokens. */
export function tagOf(use: PredicateUse): string | undefined {
  if (use.predicate?.definition.lang !== true) return "";
  const tag = use.languages[0] ?? "";
  return tag === "." ? undefined : tag;
}

/** Tokens that nodes with the value all have. */
export function equalityTokens(
  index: PredicateIndex,
  value: Value,
  use: PredicateUse,
): readonly Uint8Array[] {
  return tokensOf(index.tokenizer, value, tagOf(use) ?? "");
}

/** Whether the members of one token of eq are the answer, and need no look at their values. */
export function isWholeToken(index: PredicateIndex, use: PredicateUse): boolean {
  return tokenizerOf(index)?.lossy === false && tagOf(use) !== undefined;
}

export { isCutToken };

/** Whether tokens of long values do not tell them (`isCutToken`). */
export function cutsLong(index: PredicateIndex): boolean {
  return tokenizerOf(index)?.cutsLong === true;
}

/** Characters of a text whose words are looked for: they are found in one piece, in some 30 ms. */
const wordsTextMax = 65_536;

/** The text that a words function was given. Throws Fault E_LIMIT for a long one. */
export function wordsText(run: Run, name: string, slot: SlotIndex): string {
  const text = slotText(run, slot);
  if (text.length <= wordsTextMax) return text;
  throw new Fault("E_LIMIT", `the text of ${name} has more than ${wordsTextMax} characters`);
}

/** Tokens of a words function; `isStored` for those of a value instead of the question. */
export function termTokens(
  call: { readonly use: PredicateUse; readonly index: PredicateIndex },
  text: string,
  isStored = false,
): readonly Uint8Array[] {
  const value: Value = { kind: "string", text };
  const tag = call.use.languages[0] ?? "";
  return isStored
    ? tokensOf(call.index.tokenizer, value, tag === "." ? "" : tag)
    : tokensOfQuery(call.index.tokenizer, value, tag);
}

/** The tokens of a range, wide enough to hold every match (both ends belong to it). */
export function rangeOf(
  index: PredicateIndex,
  operator: CompareOperator,
  bounds: readonly Value[],
  use: PredicateUse,
): TokenRange {
  const tag = tagOf(use) ?? "";
  const [low, high] = bounds.map((bound) => tokensOf(index.tokenizer, bound, tag)[0]);
  const whole = languageRange(index, tag);
  switch (operator) {
    case "eq":
      return { from: low, to: low };
    case "lt":
    case "le":
      return { from: whole.from, to: low };
    case "gt":
    case "ge":
      return { from: low, to: whole.to };
    case "between":
      return { from: low, to: high };
  }
}

/** All tokens of one language of an `exact` index; all tokens of others. */
export function languageRange(index: PredicateIndex, tag: string): TokenRange {
  if (index.tokenizer !== "exact") return { from: undefined, to: undefined };
  const from = exactPrefix(tag);
  const to = new Uint8Array(from.length + 1);
  to.set(from);
  // UTF-8 never has 0xff, so it stands behind every text of the language.
  to[from.length] = 0xff;
  return { from, to };
}

/** Whether two tokens are the same bytes. */
export function isSameToken(a: Uint8Array, b: Uint8Array | undefined): boolean {
  if (b === undefined || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
