/**
 * Hot: fingerprint of a key → the number of the newest commit that wrote it (architecture 4). A typed array: a million
 * keys take 32 MB where a Map of strings takes 110. Two generations: when the young one is full it becomes the old
 * one, and what the old one knew is dropped.
 */
export class ConflictMap {
  /** The newest number that was dropped: below it the map knows nothing. */
  horizon: number;
  private young: Generation;
  private old: Generation;
  private readonly keysMax: number;

  /** Remembers at least `keysMax` / 2 keys and at most `keysMax`. */
  constructor(horizon: number, keysMax: number) {
    this.horizon = horizon;
    this.keysMax = keysMax;
    this.young = new Generation();
    this.old = new Generation();
  }

  lastCommit(key: string): number | undefined {
    readFingerprint(key);
    const found = this.young.find(high, low);
    return found === 0 ? this.old.find(high, low) || undefined : found;
  }

  /** Numbers never fall from call to call. */
  record(key: string, commitTs: number): void {
    readFingerprint(key);
    if (this.young.count >= this.keysMax / 2) {
      this.horizon = Math.max(this.horizon, this.old.newest);
      this.old = this.young;
      this.young = new Generation();
    }
    this.young.put(high, low, commitTs);
  }
}

/** The fingerprint that was read last: two numbers without an object. */
let high = 0;
let low = 0;

/** Eight bytes as latin1 are taken as they are; any other text is hashed. */
function readFingerprint(key: string): void {
  if (key.length === 8) {
    high = readU32(key, 0);
    low = readU32(key, 4);
    return;
  }
  high = 0x811c9dc5;
  low = 0x9747b28c;
  for (let i = 0; i < key.length; i++) {
    high = Math.imul(high ^ key.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ key.charCodeAt(i), 0x5bd1e995);
  }
  high >>>= 0;
  low >>>= 0;
}

function readU32(key: string, at: number): number {
  return (
    ((key.charCodeAt(at) << 24) |
      (key.charCodeAt(at + 1) << 16) |
      (key.charCodeAt(at + 2) << 8) |
      key.charCodeAt(at + 3)) >>>
    0
  );
}

/**
 * An open table; number 0 marks a free place (commits begin at 1). Four words lie together for each key, its
 * fingerprint and its number, so that a look costs one miss of the processor's cache instead of three.
 */
class Generation {
  count = 0;
  newest = 0;
  private size = 1024;
  private words = new Uint32Array(this.size * 4);

  find(wantedHigh: number, wantedLow: number): number {
    return this.numberAt(this.placeOf(wantedHigh, wantedLow));
  }

  put(newHigh: number, newLow: number, commitTs: number): void {
    const at = this.placeOf(newHigh, newLow);
    this.newest = commitTs;
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

  private numberAt(at: number): number {
    return this.words[at + 3]! * 2 ** 32 + this.words[at + 2]!;
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

  private grow(): void {
    const { words, newest } = this;
    this.size *= 2;
    this.words = new Uint32Array(this.size * 4);
    this.count = 0;
    for (let at = 0; at < words.length; at += 4) {
      const commitTs = words[at + 3]! * 2 ** 32 + words[at + 2]!;
      if (commitTs !== 0) this.put(words[at]!, words[at + 1]!, commitTs);
    }
    this.newest = newest;
  }
}
