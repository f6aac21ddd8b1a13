/**
 * The first user and the group of the guardians cannot be taken away, nor renamed, not even by guardians: whoever did it
 * would leave a database that nobody administers (graphql.md 10.4).
 */
import { assert } from "../base/assert.ts";
import { reservedPredicates } from "../graph/reserved.ts";
import type { Reader } from "../graph/reader.ts";
import { Fault } from "../model/fault.ts";
import type { Edit } from "../write/edit.ts";

export const firstUser = "groot";
export const guardians = "guardians";

function idOf(name: string): number {
  const found = reservedPredicates({ acl: true }).find(
    ({ definition }) => definition.name === name,
  );
  assert(found !== undefined, "a reserved predicate");
  return found.id;
}

const type = idOf("dgraph.type");
const xid = idOf("dgraph.xid");
const password = idOf("dgraph.password");
const group = idOf("dgraph.user.group");
const kept: ReadonlySet<number> = new Set([type, xid, password, group]);

/** Throws E_MUTATION. `edits` are expanded. */
export async function checkFirstNodes(reader: Reader, edits: readonly Edit[]): Promise<void> {
  const suspects = edits.filter(takesAway);
  if (suspects.length === 0) return;
  const touched = new Set(suspects.map(({ uid }) => uid));
  for (const edit of suspects) if (edit.kind === "deleteEdge") touched.add(edit.target);
  const uids = new Float64Array(touched);
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: xid }]);
  assert(column?.kind === "cells", "cells were asked for");
  const names = new Map<number, string>();
  uids.forEach((uid, row) => {
    const name = column.cells[row]?.[0]?.text;
    if (name === firstUser || name === guardians) names.set(uid, name);
  });
  for (const edit of suspects) {
    const name = names.get(edit.uid);
    if (name === undefined) continue;
    if (edit.kind === "setValue" && edit.value.kind === "string" && edit.value.text === name)
      continue;
    if (edit.kind === "deleteEdge" && names.get(edit.target) !== guardians) continue;
    const what = "Reserved Properties of guardians group and groot user cannot be deleted.";
    throw new Fault("E_MUTATION", what);
  }
}

/** Deletes of what makes a user or a group, and new names. */
function takesAway(edit: Edit): edit is Exclude<Edit, { kind: "clearNode" | "setEdge" }> {
  switch (edit.kind) {
    case "clear":
    case "deleteValue":
    case "deleteEdge":
      return kept.has(edit.predicate);
    case "setValue":
      return edit.predicate === xid;
    case "setEdge":
    case "clearNode":
      return false;
  }
}
