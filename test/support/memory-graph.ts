/**
 * A Reader over a plain list of facts: the obvious twin of the graph room, for tests of what stands above it. Every
 * answer is computed from the facts by filtering; they are only sorted by predicate and node beforehand.
 */
import { compareBytes } from "../../src/base/bytes.ts";
import { sortUnique } from "../../src/base/sorted.ts";
import { makeCell } from "../../src/exec/cells.ts";
import type {
  Cell,
  Column,
  ColumnsOf,
  UidSetsOf,
  EdgeColumn,
  ListBounds,
  ListRef,
  Reader,
  TokenRange,
  ColumnRequest,
} from "../../src/graph/reader.ts";
import type { Predicate, Schema } from "../../src/graph/schema.ts";
import { plainDefinition } from "../../src/model/definition.ts";
import type { PredicateDefinition, TypeDefinition } from "../../src/model/definition.ts";
import type { Facets } from "../../src/model/facet.ts";
import type { UidSet } from "../../src/model/uid.ts";
import type { Value } from "../../src/model/value.ts";
import { tokensOf } from "../../src/tokens/tokenizers.ts";

export interface TestFact {
  readonly subject: number;
  readonly predicate: string;
  readonly object: Value | number;
  readonly language?: string;
  readonly facets?: Facets;
}

/** A definition with everything off but what is given. */
export function definePredicate(
  name: string,
  kind: PredicateDefinition["kind"],
  options: Partial<PredicateDefinition> = {},
): PredicateDefinition {
  return { ...plainDefinition(name, kind), ...options };
}

export function makeTestSchema(
  definitions: readonly PredicateDefinition[],
  types: readonly TypeDefinition[] = [],
): Schema {
  const all = [
    ...definitions,
    definePredicate("dgraph.type", "string", { list: true, indexes: [{ tokenizer: "exact" }] }),
  ];
  let next = 1;
  const predicates = all.map((definition): Predicate => {
    const id = next++;
    return {
      id,
      definition,
      indexes: definition.indexes.map(({ tokenizer }) => ({
        id: next++,
        tokenizer,
        options: [],
        version: 1,
        state: "ready",
      })),
      reverseIndex: definition.reverse ? { id: next++, state: "ready" } : undefined,
      countIndex: definition.count ? { id: next++, state: "ready" } : undefined,
      reverseCountIndex:
        definition.count && definition.reverse ? { id: next++, state: "ready" } : undefined,
      formerScalar: false,
    };
  });
  return {
    version: 1,
    fence: 1,
    namespace: 0,
    storageId: 1,
    predicate: (name) => predicates.find((predicate) => predicate.definition.name === name),
    predicateById: (id) => predicates.find((predicate) => predicate.id === id),
    type: (name) => types.find((type) => type.name === name),
    predicates,
    types,
  };
}

interface IndexedToken {
  readonly token: Uint8Array;
  readonly uids: number[];
}

export class MemoryGraph implements Reader {
  readonly ts = 1;
  readonly schema: Schema;
  readonly #byPredicate: ReadonlyMap<string, readonly TestFact[]>;
  readonly #bySubject: ReadonlyMap<string, readonly TestFact[]>;
  readonly #byObject: ReadonlyMap<string, readonly TestFact[]>;
  readonly #tokens = new Map<number, readonly IndexedToken[]>();

  constructor(schema: Schema, facts: readonly TestFact[]) {
    this.schema = schema;
    this.#byPredicate = groupFacts(facts, (fact) => fact.predicate);
    this.#bySubject = groupFacts(facts, (fact) => `${fact.predicate} ${fact.subject}`);
    this.#byObject = groupFacts(facts, (fact) =>
      typeof fact.object === "number" ? `${fact.predicate} ${fact.object}` : "",
    );
  }

  readLevel<const Requests extends readonly ColumnRequest[]>(
    uids: Float64Array,
    requests: Requests,
  ): ColumnsOf<Requests> {
    const columns: unknown = requests.map((request) => this.#column(uids, request));
    return columns as ColumnsOf<Requests>;
  }

  readLists<const Lists extends readonly ListRef[]>(
    lists: Lists,
    bounds: ListBounds = {},
  ): UidSetsOf<Lists> {
    const sets: unknown = lists.map((list) => cut(this.#list(list), bounds));
    return sets as UidSetsOf<Lists>;
  }

  countLists(lists: readonly ListRef[]): Float64Array {
    return Float64Array.from(lists, (list) => this.#list(list).length);
  }

  intersectList(list: ListRef, uids: UidSet): UidSet {
    const members = new Set(this.#list(list));
    return uids.filter((uid) => members.has(uid));
  }

  /** Some are and some are not, so that both ways are taken. */
  isCached(list: ListRef): boolean {
    return [...this.#list(list)].length % 2 === 0;
  }

  scanList(list: ListRef, bounds: ListBounds, visit: (uids: UidSet) => boolean): void {
    visit(cut(this.#list(list), bounds));
  }

  scanTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, uids: UidSet) => boolean,
  ): void {
    const sorted = [...this.#tokensOf(index)];
    if (range.reverse === true) sorted.reverse();
    for (const { token, uids } of sorted) {
      if (range.from !== undefined && compareBytes(token, range.from) < 0) continue;
      if (range.to !== undefined && compareBytes(token, range.to) > 0) continue;
      if (!visit(token, sortUnique(Float64Array.from(uids)))) return;
    }
  }

  /** All tokens of an index in order: the facts never change. */
  #tokensOf(index: number): readonly IndexedToken[] {
    const known = this.#tokens.get(index);
    if (known !== undefined) return known;
    const { predicate, tokenizer } = this.#indexed(index);
    const tokens = new Map<string, IndexedToken>();
    for (const fact of this.#of(predicate)) {
      if (typeof fact.object === "number") continue;
      for (const token of tokensOf(tokenizer, fact.object, fact.language ?? "")) {
        const key = token.join(",");
        const entry = tokens.get(key) ?? { token, uids: [] };
        entry.uids.push(fact.subject);
        tokens.set(key, entry);
      }
    }
    const sorted = [...tokens.values()].sort((a, b) => compareBytes(a.token, b.token));
    this.#tokens.set(index, sorted);
    return sorted;
  }

  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): void {
    this.scanTokens(index, range, (token, uids) => visit(token, uids.length));
  }

  scanCounts(
    index: number,
    range: { readonly from: number; readonly to: number },
    visit: (count: number, uids: UidSet) => boolean,
  ): void {
    const forward = this.schema.predicates.find((each) => each.countIndex?.id === index);
    const backward = this.schema.predicates.find((each) => each.reverseCountIndex?.id === index);
    const counts = new Map<number, number>();
    for (const fact of this.#of((forward ?? backward)?.definition.name ?? "")) {
      const owner = forward === undefined ? fact.object : fact.subject;
      if (typeof owner === "number") counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    const byCount = new Map<number, number[]>();
    for (const [uid, count] of counts) byCount.set(count, [...(byCount.get(count) ?? []), uid]);
    for (const count of [...byCount.keys()].sort((a, b) => a - b)) {
      if (count < range.from || count > range.to) continue;
      if (!visit(count, sortUnique(Float64Array.from(byCount.get(count) ?? [])))) return;
    }
  }

  close(): void {}

  #of(predicate: string): readonly TestFact[] {
    return this.#byPredicate.get(predicate) ?? [];
  }

  #from(predicate: string, subject: number): readonly TestFact[] {
    return this.#bySubject.get(`${predicate} ${subject}`) ?? [];
  }

  #to(predicate: string, object: number): readonly TestFact[] {
    return this.#byObject.get(`${predicate} ${object}`) ?? [];
  }

  #name(predicate: number): string {
    return this.schema.predicateById(predicate)?.definition.name ?? "";
  }

  #indexed(index: number): { readonly predicate: string; readonly tokenizer: string } {
    for (const predicate of this.schema.predicates) {
      const found = predicate.indexes.find((each) => each.id === index);
      if (found !== undefined) {
        return { predicate: predicate.definition.name, tokenizer: found.tokenizer };
      }
    }
    throw new Error(`no index ${index}`);
  }

  #reversed(index: number): string {
    const predicate = this.schema.predicates.find((each) => each.reverseIndex?.id === index);
    return predicate?.definition.name ?? "";
  }

  #column(uids: Float64Array, request: ColumnRequest): Column {
    switch (request.kind) {
      case "cells":
        return {
          kind: "cells",
          cells: Array.from(uids, (uid) => this.#cells(uid, request.predicate)),
        };
      case "edges":
        return this.#edges(uids, request, (uid) =>
          this.#from(this.#name(request.predicate), uid).flatMap((fact) =>
            typeof fact.object === "number" ? [{ target: fact.object, facets: fact.facets }] : [],
          ),
        );
      case "reverse":
        return this.#edges(uids, request, (uid) =>
          this.#to(this.#reversed(request.index), uid).map((fact) => ({
            target: fact.subject,
            facets: fact.facets,
          })),
        );
      case "count":
        return {
          kind: "count",
          counts: Float64Array.from(
            uids,
            (uid) => this.#from(this.#name(request.predicate), uid).length,
          ),
        };
      case "reverseCount":
        return {
          kind: "count",
          counts: Float64Array.from(
            uids,
            (uid) => this.#to(this.#reversed(request.index), uid).length,
          ),
        };
    }
  }

  #cells(uid: number, predicate: number): readonly Cell[] | undefined {
    const cells = this.#from(this.#name(predicate), uid)
      .filter((fact) => typeof fact.object !== "number")
      .map((fact) => makeCell(fact.object as Value, fact.language ?? "", fact.facets))
      .sort((a, b) => (a.language < b.language ? -1 : a.language > b.language ? 1 : 0));
    return cells.length === 0 ? undefined : cells;
  }

  #edges(
    uids: Float64Array,
    request: { readonly facets: boolean; readonly bounds?: ListBounds | undefined },
    edgesOf: (uid: number) => readonly { target: number; facets: Facets | undefined }[],
  ): EdgeColumn {
    const offsets = [0];
    const targets: number[] = [];
    const facets: (Facets | undefined)[] = [];
    for (const uid of uids) {
      const edges = [...edgesOf(uid)].sort((a, b) => a.target - b.target);
      const kept = new Set(
        cut(
          Float64Array.from(edges, (edge) => edge.target),
          request.bounds ?? {},
        ),
      );
      for (const edge of edges) {
        if (!kept.has(edge.target)) continue;
        targets.push(edge.target);
        facets.push(edge.facets);
      }
      offsets.push(targets.length);
    }
    return {
      kind: "edges",
      offsets: Uint32Array.from(offsets),
      targets: Float64Array.from(targets),
      facets: request.facets ? facets : undefined,
    };
  }

  #list(list: ListRef): UidSet {
    switch (list.kind) {
      case "presence":
        return setOf(this.#of(this.#name(list.predicate)).map((fact) => fact.subject));
      case "edges":
        return setOf(
          this.#of(this.#name(list.predicate)).flatMap((fact) =>
            fact.subject === list.subject && typeof fact.object === "number" ? [fact.object] : [],
          ),
        );
      case "objects":
        return setOf(
          this.#of(this.#reversed(list.index)).flatMap((fact) =>
            typeof fact.object === "number" ? [fact.object] : [],
          ),
        );
      case "reverse":
        return setOf(
          this.#of(this.#reversed(list.index)).flatMap((fact) =>
            fact.object === list.object ? [fact.subject] : [],
          ),
        );
      case "token": {
        let found: UidSet = new Float64Array(0);
        this.scanTokens(list.index, { from: list.token, to: list.token }, (_, uids) => {
          found = uids;
          return false;
        });
        return found;
      }
      case "count": {
        let found: UidSet = new Float64Array(0);
        this.scanCounts(list.index, { from: list.count, to: list.count }, (_, uids) => {
          found = uids;
          return false;
        });
        return found;
      }
    }
  }
}

function groupFacts(
  facts: readonly TestFact[],
  keyOf: (fact: TestFact) => string,
): ReadonlyMap<string, readonly TestFact[]> {
  const groups = new Map<string, TestFact[]>();
  for (const fact of facts) {
    const group = groups.get(keyOf(fact));
    if (group === undefined) groups.set(keyOf(fact), [fact]);
    else group.push(fact);
  }
  return groups;
}

function setOf(uids: readonly number[]): UidSet {
  return sortUnique(Float64Array.from(uids));
}

function cut(set: UidSet, bounds: ListBounds): UidSet {
  let members = [...set];
  if (bounds.after !== undefined) members = members.filter((uid) => uid > (bounds.after ?? 0));
  if (bounds.reverse === true) members.reverse();
  if (bounds.skip !== undefined) members = members.slice(bounds.skip);
  if (bounds.limit !== undefined) members = members.slice(0, bounds.limit);
  return Float64Array.from(members).sort();
}
