/**
 * What a view changes of the snapshot below it (reference/transactions 6): own facts that are not committed, and what
 * others committed since. Both are patches seen from the side of reading: a record's slot is so now, a list's member is
 * there or not. They are absolute, so that one delta may lie over another: the upper one wins.
 */
import { must } from "../base/assert.ts";
import { compareBytes } from "../base/bytes.ts";

/** Looked up by every read of a view. Lists by their key prefix (`codec/key.ts`) as latin1 text. */
export interface Delta {
  /** Nothing is changed (yet): readers then take their short ways. */
  readonly isEmpty: boolean;
  record(uid: number): RecordDelta | undefined;
  list(prefix: string): ListDelta | undefined;
  /** Changed lists of an index or count id, ascending by their prefix; undefined when there are none. */
  listsUnder(prefix: string): readonly NamedList[] | undefined;
}

export interface NamedList {
  readonly prefix: Uint8Array;
  readonly delta: ListDelta;
}

/** Predicate id → what changed there. */
export type RecordDelta = ReadonlyMap<number, EntryDelta>;

export interface EntryDelta {
  /** Slot → encoded cell, undefined for removed. */
  readonly slots: ReadonlyMap<string, Uint8Array | undefined>;
  readonly edges: ListDelta;
}

/** Members of a list that are there (with their facets, empty for none) or are not. */
export class ListDelta {
  readonly #members = new Map<number, Uint8Array | undefined>();
  #adds: Float64Array | undefined = undefined;
  #removes: Float64Array | undefined = undefined;

  get size(): number {
    return this.#members.size;
  }

  set(member: number, facets: Uint8Array | undefined): void {
    this.#members.set(member, facets);
    this.#adds = undefined;
    this.#removes = undefined;
  }

  has(member: number): boolean {
    return this.#members.has(member);
  }

  /** Of a member that is there. */
  facets(member: number): Uint8Array | undefined {
    return this.#members.get(member);
  }

  /** Members that are there, ascending; those of the list below may be among them. */
  adds(): Float64Array {
    return (this.#adds ??= this.#collect(true));
  }

  /** Members that are not there, ascending. */
  removes(): Float64Array {
    return (this.#removes ??= this.#collect(false));
  }

  #collect(present: boolean): Float64Array {
    const found: number[] = [];
    for (const [member, facets] of this.#members) {
      if ((facets !== undefined) === present) found.push(member);
    }
    return new Float64Array(found).sort();
  }
}

/** The lower half of a stack of deltas is asked only where the upper half says nothing. */
export function stackDeltas(upper: Delta | undefined, lower: Delta | undefined): Delta | undefined {
  if (upper === undefined || lower === undefined) return upper ?? lower;
  return {
    get isEmpty() {
      return upper.isEmpty && lower.isEmpty;
    },
    record: (uid) => stackRecords(upper.record(uid), lower.record(uid)),
    list: (prefix) => stackLists(upper.list(prefix), lower.list(prefix)),
    listsUnder: (prefix) =>
      stackNamedLists(upper.listsUnder(prefix) ?? [], lower.listsUnder(prefix) ?? []),
  };
}

function stackRecords(
  upper: RecordDelta | undefined,
  lower: RecordDelta | undefined,
): RecordDelta | undefined {
  if (upper === undefined || lower === undefined) return upper ?? lower;
  const both = new Map(lower);
  for (const [predicate, entry] of upper) {
    const below = lower.get(predicate);
    both.set(
      predicate,
      below === undefined
        ? entry
        : {
            slots: new Map([...below.slots, ...entry.slots]),
            edges: stackLists(entry.edges, below.edges) ?? entry.edges,
          },
    );
  }
  return both;
}

function stackLists(
  upper: ListDelta | undefined,
  lower: ListDelta | undefined,
): ListDelta | undefined {
  if (upper === undefined || upper.size === 0) return lower;
  if (lower === undefined || lower.size === 0) return upper;
  const both = new ListDelta();
  for (const delta of [lower, upper]) {
    for (const member of delta.removes()) both.set(member, undefined);
    for (const member of delta.adds()) both.set(member, delta.facets(member));
  }
  return both;
}

function stackNamedLists(
  upper: readonly NamedList[],
  lower: readonly NamedList[],
): readonly NamedList[] {
  const both: NamedList[] = [];
  let i = 0;
  let j = 0;
  while (i < upper.length || j < lower.length) {
    const a = upper[i];
    const b = lower[j];
    const order = a === undefined ? 1 : b === undefined ? -1 : compareBytes(a.prefix, b.prefix);
    if (order < 0 && a !== undefined) both.push(a);
    else if (order > 0 && b !== undefined) both.push(b);
    else if (a !== undefined && b !== undefined) {
      both.push({ prefix: a.prefix, delta: stackLists(a.delta, b.delta) ?? a.delta });
    }
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return both;
}

/** A key as a map's key. Prefixes are 9 to 30 bytes. */
export function prefixText(prefix: Uint8Array): string {
  let text = "";
  for (let i = 0; i < prefix.length; i++)
    text += String.fromCharCode(must(prefix[i], "a byte of the prefix"));
  return text;
}

export function prefixBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
