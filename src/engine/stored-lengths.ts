/**
 * Vectors that are there before their predicate gets a vector index: they have to be of one length, as those are that
 * are written under it (`write/vectors.ts`).
 */
import { isVectorIndex } from "../model/definition.ts";
import type { Clock } from "../base/clock.ts";
import type { Reader } from "../graph/reader.ts";
import type { Predicate, PredicateIndex } from "../graph/schema.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import { explainLengths, metricOf } from "../graph/vector-metric.ts";
import { Fault } from "../model/fault.ts";
import type { Store } from "../store/store.ts";
import type { View } from "./reader-factory.ts";

/** Nodes that are read at a time. */
const readNodes = 64;
/** How long others wait for a step. */
const stepMs = 3;

/** How far the vectors of a predicate were looked at. */
interface Looked {
  readonly storageId: number;
  /** The last node that was read, and the commit up to which it and those before it are known. */
  after: number;
  ts: number;
  isWhole: boolean;
  /** A node and the length of its vector, which is that of all that were read. */
  witness: Sized | undefined;
}

interface Sized {
  readonly uid: number;
  readonly length: number;
}

/** A predicate that a change of the schema gives a vector index. */
export interface NewVectorIndex {
  readonly predicate: Predicate;
  readonly index: PredicateIndex;
}

/** Those that come to predicates which were there before. */
export function findNewVectorIndexes(
  before: SchemaState,
  next: SchemaState,
): readonly NewVectorIndex[] {
  const found: NewVectorIndex[] = [];
  for (const predicate of next.predicates) {
    const index = predicate.indexes.find(isVectorIndex);
    if (index === undefined) continue;
    const old = before.predicates.find(({ id }) => id === predicate.id);
    if (old === undefined || old.indexes.some(({ id }) => id === index.id)) continue;
    found.push({ predicate, index });
  }
  return found;
}

/** For one change of the schema: looks at all vectors once, and after that at what the log says has changed. */
export class StoredLengths {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #looked = new Map<number, Looked>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Goes on for a few milliseconds. Returns whether all vectors of the view were looked at; then they have one length.
   * Throws E_ALTER when they have several.
   */
  async check(view: View, added: readonly NewVectorIndex[]): Promise<boolean> {
    const endMs = this.#clock.tickMs() + stepMs;
    for (const one of added) {
      let looked = await this.#follow(view, one);
      while (!looked.isWhole) {
        if (!(await this.#readSome(view.reader, one, looked))) looked = this.#begin(view, one);
        if (!looked.isWhole && this.#clock.tickMs() >= endMs) return false;
      }
    }
    return true;
  }

  /** What is known of the predicate in the view; begins anew where the log has a gap. */
  async #follow(view: View, one: NewVectorIndex): Promise<Looked> {
    const { id } = one.predicate;
    const looked = this.#looked.get(id);
    if (looked?.storageId !== view.known.schema.storageId) return this.#begin(view, one);
    const touched = await this.#findTouched(view, looked, id);
    if (touched === undefined || !(await this.#compare(view.reader, one, looked, touched))) {
      return this.#begin(view, one);
    }
    looked.ts = view.snapshot.ts;
    return looked;
  }

  #begin({ known, snapshot }: View, { predicate }: NewVectorIndex): Looked {
    const { storageId } = known.schema;
    const { ts } = snapshot;
    const looked: Looked = { storageId, after: 0, ts, isWhole: false, witness: undefined };
    this.#looked.set(predicate.id, looked);
    return looked;
  }

  /** Nodes that changed since they were read; undefined where the log does not tell. */
  async #findTouched(
    { snapshot }: View,
    looked: Looked,
    predicate: number,
  ): Promise<Float64Array | undefined> {
    if (snapshot.ts <= looked.ts) return new Float64Array(0);
    const touched = new Set<number>();
    const isWhole = await this.#store.walkLog(snapshot, looked.ts, {
      begin: () => true,
      wantsMembers: false,
      record(storageId, uid, changed) {
        if (storageId !== looked.storageId || changed !== predicate) return;
        if (looked.isWhole || uid <= looked.after) touched.add(uid);
      },
      member() {},
      meta() {},
    });
    return isWhole ? new Float64Array(touched).sort() : undefined;
  }

  /** As `#compare`. */
  async #readSome(reader: Reader, one: NewVectorIndex, looked: Looked): Promise<boolean> {
    const list = { kind: "presence", predicate: one.predicate.id } as const;
    const [uids] = await reader.readLists([list], { after: looked.after, limit: readNodes });
    if (!(await this.#compare(reader, one, looked, uids))) return false;
    looked.after = uids.at(-1) ?? looked.after;
    looked.isWhole = uids.length < readNodes;
    return true;
  }

  /** Throws E_ALTER for a second length. False where it is the first one's vector that is not there any more. */
  async #compare(
    reader: Reader,
    one: NewVectorIndex,
    looked: Looked,
    uids: Float64Array,
  ): Promise<boolean> {
    for (const sized of await readLengths(reader, one.predicate.id, uids)) {
      looked.witness ??= sized;
      if (looked.witness.length === sized.length) continue;
      const { witness } = looked;
      const [now] = await readLengths(reader, one.predicate.id, Float64Array.of(witness.uid));
      if (now?.length !== witness.length) return false;
      throw refuse(one, witness, sized);
    }
    return true;
  }
}

/** Of the nodes that have a vector; empty ones are none, as for searches. */
async function readLengths(
  reader: Reader,
  predicate: number,
  uids: Float64Array,
): Promise<readonly Sized[]> {
  if (uids.length === 0) return [];
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate }]);
  const found: Sized[] = [];
  for (const [row, uid] of uids.entries()) {
    const value = column.cells[row]?.[0]?.value;
    if (value?.kind !== "float32vector" || value.vector.length === 0) continue;
    found.push({ uid, length: value.vector.length });
  }
  return found;
}

function refuse({ predicate, index }: NewVectorIndex, a: Sized, b: Sized): Fault {
  const text = explainLengths(metricOf(index.options));
  const tell = ({ uid, length }: Sized): string => `${length} numbers at 0x${uid.toString(16)}`;
  const { name } = predicate.definition;
  return new Fault("E_ALTER", `${text}: predicate ${name} has ${tell(a)} and ${tell(b)}`);
}
