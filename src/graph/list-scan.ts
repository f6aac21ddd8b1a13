/**
 * Hot: walks all lists of an index, reverse or count id in the order of their keys, each with its members or only
 * their count. Lists of one row come straight from one scan; a long one is read apart and the scan goes on behind it.
 */
import { compareBytes } from "../base/bytes.ts";
import type { Steps } from "../base/maybe.ts";
import { decodeHead, isHead, listCount } from "../codec/chunk.ts";
import { chunkKey, listPrefixOf, prefixRange, readChunkNumber } from "../codec/key.ts";
import type { KeyRange } from "../codec/key.ts";
import type { UidSet } from "../model/uid.ts";
import { prefixText } from "./delta.ts";
import type { NamedList } from "./delta.ts";
import { decodeRow, mergeSet } from "./list-rows.ts";
import type { ListReader } from "./list.ts";
import { copyBytes } from "./record.ts";

/** False stops the walk. A long list is visited chunk by chunk. Prefix and members are lent. */
type ListVisitor =
  | { readonly kind: "uids"; readonly visit: (prefix: Uint8Array, uids: UidSet) => boolean }
  | { readonly kind: "counts"; readonly visit: (prefix: Uint8Array, count: number) => boolean };

interface ListScan {
  readonly range: KeyRange;
  readonly reverse: boolean;
  /** The key prefix of the id, under which a delta's lists are asked for. */
  readonly under: Uint8Array;
}

/** Rows of a long list that are stepped over in the scan; more cost less to seek past. */
const rowsStepped = 8;

/** Ends early when the visitor says so; empty lists are not visited. */
export function* scanLists(lists: ListReader, scan: ListScan, visitor: ListVisitor): Steps<void> {
  const changed = changedLists(lists, scan);
  const walk = new Walk(lists, visitor, changed, scan.reverse);
  let { start, end } = scan.range;
  for (;;) {
    let long: Uint8Array | undefined;
    yield lists.snapshot.scan({ start, end, reverse: scan.reverse }, (key, bytes) => {
      const prefix = listPrefixOf(key);
      if (readChunkNumber(key) !== 0) {
        if (!scan.reverse) return true;
        long = copyBytes(prefix);
        return false;
      }
      if (isHead(bytes) && !walk.canCount(bytes)) {
        long = copyBytes(prefix);
        return false;
      }
      return walk.short(prefix, bytes);
    });
    if (long === undefined) break;
    yield* walk.long(long);
    if (walk.stopped) return;
    if (scan.reverse) end = chunkKey(long, 0);
    else start = prefixRange(long).end;
  }
  walk.rest();
}

function changedLists(lists: ListReader, scan: ListScan): NamedList[] {
  const all = lists.delta?.listsUnder(prefixText(scan.under));
  if (all === undefined) return [];
  const { start, end } = scan.range;
  const within = all.filter(
    ({ prefix, delta }) =>
      delta.size > 0 && compareBytes(prefix, start) >= 0 && compareBytes(prefix, end) < 0,
  );
  return scan.reverse ? within.reverse() : within;
}

class Walk {
  stopped = false;
  readonly #lists: ListReader;
  readonly #visitor: ListVisitor;
  /** Changed lists that the walk has not reached yet, in its order. */
  readonly #changed: readonly NamedList[];
  readonly #reverse: boolean;
  #next = 0;

  constructor(
    lists: ListReader,
    visitor: ListVisitor,
    changed: readonly NamedList[],
    reverse: boolean,
  ) {
    this.#lists = lists;
    this.#visitor = visitor;
    this.#changed = changed;
    this.#reverse = reverse;
  }

  /** Whether the head alone answers and the rows behind it are few enough to step over. */
  canCount(head: Uint8Array): boolean {
    if (this.#visitor.kind !== "counts" || this.#reverse || this.#changed.length > 0) return false;
    return decodeHead(head).chunks <= rowsStepped;
  }

  /** A list of one row, or the head of one that is only counted. */
  short(prefix: Uint8Array, bytes: Uint8Array): boolean {
    if (this.#next === this.#changed.length) return this.#give(prefix, bytes);
    if (!this.#before(prefix)) return false;
    const changed = this.#changed[this.#next];
    if (changed === undefined || compareBytes(changed.prefix, prefix) !== 0) {
      return this.#give(prefix, bytes);
    }
    this.#next++;
    return this.#members(prefix, mergeSet(decodeRow(bytes, false, {}).uids, changed.delta));
  }

  *long(prefix: Uint8Array): Steps<void> {
    if (!this.#before(prefix)) return;
    const changed = this.#changed[this.#next];
    if (changed !== undefined && compareBytes(changed.prefix, prefix) === 0) this.#next++;
    const { visitor, lists } = { visitor: this.#visitor, lists: this.#lists };
    if (visitor.kind === "counts") {
      let count = 0;
      yield lists.countRowsTo([prefix], (counts) => (count = counts[0] ?? 0));
      if (count > 0 && !visitor.visit(prefix, count)) this.stopped = true;
      return;
    }
    yield lists.walk(prefix, {}, (uids) => {
      if (visitor.visit(prefix, uids)) return true;
      this.stopped = true;
      return false;
    });
  }

  /** Lists that exist only in the delta, behind the last stored one. */
  rest(): void {
    if (!this.stopped) this.#before(undefined);
  }

  /** Gives the changed lists in front of `prefix`, which are not stored. */
  #before(prefix: Uint8Array | undefined): boolean {
    for (;;) {
      const changed = this.#changed[this.#next];
      if (changed === undefined) return true;
      if (prefix !== undefined) {
        const order = compareBytes(changed.prefix, prefix);
        if (this.#reverse ? order <= 0 : order >= 0) return true;
      }
      this.#next++;
      if (!this.#members(changed.prefix, changed.delta.adds())) return false;
    }
  }

  #give(prefix: Uint8Array, bytes: Uint8Array): boolean {
    const visitor = this.#visitor;
    const goOn =
      visitor.kind === "counts"
        ? visitor.visit(prefix, listCount(bytes))
        : visitor.visit(prefix, decodeRow(bytes, false, {}).uids);
    if (!goOn) this.stopped = true;
    return goOn;
  }

  #members(prefix: Uint8Array, uids: UidSet): boolean {
    if (uids.length === 0) return true;
    const visitor = this.#visitor;
    const goOn =
      visitor.kind === "counts" ? visitor.visit(prefix, uids.length) : visitor.visit(prefix, uids);
    if (!goOn) this.stopped = true;
    return goOn;
  }
}
