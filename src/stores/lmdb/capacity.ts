/**
 * Bounds on the bytes in use, and on those that are left on the disk. LMDB grows its map by itself, and its free pages are no loss: what counts is the pages
 * of the tree. Beyond a bound, transactions that put more than they remove are refused; reading and removing go on.
 */
import { keyKind, readKind } from "../../codec/key.ts";
import { Fault } from "../../model/fault.ts";
import type { Logger } from "../../base/log.ts";
import type { DiskRoom } from "../disk-room.ts";
import type { ScanRange } from "../../store/store.ts";
import type { KeyValue, Pieces, Prepared, WriteEngine } from "../key-value.ts";

/** What the store's own numbers may grow by in a commit that adds nothing. */
const numbersGrow = 16;

/** Thrown out of a transaction that was run without looking at what its puts replace. */
class NearBound extends Error {}

export interface CapacityBounds {
  /** Undefined for none but the disk. */
  readonly bytesMax: number | undefined;
  readonly room: DiskRoom;
}

export class CapacityGuard implements WriteEngine {
  readonly bytesMax: number;
  private readonly engine: WriteEngine;
  private readonly countBytes: () => number;
  private readonly room: DiskRoom;
  private readonly logger: Logger;
  private wasShort = false;
  /** As last counted, plus all that was put since. */
  private bytesUsed: number;

  constructor(
    engine: WriteEngine,
    countBytes: () => number,
    bounds: CapacityBounds,
    logger: Logger,
  ) {
    this.engine = engine;
    this.countBytes = countBytes;
    this.bytesMax = bounds.bytesMax ?? Infinity;
    this.room = bounds.room;
    this.logger = logger;
    this.bytesUsed = this.bytesMax === Infinity ? 0 : countBytes();
  }

  get isShipped(): boolean {
    return this.engine.isShipped === true;
  }

  *prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    if (this.isDiskShort()) return yield* this.prepareWithoutRoom(work);
    if (this.bytesMax === Infinity) return yield* this.engine.prepare(work);
    try {
      return yield* this.prepareRoughly(work);
    } catch (error) {
      if (!(error instanceof NearBound)) throw error;
      return yield* this.prepareExactly(work);
    }
  }

  private prepareRoughly<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    return this.prepareMetered(work, false, (bytes) => {
      if (this.bytesUsed + bytes > this.bytesMax) throw new NearBound();
    });
  }

  private prepareExactly<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    const used = this.countBytes();
    this.bytesUsed = used;
    return this.prepareMetered(work, true, (bytes) => {
      if (bytes > 0 && used + bytes > this.bytesMax) {
        throw new Fault("E_STORE_FULL", "the store is full");
      }
    });
  }

  private isDiskShort(): boolean {
    const { isShort } = this.room;
    if (isShort !== this.wasShort) {
      this.wasShort = isShort;
      if (isShort) this.logger.error(`the store takes no more data: ${this.room.explain()}`);
      else this.logger.info("the store takes data again: its disk has room");
    }
    return isShort;
  }

  private prepareWithoutRoom<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    return this.prepareMetered(work, true, (bytes) => {
      if (bytes <= numbersGrow) return;
      throw new Fault("E_STORE_FULL", `the store is full: ${this.room.explain()}`);
    });
  }

  /** `check`: whether there is room for so many bytes; throws where there is none. */
  private *prepareMetered<T>(
    work: (kv: KeyValue) => Pieces<T>,
    isExact: boolean,
    check: (bytes: number) => void,
  ): Pieces<Prepared<T>> {
    let bytes = 0;
    const prepared = yield* this.engine.prepare(function* (kv): Pieces<T> {
      const rows = new MeteredRows(kv, isExact);
      const done = yield* work(rows);
      ({ bytes } = rows);
      check(bytes);
      return done;
    });
    this.bytesUsed += bytes;
    return prepared;
  }
}

/** Counts bytes put; when exact, less what they replace and what is removed. The log has a bound of its own. */
class MeteredRows implements KeyValue {
  bytes = 0;
  private readonly rows: KeyValue;
  private readonly isExact: boolean;

  constructor(rows: KeyValue, isExact: boolean) {
    this.rows = rows;
    this.isExact = isExact;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.rows.get(key);
  }

  put(key: Uint8Array, value: Uint8Array): void {
    if (!this.isExact) this.bytes += key.length + value.length;
    else if (readKind(key) !== keyKind.log)
      this.bytes += value.length + key.length - this.held(key);
    this.rows.put(key, value);
  }

  remove(key: Uint8Array): void {
    if (this.isExact && readKind(key) !== keyKind.log) this.bytes -= this.held(key);
    this.rows.remove(key);
  }

  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void {
    this.rows.scan(range, visit);
  }

  private held(key: Uint8Array): number {
    const value = this.rows.get(key);
    return value === undefined ? 0 : key.length + value.length;
  }
}
