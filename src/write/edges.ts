/** Edits of one node's edges → patches: the edge, and its mirror in the reverse index with the same facets. */
import { encodeFacets } from "../codec/facets.ts";
import { reverseList } from "../codec/key.ts";
import { groupKeyOf } from "./edit-group.ts";
import type { Derived, EditGroup } from "./edit-group.ts";
import { edgeKey } from "./conflict.ts";

/** Target → its facets, undefined for removed. */
type Targets = Map<number, Uint8Array | undefined>;

export function deriveEdges(derived: Derived, storageId: number, group: EditGroup): void {
  const targets = followEdits(group);
  const { uid, predicate } = group;
  const countIndex = predicate.countIndex?.id ?? 0;
  const reverse = predicate.reverseIndex?.id;
  const reverseCount = predicate.reverseCountIndex?.id ?? 0;
  for (const [target, facets] of targets) {
    const add = facets !== undefined;
    derived.patches.push({
      kind: "edge",
      storageId,
      uid,
      predicate: predicate.id,
      target,
      add,
      facets,
      countIndex,
    });
    if (reverse === undefined) continue;
    derived.patches.push({
      kind: "member",
      list: reverseList(storageId, reverse, target),
      member: uid,
      add,
      facets,
      countIndex: reverseCount,
      owner: target,
    });
  }
  addConflictKeys(derived, storageId, group);
}

/** The edits in their order; a single `uid` keeps the last target alone. */
function followEdits(group: EditGroup): Targets {
  const targets: Targets = new Map();
  const removeAll = (): void => {
    for (const target of targets.keys()) targets.set(target, undefined);
    for (const target of group.targets ?? []) targets.set(target, undefined);
  };
  for (const edit of group.edits) {
    switch (edit.kind) {
      case "setEdge":
        if (!group.predicate.definition.list) removeAll();
        targets.set(edit.target, encodeFacets(edit.facets));
        break;
      case "deleteEdge":
        targets.set(edit.target, undefined);
        break;
      case "clear":
        removeAll();
        break;
      case "setValue":
      case "deleteValue":
        break;
    }
  }
  return targets;
}

function addConflictKeys(derived: Derived, storageId: number, group: EditGroup): void {
  const { definition, id } = group.predicate;
  if (definition.noconflict) return;
  const place = { storageId, predicate: id, uid: group.uid };
  for (const edit of group.edits) {
    if (definition.list && (edit.kind === "setEdge" || edit.kind === "deleteEdge")) {
      derived.conflictKeys.add(edgeKey(place, edit.target));
    } else {
      derived.conflictKeys.add(groupKeyOf(group, storageId));
    }
  }
}
