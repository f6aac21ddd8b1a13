/** Which nodes a change touches and which it deletes: the one must not miss the other. */
import { nodeKey } from "./conflict.ts";
import type { Derived, EditGroup, PlainEdit } from "./edit-group.ts";

/**
 * A clear of a predicate and what is set there conflict by the entry, except for members of lists, which have keys of
 * their own. Nobody deletes a node that was made here (`fresh`).
 */
export function noteNodes(
  derived: Derived,
  storageId: number,
  { uid, predicate: { definition }, edits }: EditGroup,
  fresh: ReadonlySet<number>,
): void {
  const isEdge = definition.kind === "uid";
  if (definition.noconflict || !(isEdge || definition.list)) return;
  if (definition.name === "dgraph.type" && edits.some(isRemoval)) {
    (derived.deletedNodes ??= new Set()).add(nodeKey(storageId, uid));
    return;
  }
  if (definition.list && !fresh.has(uid) && edits.some(isSet)) {
    (derived.touchedNodes ??= new Set()).add(nodeKey(storageId, uid));
  }
  if (!isEdge) return;
  for (const edit of edits) {
    if (edit.kind !== "setEdge" || fresh.has(edit.target)) continue;
    (derived.touchedNodes ??= new Set()).add(nodeKey(storageId, edit.target));
  }
}

function isSet(edit: PlainEdit): boolean {
  return edit.kind === "setEdge" || edit.kind === "setValue";
}

/** A node without a type is none to the GraphQL API. */
function isRemoval(edit: PlainEdit): boolean {
  return edit.kind === "clear" || edit.kind === "deleteValue";
}
