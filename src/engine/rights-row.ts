/**
 * The mark of who may do what: one row of the server's own for each namespace, rewritten by every commit that touches a
 * user, a group or a rule, in that same commit. Whoever keeps something made of them compares the mark at each request:
 * so a change of rights holds in every process with its commit, and nobody polls.
 */
import { ownRowPatch } from "./system-rows.ts";
import type { SystemRows } from "./system-rows.ts";
import { reservedPredicates } from "../graph/reserved.ts";
import { encodeUtf8, decodeUtf8 } from "../base/bytes.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Edit } from "../write/edit.ts";
import type { MetaPatch, Patch } from "../store/store.ts";
import type { ChangeSender } from "./commits.ts";
import type { View } from "./reader-factory.ts";

const markName = (namespace: number): string => `rights/${namespace}`;

const names = [
  "dgraph.xid",
  "dgraph.user.group",
  "dgraph.acl.rule",
  "dgraph.rule.predicate",
  "dgraph.rule.permission",
];

const ids: ReadonlySet<number> = new Set(
  reservedPredicates({ acl: true })
    .filter(({ definition }) => names.includes(definition.name))
    .map(({ id }) => id),
);

/** The patches of a commit, with a new mark where its edits touch users, groups or rules. `edits` are expanded. */
export function withRightsPatch(
  { known }: View,
  edits: readonly Edit[],
  patches: readonly Patch[],
  committer: ChangeSender,
): readonly Patch[] {
  const isTouched = edits.some((edit) => edit.kind !== "clearNode" && ids.has(edit.predicate));
  return isTouched ? [...patches, newRightsMark(known.schema.namespace, committer)] : patches;
}

/** For commits that take everything away. */
export function newRightsMark(namespace: number, committer: ChangeSender): MetaPatch {
  return ownRowPatch(markName(namespace), encodeUtf8(committer.makeMark()), "any");
}

/** A new mark by itself, for changes of rights that are no edits of users, groups or rules. */
export async function renewRightsMark(
  rows: SystemRows,
  namespace: number,
  mark: string,
): Promise<void> {
  await rows.write(markName(namespace), encodeUtf8(mark), "any");
}

/** Equal marks, equal rights; "" before the first user. */
export function readRightsMark(rows: SystemRows, namespace: number): MaybePromise<string> {
  return andThen(rows.read(markName(namespace)), (row) =>
    row === undefined ? "" : decodeUtf8(row),
  );
}
