/**
 * Nodes that the server keeps itself: the GraphQL schema, persisted queries, namespaces, and with ACL users, groups and
 * rules. Requests for data change them in no way that takes them from the server: not by the name of a predicate, not
 * by `S * *`, not by their types. Guardians may change users, groups and rules; the first user and the group of the
 * guardians cannot be taken away by anybody, or nobody would administer the database (reference/graphql 10.4).
 */
import { assert } from "../base/assert.ts";
import type { Reader } from "../graph/reader.ts";
import {
  firstUserId,
  isReservedName,
  isServerOnly,
  reservedPredicates,
  reservedTypes,
} from "../graph/reserved.ts";
import { Fault } from "../model/fault.ts";
import type { PredicateAccess } from "../model/principal.ts";
import type { Edit } from "../write/edit.ts";
import { refuseWrites } from "./authorize.ts";

export const firstUser = "groot";
export const guardians = "guardians";

/** By whom is written, and what is reserved. */
export interface WriteRights {
  /** Whether users and groups are nodes. */
  readonly acl: boolean;
  readonly access: PredicateAccess | undefined;
  /** Whether the server itself writes, and not a client. */
  readonly isServer: boolean;
}

const nameOf: ReadonlyMap<number, string> = new Map(
  reservedPredicates({ acl: true }).map(({ id, definition }) => [id, definition.name]),
);

function idOf(name: string): number {
  const found = [...nameOf].find(([, known]) => known === name);
  assert(found !== undefined, "a reserved predicate");
  return found[0];
}

const type = idOf("dgraph.type");
const xid = idOf("dgraph.xid");
const password = idOf("dgraph.password");
const group = idOf("dgraph.user.group");
const kept: ReadonlySet<number> = new Set([type, xid, password, group]);

/** Types of nodes that only the server itself writes. */
const serverTypes: ReadonlySet<string> = new Set(
  reservedTypes({ acl: false }).map(({ name }) => name),
);

/** Edits of one node, expanded: none clears a whole node. */
type NodeEdit = Exclude<Edit, { kind: "clearNode" }>;

/** Throws E_MUTATION or E_PERMISSION. `edits` are expanded. Reads only where reserved predicates are edited. */
export async function checkReservedNodes(
  reader: Reader,
  edits: readonly Edit[],
  rights: WriteRights,
): Promise<void> {
  if (rights.isServer) return;
  const suspects = edits.filter(isOfReserved);
  if (suspects.length === 0) return;
  for (const { predicate } of suspects) {
    const name = nameOf.get(predicate) ?? "";
    if (isServerOnly(name)) throw refuseServerOnly(name);
  }
  await checkTypes(reader, suspects, rights);
  if (rights.acl) await checkFirstNodes(reader, suspects);
}

/** Whether any edit is worth a look: one comparison for each of a request that is not. */
export function touchesReserved(edits: readonly Edit[]): boolean {
  return edits.some(isOfReserved);
}

/** Of a reserved predicate; a type of the application's that is added is none of ours. */
function isOfReserved(edit: Edit): edit is NodeEdit {
  if (edit.kind === "clearNode" || edit.predicate >= firstUserId) return false;
  if (edit.predicate !== type || edit.kind !== "setValue") return true;
  return edit.value.kind === "string" && isReservedName(edit.value.text);
}

export function refuseServerOnly(predicate: string): Fault {
  return new Fault("E_MUTATION", `Cannot mutate graphql reserved predicate ${predicate}`);
}

/** A node is the server's by its types: those neither go nor come by a request of somebody who may not keep them. */
async function checkTypes(
  reader: Reader,
  suspects: readonly NodeEdit[],
  { acl, access }: WriteRights,
): Promise<void> {
  const ofTypes = suspects.filter(({ predicate }) => predicate === type);
  if (ofTypes.length === 0) return;
  const uids = new Float64Array(new Set(ofTypes.map(({ uid }) => uid)));
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: type }]);
  const typesOf = new Map<number, readonly string[]>();
  uids.forEach((uid, row) => {
    typesOf.set(
      uid,
      (column.cells[row] ?? []).map(({ text }) => text),
    );
  });
  for (const edit of ofTypes) {
    for (const name of changedTypes(edit, typesOf.get(edit.uid) ?? [])) {
      if (serverTypes.has(name) && edit.kind !== "setValue") throw refuseServerOnly("dgraph.type");
      if (acl && access !== undefined && isReservedName(name)) throw refuseWrites(["dgraph.type"]);
    }
  }
}

/** Names of the types that an edit takes from a node or gives to it. */
function changedTypes(edit: NodeEdit, types: readonly string[]): readonly string[] {
  switch (edit.kind) {
    case "clear":
      return types;
    case "setValue":
      return edit.value.kind === "string" ? [edit.value.text] : [];
    case "deleteValue": {
      const { value } = edit;
      return value.kind === "string" ? types.filter((name) => name === value.text) : types;
    }
    case "setEdge":
    case "deleteEdge":
      return [];
  }
}

async function checkFirstNodes(reader: Reader, edits: readonly NodeEdit[]): Promise<void> {
  const suspects = edits.filter(takesAway);
  if (suspects.length === 0) return;
  const touched = new Set(suspects.map(({ uid }) => uid));
  for (const edit of suspects) if (edit.kind === "deleteEdge") touched.add(edit.target);
  const uids = new Float64Array(touched);
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: xid }]);
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
function takesAway(edit: NodeEdit): edit is Exclude<NodeEdit, { kind: "setEdge" }> {
  switch (edit.kind) {
    case "clear":
    case "deleteValue":
    case "deleteEdge":
      return kept.has(edit.predicate);
    case "setValue":
      return edit.predicate === xid;
    case "setEdge":
      return false;
  }
}
