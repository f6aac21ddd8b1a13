/**
 * Hot: walks tokens of an index through the windows that are kept (`token-cache.ts`), filling them on the way. What no
 * window may serve is left to the plain scan (`list-scan.ts`).
 */
import { must } from "../base/assert.ts";
import { compareBytes } from "../base/bytes.ts";
import type { Steps } from "../base/maybe.ts";
import { concat } from "../base/sorted.ts";
import { isHead } from "../codec/chunk.ts";
import {
  chunkKey,
  listPrefixOf,
  prefixRange,
  readChunkNumber,
  readToken,
  tokenList,
  tokenRange,
} from "../codec/key.ts";
import type { KeyRange } from "../codec/key.ts";
import { emptyUidSet } from "../model/uid.ts";
import type { UidSet } from "../model/uid.ts";
import type { RecordCache } from "./cache.ts";
import { decodeRow } from "./list-rows.ts";
import type { ListReader } from "./list.ts";
import { copyBytes } from "./record.ts";
import { placeOfToken, windowMembers, windowTokens } from "./token-cache.ts";
import type { TokenTable, TokenWindow } from "./token-cache.ts";

/** As `ListVisitor`, with tokens. A long list is visited chunk by chunk. */
export type TokenVisitor =
  | { readonly kind: "uids"; readonly visit: (token: Uint8Array, uids: UidSet) => boolean }
  | { readonly kind: "counts"; readonly visit: (token: Uint8Array, count: number) => boolean };

/** Tokens from `from` on and in front of `to`; undefined for the end of the index. */
export interface TokenStretch {
  readonly storageId: number;
  readonly index: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array | undefined;
  readonly reverse: boolean;
}

/** So many windows are filled by one scan; what it still wants then is not worth keeping. */
const fillsMax = 8;

/** The stretch that is left for the plain scan; undefined where the walk is done. */
export function* scanWindows(
  lists: ListReader,
  cache: RecordCache,
  stretch: TokenStretch,
  visitor: TokenVisitor,
): Steps<TokenStretch | undefined> {
  const table = cache.lists.tokens.table(stretch.storageId, stretch.index);
  if (table === undefined) return stretch;
  const walk = new WindowWalk(lists, cache, table, visitor);
  let left: TokenStretch | undefined = stretch;
  while (left !== undefined && !isEmptyStretch(left)) {
    const window: TokenWindow | undefined = walk.find(left) ?? (yield* walk.fill(left));
    if (window === undefined || window.changedAt > lists.snapshot.ts) return left;
    left = yield* walk.visit(window, left);
  }
  return undefined;
}

function isEmptyStretch({ from, to }: TokenStretch): boolean {
  return to !== undefined && compareBytes(from, to) >= 0;
}

/** The smallest token that is greater. */
export function tokenBehind(token: Uint8Array): Uint8Array {
  const behind = new Uint8Array(token.length + 1);
  behind.set(token);
  return behind;
}

/** The rows of a stretch. */
export function stretchRange({ storageId, index, from, to }: TokenStretch): KeyRange {
  return tokenRange(storageId, index, from, to);
}

class WindowWalk {
  readonly #lists: ListReader;
  readonly #cache: RecordCache;
  readonly #table: TokenTable;
  readonly #visitor: TokenVisitor;
  #fills = 0;

  constructor(lists: ListReader, cache: RecordCache, table: TokenTable, visitor: TokenVisitor) {
    this.#lists = lists;
    this.#cache = cache;
    this.#table = table;
    this.#visitor = visitor;
  }

  /** The window at the beginning of what is left. */
  find({ from, to, reverse }: TokenStretch): TokenWindow | undefined {
    return reverse ? this.#table.before(to) : this.#table.at(from);
  }

  /** Gives a window's tokens that belong to the stretch; returns what is left, undefined when the visitor stopped. */
  *visit(window: TokenWindow, stretch: TokenStretch): Steps<TokenStretch | undefined> {
    const { reverse, from, to } = stretch;
    const start = compareBytes(from, window.from) <= 0 ? 0 : placeOfToken(window, from);
    const end = to === undefined ? window.tokens.length : placeOfToken(window, to);
    for (let i = start; i < end; i++) {
      const place = reverse ? end - 1 - (i - start) : i;
      const goOn =
        window.isLong[place] === 1
          ? yield* this.#long(stretch, must(window.tokens[place], "within bounds"))
          : this.#give(window, place);
      if (!goOn) return undefined;
    }
    if (reverse) return window.from.length === 0 ? undefined : { ...stretch, to: window.from };
    return window.to === undefined ? undefined : { ...stretch, from: window.to };
  }

  #give(window: TokenWindow, place: number): boolean {
    const visitor = this.#visitor;
    const from = must(window.offsets[place], "each token has its bounds");
    const to = must(window.offsets[place + 1], "each token has its bounds");
    return visitor.kind === "counts"
      ? visitor.visit(must(window.tokens[place], "within bounds"), to - from)
      : visitor.visit(must(window.tokens[place], "within bounds"), window.uids.subarray(from, to));
  }

  /** A list of several rows, from the store. False where the visitor stopped. */
  *#long({ storageId, index }: TokenStretch, token: Uint8Array): Steps<boolean> {
    const visitor = this.#visitor;
    const prefix = tokenList(storageId, index, token);
    let goesOn = true;
    if (visitor.kind === "counts") {
      yield this.#lists.countRowsTo([prefix], (counts) => {
        const count = must(counts[0], "one count was asked for");
        goesOn = count === 0 || visitor.visit(token, count);
      });
    } else {
      yield this.#lists.walk(prefix, {}, (uids) => (goesOn = visitor.visit(token, uids)));
    }
    return goesOn;
  }

  /** Reads and keeps the window at the beginning of what is left; undefined where nothing may be kept. */
  *fill(left: TokenStretch): Steps<TokenWindow | undefined> {
    if (!this.#lists.canFill || this.#fills === fillsMax) return undefined;
    this.#fills++;
    const gap: TokenStretch = left.reverse
      ? { ...left, from: this.#table.gapStart(left.to) }
      : { ...left, to: this.#table.gapEnd(left.from) };
    const window = yield* new WindowFill(gap).read(this.#lists);
    this.#cache.addWindow(this.#table, window);
    return window;
  }
}

/** Reads one window from an end of a gap. */
class WindowFill {
  readonly #gap: TokenStretch;
  readonly #tokens: Uint8Array[] = [];
  readonly #sets: UidSet[] = [];
  readonly #isLong: number[] = [];
  #members = 0;

  constructor(gap: TokenStretch) {
    this.#gap = gap;
  }

  *read(lists: ListReader): Steps<TokenWindow> {
    const { reverse } = this.#gap;
    const { ts } = lists.snapshot;
    let { start, end } = stretchRange(this.#gap);
    for (;;) {
      let long: Uint8Array | undefined;
      yield lists.snapshot.scan({ start, end, reverse }, (key, bytes) => {
        const prefix = listPrefixOf(key);
        // Backwards the chunks of a long list come before its head.
        if (readChunkNumber(key) !== 0 || isHead(bytes)) {
          long = copyBytes(prefix);
          return false;
        }
        return this.#keep(readToken(prefix), decodeRow(bytes, false, {}).uids);
      });
      if (long === undefined) return this.#finish(ts);
      if (!this.#keep(readToken(long), undefined)) return this.#finish(ts);
      if (reverse) end = chunkKey(long, 0);
      else start = prefixRange(long).end;
    }
  }

  /** False when the window is full. `uids`: undefined for a list of several rows. */
  #keep(token: Uint8Array, uids: UidSet | undefined): boolean {
    this.#tokens.push(token);
    this.#sets.push(uids ?? emptyUidSet);
    this.#isLong.push(uids === undefined ? 1 : 0);
    this.#members += uids?.length ?? 0;
    return this.#tokens.length < windowTokens && this.#members < windowMembers;
  }

  #finish(ts: number): TokenWindow {
    const { reverse, from, to } = this.#gap;
    const tokens = this.#tokens;
    const last = tokens[tokens.length - 1];
    const isFull = tokens.length >= windowTokens || this.#members >= windowMembers;
    if (reverse) {
      tokens.reverse();
      this.#sets.reverse();
      this.#isLong.reverse();
    }
    const offsets = new Uint32Array(tokens.length + 1);
    for (let i = 0; i < tokens.length; i++)
      offsets[i + 1] =
        must(offsets[i], "each token has its bounds") +
        must(this.#sets[i], "each token has its set").length;
    const isCut = isFull && last !== undefined;
    return {
      from: isCut && reverse ? last : from,
      to: isCut && !reverse ? tokenBehind(last) : to,
      tokens,
      offsets,
      uids: concat(this.#sets),
      isLong: Uint8Array.from(this.#isLong),
      changedAt: ts,
    };
  }
}
