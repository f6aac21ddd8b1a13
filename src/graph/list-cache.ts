/**
 * Hot: decoded members of index and presence lists of a process. A long list costs 4 ns a member to read and decode,
 * a look-up here 200 ns. Right under the same rule as the record cache (`cache.ts`), which owns it: kept up to one
 * commit number, filled only by readers at it, and what a commit changes is taken out first.
 */
import { must } from "../base/assert.ts";
import { intersect } from "../base/sorted.ts";
import { keyKind, presenceList, readKind } from "../codec/key.ts";
import type { UidSet } from "../model/uid.ts";
import { prefixText } from "./delta.ts";
import { TokenCache } from "./token-cache.ts";

interface KeptList {
  readonly uids: UidSet;
  readonly filledAt: number;
  /** One bit for each uid from the first to the last member; made when the list is first intersected. */
  bits: Uint32Array | undefined;
}

/** Uids from the first to the last member for each member, at most, for bits to be made. */
const bitsPerMember = 32;

/** Testing a bit costs 1 ns, stepping through the list beside the uids 3 ns a member. */
const bitsFrom = 256;

/** Bits weigh at most half of what the members do. */
const weightWithBits = 1.5;

/** What a kept list weighs beside its members. */
const listBytes = 200;

/** Reading a list costs what looking some nodes up in their records so often does. */
const asksToWant = 16;

/** Lists that are counted at a time. */
const askedMax = 1000;

/** Lists of so few members are kept only where many are read together: alone they cost what looking them up does. */
export const keptFrom = 16;

/** Windows of indexes may take this part of what lists may. */
const windowShare = 1 / 2;

export class ListCache {
  readonly #bytesMax: number;
  /** Indexes in the order of their tokens, right up to the same number. */
  readonly tokens: TokenCache;
  /** Two generations, as of records: what the older one keeps unused is dropped. */
  #young = new Map<string, KeptList>();
  #old = new Map<string, KeptList>();
  #youngBytes = 0;
  /** How often lists that are not kept were asked for since they last changed. */
  #asked = new Map<string, number>();

  /** 0 bytes: keeps nothing. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.tokens = new TokenCache(bytesMax * windowShare);
  }

  get bytes(): number {
    return this.#youngBytes;
  }

  /** Whether there is nothing that a commit could change. */
  get isEmpty(): boolean {
    return this.holdsNoList && this.#asked.size === 0 && this.tokens.isEmpty;
  }

  get holdsNoList(): boolean {
    return this.#young.size === 0 && this.#old.size === 0;
  }

  /** The longest list that is kept. */
  get membersMax(): number {
    return this.#bytesMax / 64;
  }

  /** A list's name here; undefined for kinds of lists that are not kept. */
  static nameOf(prefix: Uint8Array): string | undefined {
    const kind = readKind(prefix);
    return kind === keyKind.index || kind === keyKind.presence ? prefixText(prefix) : undefined;
  }

  get(name: string, ts: number): UidSet | undefined {
    let list = this.#young.get(name);
    if (list === undefined) {
      list = this.#old.get(name);
      if (list === undefined) return undefined;
      this.#old.delete(name);
      this.#keep(name, list);
    }
    return list.filledAt <= ts ? list.uids : undefined;
  }

  /** Whether a list that is not kept has been asked for so often, unchanged, that reading it pays. */
  isWanted(name: string): boolean {
    const asked = (this.#asked.get(name) ?? 0) + 1;
    if (asked < asksToWant) {
      if (this.#asked.size >= askedMax) this.#asked.clear();
      this.#asked.set(name, asked);
      return false;
    }
    this.#asked.delete(name);
    return true;
  }

  /** Members of a kept list among `uids` (ascending). */
  intersect(name: string, uids: UidSet, ts: number): UidSet | undefined {
    const members = this.get(name, ts);
    if (members === undefined) return undefined;
    const low = members[0] ?? 0;
    const span = (members[members.length - 1] ?? 0) - low + 1;
    if (uids.length < bitsFrom || span > members.length * bitsPerMember) {
      return intersect(uids, members);
    }
    const list = this.#young.get(name);
    if (list === undefined) return intersect(uids, members);
    list.bits ??= makeBits(members, low, span);
    return testBits(list.bits, uids, low, span);
  }

  /** `uids` must be memory of its own, and read at the cache's number. */
  set(name: string, uids: UidSet, filledAt: number): void {
    if (uids.length > this.membersMax) return;
    this.#keep(name, { uids, filledAt, bits: undefined });
  }

  /** A commit gave a node its first value of a predicate, or may have taken the last one. */
  forgetPresence(storageId: number, predicate: number): void {
    if (!this.#namesNone) this.#delete(prefixText(presenceList(storageId, predicate)));
  }

  /** A commit changed a list: it is taken out; windows are changed. */
  forgetMember(
    list: Uint8Array,
    member: number,
    { isAdded, commitTs }: { readonly isAdded: boolean; readonly commitTs: number },
  ): void {
    if (!this.#namesNone) this.#delete(prefixText(list));
    this.tokens.apply(list, member, isAdded, commitTs);
  }

  get #namesNone(): boolean {
    return this.#asked.size === 0 && this.holdsNoList;
  }

  clear(): void {
    this.#asked.clear();
    this.tokens.clear();
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }

  #delete(name: string): void {
    this.#young.delete(name);
    this.#old.delete(name);
    this.#asked.delete(name);
  }

  #keep(name: string, list: KeptList): void {
    this.#young.set(name, list);
    this.#youngBytes += list.uids.byteLength * weightWithBits + listBytes;
    if (this.#youngBytes <= this.#bytesMax / 2) return;
    this.#youngBytes = 0;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function makeBits(members: UidSet, low: number, span: number): Uint32Array {
  const bits = new Uint32Array((span + 31) >>> 5);
  for (let i = 0; i < members.length; i++) {
    const at = must(members[i], "within bounds") - low;
    bits[at >>> 5]! |= 1 << (at & 31);
  }
  return bits;
}

/** `span` is below 2^31: a list that is kept has not so many members. */
function testBits(bits: Uint32Array, uids: UidSet, low: number, span: number): UidSet {
  const isMember = (i: number): boolean => {
    const at = must(uids[i], "within bounds") - low;
    return (
      at >= 0 && at < span && (must(bits[at >>> 5], "a word of the span") & (1 << (at & 31))) !== 0
    );
  };
  let count = 0;
  while (count < uids.length && isMember(count)) count++;
  if (count === uids.length) return uids;
  const out = uids.slice();
  for (let i = count + 1; i < uids.length; i++)
    if (isMember(i)) out[count++] = must(uids[i], "within bounds");
  return out.slice(0, count);
}
