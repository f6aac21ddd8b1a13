/**
 * Keys that only open transactions take (reference/dql 3.6): of counts that both change and of tokens that values of a
 * list share. Nothing here would be lost without them, so that what is committed at once needs none; but two clients
 * that write to one list over several requests see the same loser as with the reference.
 */
import type { Schema } from "../graph/schema.ts";
import { storedTokens } from "../graph/value-tokens.ts";
import { tokenizers } from "../tokens/tokenizers.ts";
import { countKey, listTokenKey } from "./conflict.ts";
import type { Edit } from "./edit.ts";

export function addSharedKeys(keys: Set<string>, schema: Schema, edits: readonly Edit[]): void {
  const { storageId } = schema;
  for (const edit of edits) {
    if (edit.kind === "clearNode") continue;
    const predicate = schema.predicateById(edit.predicate);
    if (predicate === undefined || predicate.definition.noconflict) continue;
    const { id, countIndex, reverseCountIndex, definition, indexes } = predicate;
    const { uid } = edit;
    if (countIndex !== undefined && definition.list) {
      keys.add(countKey({ storageId, predicate: id, uid }, false));
    }
    if (edit.kind === "setEdge" || edit.kind === "deleteEdge") {
      if (reverseCountIndex === undefined) continue;
      keys.add(countKey({ storageId, predicate: id, uid: edit.target }, true));
    } else if (edit.kind !== "clear" && definition.list && !definition.upsert) {
      for (const index of indexes) {
        if (tokenizers.get(index.tokenizer)?.lossy !== true) continue;
        for (const token of storedTokens(predicate, index, edit)) {
          keys.add(listTokenKey({ storageId, predicate: index.id, uid }, token));
        }
      }
    }
  }
}
