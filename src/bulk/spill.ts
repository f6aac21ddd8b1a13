/** Bytes by bucket, in memory and, where they become too many, in one file; each bucket is read again as a whole. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { must } from "../base/assert.ts";
import { sealOf, tagBytes, type SpillSeal } from "./spill-seal.ts";

interface Segment {
  readonly offset: number;
  /** As it lies in the file. */
  readonly length: number;
  readonly number: number;
}

class Bucket {
  bytes = new Uint8Array(firstBytes);
  at = 0;
  segments: Segment[] = [];
}

const firstBytes = 4096;

export class Spill {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #seal: SpillSeal | undefined;
  #segments = 0;
  readonly #buckets = new Map<number, Bucket>();
  #file: number | undefined = undefined;
  #fileBytes = 0;
  #held = 0;

  /** `key`: of a load into a store that is encrypted. */
  constructor(path: string, bytesMax: number, key?: Uint8Array) {
    this.#path = path;
    this.#seal = sealOf(key, path);
    this.#bytesMax = bytesMax;
  }

  /** Numbers of the buckets, ascending. */
  get buckets(): readonly number[] {
    return [...this.#buckets.keys()].sort((a, b) => a - b);
  }

  /** Where so many bytes can be written: `bytes` of the bucket from `at` on; `at` is moved by the caller. */
  room(number: number, size: number): Bucket {
    let bucket = this.#buckets.get(number);
    if (bucket === undefined) {
      bucket = new Bucket();
      this.#buckets.set(number, bucket);
      this.#held += firstBytes;
    }
    if (bucket.at + size > bucket.bytes.length) this.#grow(bucket, size);
    return bucket;
  }

  #grow(bucket: Bucket, size: number): void {
    const grown = new Uint8Array(Math.max(bucket.at + size, bucket.bytes.length * 2));
    grown.set(bucket.bytes.subarray(0, bucket.at));
    this.#held += grown.length - bucket.bytes.length;
    bucket.bytes = grown;
    if (this.#held > this.#bytesMax) this.#write();
  }

  #write(): void {
    this.#file ??= openSync(this.#path, "w+", 0o600);
    this.#held = 0;
    for (const bucket of this.#buckets.values()) {
      const number = this.#segments++;
      const plain = bucket.bytes.subarray(0, bucket.at);
      const bytes = this.#seal?.close(number, plain) ?? plain;
      writeSync(this.#file, bytes, 0, bytes.length, this.#fileBytes);
      bucket.segments.push({ offset: this.#fileBytes, length: bytes.length, number });
      this.#fileBytes += bytes.length;
      bucket.at = 0;
      if (bucket.bytes.length > keptBytes) bucket.bytes = new Uint8Array(firstBytes);
      this.#held += bucket.bytes.length;
    }
  }

  /** All bytes of a bucket, in their order; the bucket is done with. */
  take(number: number): Uint8Array {
    const bucket = must(this.#buckets.get(number), "a bucket is taken once");
    this.#buckets.delete(number);
    const tag = this.#seal === undefined ? 0 : tagBytes;
    let length = bucket.at;
    for (const segment of bucket.segments) length += segment.length - tag;
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const segment of bucket.segments) at += this.#read(segment, bytes, at);
    bytes.set(bucket.bytes.subarray(0, bucket.at), at);
    return bytes;
  }

  /** Gives how many bytes there are. */
  #read({ offset, length, number }: Segment, target: Uint8Array, at: number): number {
    const file = must(this.#file, "a segment lies in the file");
    if (this.#seal === undefined) {
      readSync(file, target, at, length, offset);
      return length;
    }
    const sealed = Buffer.allocUnsafe(length);
    readSync(file, sealed, 0, length, offset);
    const plain = this.#seal.open(number, sealed);
    target.set(plain, at);
    return plain.length;
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    rmSync(this.#path, { force: true });
  }
}

/** What a bucket keeps of its memory when it is written. */
const keptBytes = 256 * 1024;
