/**
 * Facts of all chunks by their nodes: names become numbers here, and each fact goes to the bucket of its node. Explicit
 * uids and labels are kept apart, so that labels can be numbered behind the greatest uid that the input names.
 */
import { must } from "../base/assert.ts";
import { writeVarint } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import { LabelTable } from "./label-table.ts";
import { noTarget, type ParsedChunk } from "./parsed-chunk.ts";
import { Spill } from "./spill.ts";

/** Nodes of a bucket. */
const bucketNodes = 16_384;
/** Explicit uids that lie further apart than these buckets reach take too much memory. */
const bucketsMax = 20_000;

interface FactBucket {
  readonly facts: Uint8Array;
  readonly firstUid: number;
}

export class FactSpill {
  readonly #labels = new LabelTable();
  readonly #ofLabels: Spill;
  readonly #ofUids: Spill;
  #explicitMax = 0;
  factCount = 0;

  constructor(folder: string, bytesMax: number, key?: Uint8Array) {
    this.#ofLabels = new Spill(`${folder}/labels`, bytesMax / 2, key);
    this.#ofUids = new Spill(`${folder}/uids`, bytesMax / 2, key);
  }

  /** The uid of label n is n + this. */
  get labelOffset(): number {
    return this.#explicitMax;
  }

  get maxUid(): number {
    return this.#explicitMax + this.#labels.count;
  }

  add(chunk: ParsedChunk): void {
    const names = this.#nameAll(chunk);
    const { subjects, targets, predicates, ends, payload, count } = chunk;
    let from = 0;
    for (let i = 0; i < count; i++) {
      const to = must(ends[i], "each fact has its columns");
      const subject = must(subjects[i], "each fact has its columns");
      const target = must(targets[i], "each fact has its columns");
      this.#put(
        must(names[subject], "each label has its name"),
        must(predicates[i], "each fact has its columns"),
        target === noTarget ? 0 : must(names[target], "each label has its name"),
        payload,
        from,
        to,
      );
      from = to;
    }
    this.factCount += count;
  }

  /** Labels as odd numbers, explicit uids as even ones. */
  #nameAll({ labelLow, labelHigh, labelUid }: ParsedChunk): Float64Array {
    const names = new Float64Array(labelLow.length);
    for (let i = 0; i < names.length; i++) {
      const uid = must(labelUid[i], "each label has its columns");
      if (uid === 0) {
        const low = must(labelLow[i], "each label has its columns");
        const high = must(labelHigh[i], "each label has its columns");
        names[i] = this.#labels.numberOf(low, high) * 2 + 1;
      } else {
        names[i] = uid * 2;
        if (uid > this.#explicitMax) this.#explicitMax = uid;
      }
    }
    return names;
  }

  // oxlint-disable-next-line max-params -- hot: an object for each fact would cost more than it does
  #put(
    subject: number,
    predicate: number,
    target: number,
    payload: Uint8Array,
    from: number,
    to: number,
  ): void {
    const number = Math.floor(subject / 2);
    const spill = subject % 2 === 1 ? this.#ofLabels : this.#ofUids;
    const bucketNumber = Math.floor(number / bucketNodes);
    const size = to - from;
    const bucket = spill.room(bucketNumber, frontMax + size);
    const { bytes } = bucket;
    let at = writeVarint(bytes, bucket.at, number - bucketNumber * bucketNodes);
    at = writeVarint(bytes, at, predicate);
    at = writeVarint(bytes, at, target);
    at = writeVarint(bytes, at, size);
    if (size > 24) bytes.set(payload.subarray(from, to), at);
    else
      for (let i = 0; i < size; i++)
        bytes[at + i] = must(payload[from + i], "a byte of the payload");
    bucket.at = at + size;
  }

  /** How many there will be. Fault E_STARTUP where explicit uids are too scattered. */
  get bucketCount(): number {
    const count = this.#ofUids.buckets.length;
    if (count <= bucketsMax) return count + this.#ofLabels.buckets.length;
    const why = `explicit uids lie in ${count} stretches of ${bucketNodes}`;
    throw new Fault("E_STARTUP", `${why}, which is too far apart: load with --new-uids`);
  }

  /** In the order of the uids. */
  *buckets(): Generator<FactBucket, void> {
    for (const number of this.#ofUids.buckets) {
      yield { facts: this.#ofUids.take(number), firstUid: number * bucketNodes };
    }
    for (const number of this.#ofLabels.buckets) {
      const firstUid = number * bucketNodes + this.labelOffset;
      yield { facts: this.#ofLabels.take(number), firstUid };
    }
  }

  close(): void {
    this.#ofLabels.close();
    this.#ofUids.close();
  }
}

/** Of the numbers in front of a payload. */
const frontMax = 4 * 8;
