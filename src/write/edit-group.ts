/** Edits gathered by the entry that they change, and what they come to. */
import { entryKey } from "./conflict.ts";
import type { Cell } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import type { Patch } from "../store/store.ts";
import type { Edit } from "./edit.ts";

/** What a set of edits comes to. */
export interface Derived {
  readonly patches: Patch[];
  /** Fingerprints that nobody else may have committed since the transaction's start. */
  readonly conflictKeys: Set<string>;
  /** Fingerprints of what decided the patches. */
  readonly basisKeys: Set<string>;
  /** Of nodes that get members of lists, or edges that lead to them: nobody may have deleted them since the start. */
  touchedNodes: Set<string> | undefined;
  /** Of nodes that lose types: nobody may have touched them since the start. */
  deletedNodes: Set<string> | undefined;
  /** Entries that change: their presence and counts follow. */
  readonly entries: EditGroup[];
}

/** All edits of one node's predicate, in order, with what stood there before. */
export interface EditGroup {
  readonly uid: number;
  readonly predicate: Predicate;
  readonly edits: PlainEdit[];
  /** Values before; undefined when they decide nothing and were not read. */
  cells: readonly Cell[] | undefined;
  /** Targets before, ascending; undefined likewise. */
  targets: Float64Array | undefined;
  /** `keyOf`, once it was asked for: it decides conflicts and bases alike. */
  key: string | undefined;
}

/** The fingerprint of the entry as a whole. */
export function groupKeyOf(group: EditGroup, storageId: number): string {
  const { uid, predicate } = group;
  return (group.key ??= entryKey({ storageId, predicate: predicate.id, uid }));
}

export type PlainEdit = Exclude<Edit, { kind: "clearNode" }>;
