/** `S * *` → a clear of every predicate that the node's types name, and of `dgraph.type` (reference/dql 3.3). */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { assert, must } from "../base/assert.ts";
import type { Reader } from "../graph/reader.ts";
import type { PredicateAccess } from "../model/principal.ts";
import { entryKey } from "./conflict.ts";
import type { Edit } from "./edit.ts";

const none: readonly string[] = [];

interface ExpandedEdits {
  readonly edits: readonly Edit[];
  /** Fingerprints of the types that were read. */
  readonly basisKeys: readonly string[];
}

/**
 * The types are those of the reader's state, before any of the edits. Reverse fields are skipped, and what `access` may
 * not write.
 */
export function expandNodes(
  reader: Reader,
  edits: readonly Edit[],
  access?: PredicateAccess,
): MaybePromise<ExpandedEdits> {
  if (!edits.some((edit) => edit.kind === "clearNode")) return { edits, basisKeys: none };
  const nodes = [
    ...new Set(edits.filter((edit) => edit.kind === "clearNode").map((edit) => edit.uid)),
  ];
  const { schema } = reader;
  const types = schema.predicate("dgraph.type");
  assert(types !== undefined, "dgraph.type is always there");
  const request = { kind: "cells", predicate: types.id } as const;
  const mayWrite = (name: string): boolean => access?.mayWrite(name) ?? true;
  return andThen(reader.readLevel(new Float64Array(nodes), [request]), ([column]) => {
    const predicatesOf = new Map<number, ReadonlySet<number>>();
    nodes.forEach((uid, row) => {
      const predicates = new Set(mayWrite("dgraph.type") ? [types.id] : []);
      for (const cell of column.cells[row] ?? []) {
        for (const field of schema.type(cell.text)?.fields ?? []) {
          const predicate = schema.predicate(field);
          if (predicate !== undefined && mayWrite(field)) predicates.add(predicate.id);
        }
      }
      predicatesOf.set(uid, predicates);
    });
    return {
      edits: edits.flatMap((edit): Edit[] =>
        edit.kind === "clearNode"
          ? [...must(predicatesOf.get(edit.uid), "each node was looked at")].map((predicate) => ({
              kind: "clear",
              uid: edit.uid,
              predicate,
              language: undefined,
            }))
          : [edit],
      ),
      basisKeys: nodes.map((uid) =>
        entryKey({ storageId: schema.storageId, predicate: types.id, uid }),
      ),
    };
  });
}
