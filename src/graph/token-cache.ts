/**
 * Hot: decoded stretches of indexes in the order of their tokens. Stepping over a token in the store costs 1 to 2 µs, here
 * 50 ns. Right under the same rule as the record cache (`cache.ts`), which owns it: what a commit changes is written
 * into new windows, and a window serves no snapshot older than the last commit that changed it.
 */
import { must } from "../base/assert.ts";
import { compareBytes, emptyBytes } from "../base/bytes.ts";
import { lowerBound } from "../base/sorted.ts";
import { keyKind, readKind, readListId, readStorageId, readToken } from "../codec/key.ts";
import type { UidSet } from "../model/uid.ts";

/** All tokens of one index between two bounds, with their members. Never changed, but replaced. */
export interface TokenWindow {
  /** The first token that belongs to it, if there is such a token. */
  readonly from: Uint8Array;
  /** The first one that does not; undefined: the index ends in it. */
  readonly to: Uint8Array | undefined;
  readonly tokens: readonly Uint8Array[];
  /** Members of token i stand in uids[offsets[i]] … uids[offsets[i + 1] - 1]; none of a long one. */
  readonly offsets: Uint32Array;
  readonly uids: UidSet;
  /** 1 for a token whose members are not held: its list has several rows, or has had. */
  readonly isLong: Uint8Array;
  /** The commit at which it was read or changed last. */
  readonly changedAt: number;
}

/** Windows are filled up to so many tokens or members. */
export const windowTokens = 128;
export const windowMembers = 2048;

/** A window or a token that has grown beyond so many times its fill is given up. */
const growth = 4;

/** An index is held from so many scans on. */
const asksToHold = 4;

/** What a token and a window weigh beside their members, and a member. */
const tokenBytes = 140;
const windowBytes = 400;
const memberBytes = 8;

/** One index. */
export class TokenTable {
  asks = 0;
  readonly #windows: TokenWindow[] = [];
  /** Beside the windows: whether one was used since the last sweep. */
  readonly #used: boolean[] = [];
  bytes = 0;

  get size(): number {
    return this.#windows.length;
  }

  /** How many windows begin at or before a token. */
  #countTo(token: Uint8Array): number {
    let low = 0;
    let high = this.#windows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(must(this.#windows[middle], "a window below the count").from, token) <= 0)
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The window that a token belongs to. */
  at(token: Uint8Array): TokenWindow | undefined {
    return this.#take(this.#countTo(token) - 1, token, 1);
  }

  /** The window that the tokens right in front of `token` belong to; undefined for the end of the index. */
  before(token: Uint8Array | undefined): TokenWindow | undefined {
    if (token === undefined) {
      const last = this.#windows.length - 1;
      if (last < 0 || must(this.#windows[last], "a window below the count").to !== undefined)
        return undefined;
      this.#used[last] = true;
      return this.#windows[last];
    }
    let place = this.#countTo(token) - 1;
    if (
      place >= 0 &&
      compareBytes(must(this.#windows[place], "a window below the count").from, token) === 0
    )
      place--;
    return this.#take(place, token, 0);
  }

  #take(place: number, token: Uint8Array, least: number): TokenWindow | undefined {
    const window = this.#windows[place];
    if (window === undefined) return undefined;
    if (window.to !== undefined && compareBytes(window.to, token) < least) return undefined;
    this.#used[place] = true;
    return window;
  }

  /** Where the window behind a token that belongs to none begins. */
  gapEnd(token: Uint8Array): Uint8Array | undefined {
    return this.#windows[this.#countTo(token)]?.from;
  }

  /** Where the window in front of the gap that ends at `token` ends. */
  gapStart(token: Uint8Array | undefined): Uint8Array {
    let place = (token === undefined ? this.#windows.length : this.#countTo(token)) - 1;
    const found = this.#windows[place];
    if (found !== undefined && token !== undefined && compareBytes(found.from, token) === 0) {
      place--;
    }
    return this.#windows[place]?.to ?? emptyBytes;
  }

  /** False where it would overlap another one. */
  add(window: TokenWindow): boolean {
    const place = this.#countTo(window.from);
    const before = this.#windows[place - 1];
    const behind = this.#windows[place];
    if (before !== undefined) {
      if (before.to === undefined || compareBytes(before.to, window.from) > 0) return false;
    }
    if (behind !== undefined) {
      if (window.to === undefined || compareBytes(window.to, behind.from) > 0) return false;
    }
    this.#windows.splice(place, 0, window);
    this.#used.splice(place, 0, true);
    this.bytes += weightOf(window);
    return true;
  }

  /** A commit's change of one list. */
  apply(change: MemberChange): void {
    const { token } = change;
    const place = this.#countTo(token) - 1;
    const window = this.#windows[place];
    if (window === undefined) return;
    if (window.to !== undefined && compareBytes(window.to, token) <= 0) return;
    const changed = changeWindow(window, change);
    if (changed === window) return;
    this.bytes -= weightOf(window);
    if (changed === undefined) this.#remove(place);
    else {
      this.#windows[place] = changed;
      this.bytes += weightOf(changed);
    }
  }

  #remove(place: number): void {
    this.#windows.splice(place, 1);
    this.#used.splice(place, 1);
  }

  /** Takes out what was not used since the last sweep. */
  sweep(): void {
    for (let i = this.#windows.length - 1; i >= 0; i--) {
      if (this.#used[i] === true) this.#used[i] = false;
      else {
        this.bytes -= weightOf(must(this.#windows[i], "a window below the count"));
        this.#remove(i);
      }
    }
  }
}

function weightOf({ tokens, uids }: TokenWindow): number {
  return windowBytes + tokens.length * tokenBytes + uids.length * memberBytes;
}

/** The place of the first token that is not in front of `token`. */
export function placeOfToken(window: TokenWindow, token: Uint8Array): number {
  const { tokens } = window;
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(must(tokens[middle], "within bounds"), token) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A member that a commit added to a token's list or took out of it. */
interface MemberChange {
  readonly token: Uint8Array;
  readonly member: number;
  readonly isAdded: boolean;
  readonly commitTs: number;
}

/** The window after a change; undefined where it has grown too large. */
function changeWindow(
  window: TokenWindow,
  { token, member, isAdded, commitTs }: MemberChange,
): TokenWindow | undefined {
  const { from, to, tokens, offsets, uids, isLong } = window;
  const place = placeOfToken(window, token);
  const found = tokens[place];
  const isKnown = found !== undefined && compareBytes(found, token) === 0;
  // Members of a long list are read from the store each time.
  if (isKnown && isLong[place] === 1) return window;
  const start = must(offsets[place], "each token has its bounds");
  const end = isKnown ? must(offsets[place + 1], "each token has its bounds") : start;
  const at = lowerBound(uids, member, start, end);
  const isMember = at < end && uids[at] === member;
  if (isMember === isAdded) return window;
  if (isAdded) {
    if (uids.length >= windowMembers * growth) return undefined;
    if (!isKnown && tokens.length >= windowTokens * growth) return undefined;
  }
  const step = isAdded ? 1 : -1;
  const isGone = !isAdded && end - start === 1;
  const shape = isKnown && !isGone ? keepSpaces(window) : respace(window, place, token, isAdded);
  const { offsets: moved } = shape;
  for (let i = isGone ? place : place + 1; i < moved.length; i++) {
    moved[i] = must(moved[i], "each token has its bounds") + step;
  }
  return { from, to, ...shape, uids: withMember(uids, at, member, isAdded), changedAt: commitTs };
}

function withMember(uids: UidSet, at: number, member: number, isAdded: boolean): UidSet {
  const changed = new Float64Array(uids.length + (isAdded ? 1 : -1));
  changed.set(uids.subarray(0, at));
  if (isAdded) changed[at] = member;
  changed.set(uids.subarray(isAdded ? at : at + 1), isAdded ? at + 1 : at);
  return changed;
}

type Spaces = Pick<TokenWindow, "tokens" | "offsets" | "isLong">;

function keepSpaces({ tokens, offsets, isLong }: TokenWindow): Spaces {
  return { tokens, offsets: offsets.slice(), isLong };
}

/** The columns of a window with one token more or less, whose members are still to be counted. */
function respace(
  { tokens, offsets, isLong }: TokenWindow,
  place: number,
  token: Uint8Array,
  isNew: boolean,
): Spaces {
  const rest = isNew ? place : place + 1;
  const step = isNew ? 1 : -1;
  const spaced = new Uint32Array(offsets.length + step);
  spaced.set(offsets.subarray(0, place));
  spaced.set(offsets.subarray(rest), isNew ? place + 1 : place);
  if (isNew) spaced[place] = must(offsets[place], "each token has its bounds");
  const flags = new Uint8Array(isLong.length + step);
  flags.set(isLong.subarray(0, place));
  flags.set(isLong.subarray(rest), isNew ? place + 1 : place);
  const names = isNew ? tokens.toSpliced(place, 0, token) : tokens.toSpliced(place, 1);
  return { tokens: names, offsets: spaced, isLong: flags };
}

/** Windows of the indexes of a process. */
export class TokenCache {
  readonly #bytesMax: number;
  readonly #tables = new Map<string, TokenTable>();

  /** 0 bytes: keeps nothing. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  /** The windows of an index that has been scanned often enough to be held. */
  table(storageId: number, index: number): TokenTable | undefined {
    if (this.#bytesMax === 0) return undefined;
    const key = tableKey(storageId, index);
    let table = this.#tables.get(key);
    if (table === undefined) this.#tables.set(key, (table = new TokenTable()));
    return table.asks < asksToHold && ++table.asks < asksToHold ? undefined : table;
  }

  add(table: TokenTable, window: TokenWindow): void {
    if (!table.add(window)) return;
    if (this.#bytes() > this.#bytesMax) this.#sweep();
  }

  #bytes(): number {
    let bytes = 0;
    for (const table of this.#tables.values()) bytes += table.bytes;
    return bytes;
  }

  /** What was not used since the last sweep goes; all, where that is too little. */
  #sweep(): void {
    for (const [key, table] of this.#tables) {
      table.sweep();
      if (table.size === 0) this.#tables.delete(key);
    }
    if (this.#bytes() > this.#bytesMax * sweptTo) this.#tables.clear();
  }

  /** A member that a commit added to a list or took out of it. */
  apply(list: Uint8Array, member: number, isAdded: boolean, commitTs: number): void {
    if (this.#tables.size === 0 || readKind(list) !== keyKind.index) return;
    const table = this.#tables.get(tableKey(readStorageId(list), readListId(list)));
    if (table === undefined || table.size === 0) return;
    table.apply({ token: readToken(list), member, isAdded, commitTs });
  }

  clear(): void {
    this.#tables.clear();
  }
}

/** A sweep leaves at most this part of what may be kept. */
const sweptTo = 3 / 4;

function tableKey(storageId: number, index: number): string {
  return `${storageId}/${index}`;
}
