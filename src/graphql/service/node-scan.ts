/** The nodes of a type with what is asked of each, in slices between which others have their turn. */
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { Column, ColumnRequest, ListRef, Reader } from "../../graph/reader.ts";
import { exactToken } from "../../tokens/text-tokens.ts";

/** Nodes that are read at a time: a slice takes a few milliseconds. */
const nodesAtOnce = 256;

const typePredicate = "dgraph.type";

/** The list of the nodes that have a value of `dgraph.type`. */
export function typeList(reader: Reader, typeName: string): ListRef | undefined {
  const index = reader.schema.predicate(typePredicate)?.indexes[0];
  if (index === undefined) return undefined;
  return { kind: "token", index: index.id, token: exactToken(typeName, "") };
}

/** `visit`: a slice, with a column for each request; what it reads itself is awaited. */
export async function scanNodes(
  reader: Reader,
  list: ListRef | undefined,
  requests: readonly ColumnRequest[],
  visit: (uids: Float64Array, columns: readonly Column[]) => MaybePromise<void>,
): Promise<void> {
  if (list === undefined) return;
  for (let after = 0; ;) {
    const [uids] = await reader.readLists([list], { after, limit: nodesAtOnce });
    if (uids.length > 0) {
      await andThen(reader.readLevel(uids, requests), (columns) => visit(uids, columns));
    }
    if (uids.length < nodesAtOnce) return;
    after = uids.at(-1) ?? after;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Of each node the values of `dgraph.type`; nodes without one have none. */
export async function readTypes(
  reader: Reader,
  uids: Float64Array,
): Promise<readonly ReadonlySet<string>[]> {
  const predicate = reader.schema.predicate(typePredicate);
  if (predicate === undefined) return Array.from(uids, () => new Set<string>());
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: predicate.id }]);
  return Array.from(uids, (_, row) => new Set(column.cells[row]?.map(({ text }) => text)));
}
