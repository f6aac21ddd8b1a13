/** Value changes → index patches: tokens that a node's values had and have (architecture 3.3). */
import { tokenList } from "../codec/key.ts";
import type { Predicate, PredicateIndex } from "../graph/schema.ts";
import { asFault } from "../model/conversion-error.ts";
import { indexTokens, storedTokens } from "../graph/value-tokens.ts";
import type { TaggedValue } from "../graph/value-tokens.ts";
import type { MemberPatch, Patch } from "../store/store.ts";

/** What happens to the values of one node's predicate. `kept` is asked only when a token goes. */
export interface ValueChange {
  readonly added: readonly TaggedValue[];
  readonly removed: readonly TaggedValue[];
  kept(): Iterable<TaggedValue>;
}

/** Where tokens belong. */
interface TokenPlace {
  readonly storageId: number;
  readonly uid: number;
  readonly predicate: Predicate;
}

/** Appends the patches of a value's tokens in one index, where nothing goes. A value that cannot be indexed is refused. */
export function addTokens(
  patches: Patch[],
  place: TokenPlace,
  index: PredicateIndex,
  held: TaggedValue,
): readonly Uint8Array[] {
  const tokens = asFault("E_MUTATION_FACTS", () => indexTokens(place.predicate, index, held));
  for (const token of tokens) patches.push(makePatch(place, index, token, true));
  return tokens;
}

/** Tokens by their latin1 text. */
type Tokens = Map<string, Uint8Array>;

/** Appends the patches of one node's predicate for all its indexes. New values that cannot be indexed are refused. */
export function deriveTokens(patches: MemberPatch[], place: TokenPlace, change: ValueChange): void {
  for (const index of place.predicate.indexes) {
    if (index.tokenizer === "hnsw") continue;
    const added = asFault("E_MUTATION_FACTS", () => collect(place.predicate, index, change.added));
    const removed = collectLenient(place.predicate, index, change.removed);
    for (const text of added.keys()) {
      if (removed.delete(text)) added.delete(text);
    }
    if (removed.size > 0) {
      for (const kept of change.kept()) {
        for (const text of collectLenient(place.predicate, index, [kept]).keys()) {
          removed.delete(text);
        }
        if (removed.size === 0) break;
      }
    }
    for (const token of removed.values()) patches.push(makePatch(place, index, token, false));
    for (const token of added.values()) patches.push(makePatch(place, index, token, true));
  }
}

function collect(
  predicate: Predicate,
  index: PredicateIndex,
  values: readonly TaggedValue[],
): Tokens {
  const tokens: Tokens = new Map();
  for (const tagged of values) {
    for (const token of indexTokens(predicate, index, tagged)) tokens.set(toText(token), token);
  }
  return tokens;
}

/** Of stored values: what the index could not take when it was built has no tokens there. */
function collectLenient(
  predicate: Predicate,
  index: PredicateIndex,
  values: readonly TaggedValue[],
): Tokens {
  const tokens: Tokens = new Map();
  for (const tagged of values) {
    for (const token of storedTokens(predicate, index, tagged)) tokens.set(toText(token), token);
  }
  return tokens;
}

function makePatch(
  place: { readonly storageId: number; readonly uid: number },
  index: PredicateIndex,
  token: Uint8Array,
  add: boolean,
): MemberPatch {
  return {
    kind: "member",
    list: tokenList(place.storageId, index.id, token),
    member: place.uid,
    add,
    facets: undefined,
    countIndex: 0,
    owner: 0,
  };
}

function toText(token: Uint8Array): string {
  let text = "";
  for (let i = 0; i < token.length; i++) text += String.fromCharCode(token[i]!);
  return text;
}
