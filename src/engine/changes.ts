/** What commits have changed, for those who keep answers: read from the log, which a notice only wakes to look at. */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Reader } from "../graph/reader.ts";
import type { Commit } from "../store/store.ts";
import type { View, ReaderFactory } from "./reader-factory.ts";

export interface ChangedState {
  /** The newest state. Close it. */
  readonly reader: Reader;
  /**
   * Ids of the predicates whose values or edges have changed; undefined: anything may have. Changes of the schema
   * are told by its version alone.
   */
  readonly changed: ReadonlySet<number> | undefined;
}

/** Beyond so many commits reading them costs more than it can save. Each process asks for up to 64 empty ones together. */
const commitsMax = 256;

/** The newest state of a namespace with what has changed in it since commit `from`. */
export async function openChanged(
  readers: ReaderFactory,
  namespace: number,
  from: number,
): Promise<ChangedState> {
  const opened = readers.openNewest(namespace);
  const view = opened instanceof Promise ? await opened : opened;
  try {
    const pending = readChanges(readers, view, from);
    const changed = pending instanceof Promise ? await pending : pending;
    return { reader: view.reader, changed };
  } catch (error) {
    view.reader.close();
    throw error;
  }
}

function readChanges(
  readers: ReaderFactory,
  view: View,
  from: number,
): MaybePromise<ReadonlySet<number> | undefined> {
  const { snapshot, reader } = view;
  if (from >= snapshot.ts) return new Set();
  if (snapshot.ts - from > commitsMax) return undefined;
  return andThen(readers.store.readLog(snapshot, from), (commits) =>
    commits === undefined ? undefined : collectPredicates(commits, reader.schema.storageId),
  );
}

/** Members of index and reverse lists follow cells and edges, which name their predicate. */
function collectPredicates(commits: readonly Commit[], storageId: number): Set<number> {
  const predicates = new Set<number>();
  for (const { applied } of commits) {
    for (const { patch } of applied) {
      if (patch.kind !== "cell" && patch.kind !== "edge") continue;
      if (patch.storageId === storageId) predicates.add(patch.predicate);
    }
  }
  return predicates;
}
