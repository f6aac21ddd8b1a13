/** Value changes → index patches: tokens that a node's values had and have (reference/storage 5). */
import { must } from "../base/assert.ts";
import { isVectorIndex } from "../model/definition.ts";
import { tokenList } from "../codec/key.ts";
import type { Predicate, PredicateIndex } from "../graph/schema.ts";
import { asFault, toFault } from "../model/conversion-error.ts";
import { textToken } from "../tokens/text-tokens.ts";
import { indexTexts, indexTokens, storedTokens } from "../graph/value-tokens.ts";
import type { TaggedValue } from "../graph/value-tokens.ts";
import type { MemberPatch, Patch } from "../store/store.ts";

/** What happens to the values of one node's predicate. `kept` is asked only when a token goes. */
interface ValueChange {
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
): void {
  const { storageId, predicate } = place;
  try {
    const texts = indexTexts(predicate, index, held);
    if (texts === undefined) {
      for (const token of indexTokens(predicate, index, held)) {
        patches.push(makePatch(place, tokenList(storageId, index.id, token), true));
      }
      return;
    }
    const lists = listsOf(index, storageId);
    for (const text of texts) patches.push(makePatch(place, lists.of(text), true));
  } catch (error) {
    throw toFault("E_MUTATION_FACTS", error);
  }
}

/**
 * Lists of an index by the texts of their tokens: the words of texts come again and again, and the same key for the
 * same list is found faster by who applies the patch.
 */
class TextLists {
  readonly storageId: number;
  readonly #index: number;
  readonly #known = new Map<string, Uint8Array>();

  constructor(storageId: number, index: number) {
    this.storageId = storageId;
    this.#index = index;
  }

  of(text: string): Uint8Array {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const list = tokenList(this.storageId, this.#index, textToken(text));
    // Longer texts are views of what they were cut from, which would be kept with them.
    if (text.length <= textUnitsMax) {
      this.#known.set(text, list);
      if (++textListsKept >= textListsMax) forgetTextLists();
    }
    return list;
  }
}

/** Of all indexes: about four megabytes. */
const textListsMax = 32_768;
const textUnitsMax = 12;

let textLists = new WeakMap<PredicateIndex, TextLists>();
let textListsKept = 0;

function forgetTextLists(): void {
  textLists = new WeakMap();
  textListsKept = 0;
}

function listsOf(index: PredicateIndex, storageId: number): TextLists {
  let lists = textLists.get(index);
  if (lists?.storageId !== storageId) {
    lists = new TextLists(storageId, index.id);
    textLists.set(index, lists);
  }
  return lists;
}

/** Tokens by their latin1 text. */
type Tokens = Map<string, Uint8Array>;

/** Appends the patches of one node's predicate for all its indexes. New values that cannot be indexed are refused. */
export function deriveTokens(patches: MemberPatch[], place: TokenPlace, change: ValueChange): void {
  const { storageId } = place;
  for (const index of place.predicate.indexes) {
    if (isVectorIndex(index)) continue;
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
    for (const token of removed.values())
      patches.push(makePatch(place, tokenList(storageId, index.id, token), false));
    for (const token of added.values())
      patches.push(makePatch(place, tokenList(storageId, index.id, token), true));
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

function makePatch(place: TokenPlace, list: Uint8Array, add: boolean): MemberPatch {
  return {
    kind: "member",
    list,
    member: place.uid,
    add,
    facets: undefined,
    countIndex: 0,
    owner: 0,
  };
}

function toText(token: Uint8Array): string {
  let text = "";
  for (let i = 0; i < token.length; i++)
    text += String.fromCharCode(must(token[i], "a byte of the token"));
  return text;
}
