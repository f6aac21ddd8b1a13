/** Vectors of an indexed predicate are of one length: others could not be compared with them (reference/dql 4.3.12). */
import { isVectorIndex } from "../model/definition.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Reader } from "../graph/reader.ts";
import { explainLengths, metricOf } from "../graph/vector-metric.ts";
import { Fault } from "../model/fault.ts";
import type { Edit } from "./edit.ts";

/** The vectors that a request writes for one predicate with a vector index. */
interface Written {
  readonly predicate: number;
  readonly length: number;
  /** What is told of another length. */
  readonly refusal: string;
}

/**
 * Throws when a vector's length differs from the others of the request, or from a stored one that the request leaves
 * as it is. Price: one look at a list and one cell for each predicate; nothing where no vectors are written.
 */
export function checkVectors(reader: Reader, edits: readonly Edit[]): MaybePromise<void> {
  let found: Map<number, Written> | undefined;
  for (const edit of edits) {
    if (edit.kind !== "setValue" || edit.value.kind !== "float32vector") continue;
    const { length } = edit.value.vector;
    const written = found?.get(edit.predicate) ?? readIndex(reader, edit.predicate, length);
    if (written === undefined) continue;
    if (written.length !== length) throw new Fault("E_MUTATION_FACTS", written.refusal);
    (found ??= new Map()).set(edit.predicate, written);
  }
  if (found === undefined) return undefined;
  return checkEach(reader, [...found.values()], edits);
}

function readIndex(reader: Reader, predicate: number, length: number): Written | undefined {
  const indexes = reader.schema.predicateById(predicate)?.indexes ?? [];
  const index = indexes.find(isVectorIndex);
  if (index === undefined) return undefined;
  return { predicate, length, refusal: explainLengths(metricOf(index.options)) };
}

function checkEach(
  reader: Reader,
  [written, ...rest]: readonly Written[],
  edits: readonly Edit[],
): MaybePromise<void> {
  if (written === undefined) return undefined;
  const touched = new Set<number>();
  for (const edit of edits) {
    if (edit.kind === "clearNode" || edit.predicate === written.predicate) touched.add(edit.uid);
  }
  return andThen(findStored(reader, written.predicate, touched), (length) => {
    if (length !== undefined && length !== written.length) {
      throw new Fault("E_MUTATION_FACTS", written.refusal);
    }
    return checkEach(reader, rest, edits);
  });
}

/** Nodes that are read to find one which has a vector: empty ones are passed over, but not for ever. */
const spareNodes = 16;

/** The length of a vector of another node than those. */
function findStored(
  reader: Reader,
  predicate: number,
  touched: ReadonlySet<number>,
): MaybePromise<number | undefined> {
  const bounds = { limit: touched.size + spareNodes };
  return andThen(reader.readLists([{ kind: "presence", predicate }], bounds), ([uids]) => {
    const others = uids.filter((uid) => !touched.has(uid));
    const some = others.subarray(0, spareNodes);
    if (some.length === 0) return undefined;
    return andThen(reader.readLevel(some, [{ kind: "cells", predicate }]), ([column]) => {
      for (const cells of column.cells) {
        const value = cells?.[0]?.value;
        if (value?.kind === "float32vector" && value.vector.length > 0) return value.vector.length;
      }
      return undefined;
    });
  });
}
