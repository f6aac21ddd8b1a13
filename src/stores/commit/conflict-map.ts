/**
 * Hot: fingerprint of a key → the number of the newest commit that wrote it (reference/transactions 4.2). A typed
 * array: a million keys take 32 MB where a Map of strings takes 110. Two generations: when the young one is full it
 * becomes the old one, and what the old one knew is dropped.
 */
import { must } from "../../base/assert.ts";
import type { ByteReader, ByteWriter } from "../../base/bytes.ts";

export class ConflictMap {
  /** The newest number that was dropped: below it the map knows nothing. */
  horizon: number;
  private young = new Generation(sizeMin);
  private old = new Generation(sizeMin);
  private readonly keysMax: number;

  /** Remembers at least `keysMax` / 2 keys and at most `keysMax`. */
  constructor(horizon: number, keysMax: number) {
    this.horizon = horizon;
    this.keysMax = keysMax;
  }

  /** No key was written by a later commit. */
  get newest(): number {
    return this.young.count > 0 ? this.young.newest : this.old.newest;
  }

  lastCommit(key: string): number | undefined {
    readFingerprint(key);
    const found = this.young.find(high, low);
    return found === 0 ? this.old.find(high, low) || undefined : found;
  }

  /**
   * Whether a commit after `ts` wrote one of the keys: one of those here, or of the group that is not recorded yet.
   * Nearly always nothing was committed since, and only the group is looked at.
   */
  isTouched(keys: readonly string[], ts: number, group: KeyGroup): boolean {
    const { young, old } = this;
    const asksYoung = young.newest > ts;
    const asksOld = old.newest > ts;
    if (!asksYoung && !asksOld && group.keys.count === 0) return false;
    for (const key of keys) {
      readFingerprint(key);
      if (group.keys.find(high, low) > ts) return true;
      if (asksYoung && young.find(high, low) > ts) return true;
      if (asksOld && old.find(high, low) > ts) return true;
    }
    return false;
  }

  /** Numbers never fall from call to call. */
  record(key: string, commitTs: number): void {
    readFingerprint(key);
    this.put(high, low, commitTs);
  }

  recordGroup(group: KeyGroup): void {
    const { keys } = group;
    for (let at = keys.next(0); at < keys.end; at = keys.next(at + 4)) {
      this.put(keys.wordAt(at), keys.wordAt(at + 1), keys.numberAt(at));
    }
  }

  /** What `KeyGroup.write` wrote. */
  recordFrom(reader: ByteReader): void {
    for (let left = reader.varint(); left > 0; left--) {
      const keyHigh = reader.u32() | 0;
      this.put(keyHigh, reader.u32() | 0, reader.varint());
    }
  }

  private put(keyHigh: number, keyLow: number, commitTs: number): void {
    if (this.young.count >= this.keysMax / 2) {
      this.horizon = Math.max(this.horizon, this.old.newest);
      this.old = this.young;
      // It will be as full: growing again would cost each key a second place.
      this.young = new Generation(this.old.size);
    }
    this.young.put(keyHigh, keyLow, commitTs);
  }
}

/** Keys that the changes of one group wrote, with the number of the newest of them. Used again when it was recorded. */
export class KeyGroup {
  keys = new Generation(groupSize);

  clear(): void {
    if (this.keys.count === 0) return;
    // A table that one large change made is not kept.
    if (this.keys.size > groupSizeKept) this.keys = new Generation(groupSize);
    else this.keys.clear();
  }

  /** A count, then for each key its fingerprint (8 bytes) and number. */
  write(writer: ByteWriter): void {
    const { keys } = this;
    writer.varint(keys.count);
    for (let at = keys.next(0); at < keys.end; at = keys.next(at + 4)) {
      writer.u32(keys.wordAt(at) >>> 0);
      writer.u32(keys.wordAt(at + 1) >>> 0);
      writer.varint(keys.numberAt(at));
    }
  }

  /** Numbers never fall from call to call. */
  note(keys: readonly string[], commitTs: number): void {
    for (const key of keys) {
      readFingerprint(key);
      this.keys.put(high, low, commitTs);
    }
  }
}

/** Places of a table at first. */
const sizeMin = 1024;
const groupSize = 256;
const groupSizeKept = 4096;

/**
 * The fingerprint that was read last: two numbers without an object. Signed, as all words of a fingerprint are here: V8
 * keeps such a number in its place, and makes an object for one above 2^31.
 */
let high = 0;
let low = 0;

/** Eight bytes as latin1 are taken as they are; any other text is hashed. */
function readFingerprint(key: string): void {
  if (key.length === 8) {
    high = readWord(key, 0);
    low = readWord(key, 4);
    return;
  }
  high = 0x811c9dc5 | 0;
  low = 0x9747b28c | 0;
  for (let i = 0; i < key.length; i++) {
    high = Math.imul(high ^ key.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ key.charCodeAt(i), 0x5bd1e995);
  }
}

function readWord(key: string, at: number): number {
  return (
    (key.charCodeAt(at) << 24) |
    (key.charCodeAt(at + 1) << 16) |
    (key.charCodeAt(at + 2) << 8) |
    key.charCodeAt(at + 3)
  );
}

/**
 * An open table; number 0 marks a free place (commits begin at 1). Four words lie together for each key, its
 * fingerprint and its number, so that a look costs one miss of the processor's cache instead of three.
 */
class Generation {
  count = 0;
  newest = 0;
  /** Places: a power of two. */
  size: number;
  private words: Int32Array;

  constructor(size: number) {
    this.size = size;
    this.words = new Int32Array(size * 4);
  }

  find(wantedHigh: number, wantedLow: number): number {
    return this.numberAt(this.placeOf(wantedHigh, wantedLow));
  }

  put(newHigh: number, newLow: number, commitTs: number): void {
    const at = this.placeOf(newHigh, newLow);
    if (commitTs > this.newest) this.newest = commitTs;
    const isNew = this.numberAt(at) === 0;
    const { words } = this;
    words[at] = newHigh;
    words[at + 1] = newLow;
    words[at + 2] = commitTs;
    words[at + 3] = commitTs / 2 ** 32;
    if (!isNew) return;
    this.count++;
    if (this.count * 2 > this.size) this.grow();
  }

  /** Behind the last place. */
  get end(): number {
    return this.words.length;
  }

  /** The first place with a key, from `at` on; `end` where there is none. */
  next(at: number): number {
    const { words } = this;
    if (this.count === 0) return words.length;
    let place = at;
    while (place < words.length && words[place + 2] === 0 && words[place + 3] === 0) place += 4;
    return place;
  }

  wordAt(at: number): number {
    return must(this.words[at], "a slot has four words");
  }

  numberAt(at: number): number {
    return this.wordAt(at + 3) * 2 ** 32 + (this.wordAt(at + 2) >>> 0);
  }

  /** The first word of the key's place, or of the free one where it would be. */
  private placeOf(wantedHigh: number, wantedLow: number): number {
    const { words } = this;
    const mask = this.size * 4 - 1;
    let at = ((wantedLow ^ Math.imul(wantedHigh, 0x9e3779b1)) << 2) & mask;
    while (
      (words[at] !== wantedHigh || words[at + 1] !== wantedLow) &&
      (words[at + 2] !== 0 || words[at + 3] !== 0)
    ) {
      at = (at + 4) & mask;
    }
    return at;
  }

  clear(): void {
    this.count = 0;
    this.newest = 0;
    this.words.fill(0);
  }

  private grow(): void {
    const full = new Generation(this.size * 2);
    for (let at = this.next(0); at < this.end; at = this.next(at + 4)) {
      full.put(this.wordAt(at), this.wordAt(at + 1), this.numberAt(at));
    }
    this.size = full.size;
    this.words = full.words;
  }
}
