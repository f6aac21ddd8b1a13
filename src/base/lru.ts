/** Keeps what was used last, up to a total weight; what was used while it was less than half full counts as old. */
export class Lru<K, V> {
  private readonly entries = new Map<K, { value: V; weight: number }>();
  private readonly weightMax: number;
  private readonly weigh: (value: V, key: K) => number;
  private readonly dropped: ((value: V, key: K) => void) | undefined;
  private total = 0;

  /**
   * `weigh` defaults to 1 for each: then `weightMax` is a number of entries. `dropped` is told what made room for others,
   * not what was replaced or deleted.
   */
  constructor(
    weightMax: number,
    weigh: (value: V, key: K) => number = () => 1,
    dropped?: (value: V, key: K) => void,
  ) {
    this.weightMax = weightMax;
    this.weigh = weigh;
    this.dropped = dropped;
  }

  /**
   * For what is made of its key's text and as large in proportion: `countMax` entries whose keys have up to `units`
   * UTF-16 units, fewer of longer ones.
   */
  static byLength<V>(countMax: number, units: number): Lru<string, V> {
    return new Lru(countMax * units, (_, key) => Math.max(units, key.length));
  }

  get size(): number {
    return this.entries.size;
  }

  get weight(): number {
    return this.total;
  }

  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // Far from full nothing is dropped soon: keeping the order would cost more than all the rest.
    if (this.total * 2 < this.weightMax) return entry.value;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Without counting as a use. */
  peek(key: K): V | undefined {
    return this.entries.get(key)?.value;
  }

  /** What alone weighs more than the bound is not kept. */
  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.weigh(value, key);
    if (weight > this.weightMax) return;
    this.entries.set(key, { value, weight });
    this.total += weight;
    this.makeRoom();
  }

  /** To be called when what an entry weighs has changed. One that weighs more than the bound by now is dropped. */
  reweigh(key: K): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    const weight = this.weigh(entry.value, key);
    this.total += weight - entry.weight;
    entry.weight = weight;
    if (weight > this.weightMax) this.drop(key, entry.value);
    else this.makeRoom();
  }

  private makeRoom(): void {
    if (this.total <= this.weightMax) return;
    for (const [oldest, { value }] of this.entries) {
      this.drop(oldest, value);
      if (this.total <= this.weightMax) return;
    }
  }

  private drop(key: K, value: V): void {
    this.delete(key);
    this.dropped?.(value, key);
  }

  delete(key: K): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined) return false;
    this.total -= entry.weight;
    return this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.total = 0;
  }
}
