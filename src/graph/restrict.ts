/**
 * A reader for somebody who may not read everything (reference/graphql 11.3). Plans are built by its schema, which
 * carries the access: a name that may not be read is planned as one that does not exist (plan/builder.ts), and the
 * readings below know numbers alone. Definitions stay: `~p` has a right of its own, and who writes need not read.
 */
import type { MaybePromise } from "../base/maybe.ts";
import type { UidSet } from "../model/uid.ts";
import { secretPredicate, type PredicateAccess } from "../model/principal.ts";
import type {
  ColumnsOf,
  UidSetsOf,
  ListBounds,
  ListRef,
  Reader,
  TokenRange,
  ColumnRequest,
  VectorAnswer,
  VectorQuestion,
} from "./reader.ts";
import type { Schema } from "./schema.ts";

/** By schema and rights, so that plans find theirs again. */
const known = new WeakMap<Schema, Map<string, Schema>>();

/** Rights of one schema that are kept; users share those of their groups. */
const accessesMax = 256;

function restrictSchema(schema: Schema, access: PredicateAccess): Schema {
  let byKey = known.get(schema);
  if (byKey === undefined) known.set(schema, (byKey = new Map()));
  let restricted = byKey.get(access.key);
  if (restricted === undefined) {
    if (byKey.size >= accessesMax) byKey.clear();
    byKey.set(access.key, (restricted = makeRestricted(schema, access)));
  }
  return restricted;
}

function makeRestricted(schema: Schema, access: PredicateAccess): Schema {
  const types = schema.types.map((type) => ({
    ...type,
    fields: type.fields.filter((field) => access.mayRead(field)),
  }));
  const typeByName = new Map(types.map((type) => [type.name, type]));
  return {
    version: schema.version,
    fence: schema.fence,
    namespace: schema.namespace,
    storageId: schema.storageId,
    predicate: (name) => schema.predicate(name),
    predicateById: (id) => schema.predicateById(id),
    type: (name) => typeByName.get(name),
    predicates: schema.predicates.filter(({ definition }) => isListed(definition.name, access)),
    types,
    access,
  };
}

/** The definition of the predicate with the secret is none: it goes with the other one of its node. */
function isListed(name: string, access: PredicateAccess): boolean {
  return access.mayRead(name === secretPredicate ? "dgraph.graphql.xid" : name);
}

/** The same state through a schema with the access; closing it closes the reader. */
export function restrictReader(reader: Reader, access: PredicateAccess | undefined): Reader {
  const isOpen = access === undefined || reader.schema.access?.key === access.key;
  return isOpen ? reader : new RestrictedReader(reader, access);
}

class RestrictedReader implements Reader {
  readonly schema: Schema;
  readonly ts: number;
  readonly #reader: Reader;

  constructor(reader: Reader, access: PredicateAccess) {
    this.schema = restrictSchema(reader.schema, access);
    this.ts = reader.ts;
    this.#reader = reader;
  }

  /** A predicate that may not be read is planned as absent: nobody asks for its vectors. */
  async nearest(question: VectorQuestion): Promise<VectorAnswer | undefined> {
    return await this.#reader.nearest?.(question);
  }

  readLevel<const Requests extends readonly ColumnRequest[]>(
    uids: Float64Array,
    requests: Requests,
  ): MaybePromise<ColumnsOf<Requests>> {
    return this.#reader.readLevel(uids, requests);
  }

  readLists<const Lists extends readonly ListRef[]>(
    lists: Lists,
    bounds?: ListBounds,
  ): MaybePromise<UidSetsOf<Lists>> {
    return this.#reader.readLists(lists, bounds);
  }

  countLists(lists: readonly ListRef[]): MaybePromise<Float64Array> {
    return this.#reader.countLists(lists);
  }

  intersectList(list: ListRef, uids: UidSet): MaybePromise<UidSet> {
    return this.#reader.intersectList(list, uids);
  }

  isCached(list: ListRef): MaybePromise<boolean> {
    return this.#reader.isCached(list);
  }

  scanList(
    list: ListRef,
    bounds: ListBounds,
    visit: (uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return this.#reader.scanList(list, bounds, visit);
  }

  scanTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return this.#reader.scanTokens(index, range, visit);
  }

  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): MaybePromise<void> {
    return this.#reader.countTokens(index, range, visit);
  }

  scanCounts(
    index: number,
    range: { readonly from: number; readonly to: number },
    visit: (count: number, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return this.#reader.scanCounts(index, range, visit);
  }

  close(): void {
    this.#reader.close();
  }
}
