/** Hot: the facts of a bucket in columns, ordered by node, predicate and target. */
import { must } from "../base/assert.ts";

/** As `FactSpill` writes them, and what their numbers stand for. */
interface FactBytes {
  readonly facts: Uint8Array;
  /** The uid of label n is n + this. */
  readonly labelOffset: number;
}

export class FactColumns {
  readonly predicates: Uint32Array;
  /** 0 of a value. */
  readonly targets: Float64Array;
  /** Of node n its facts are `order[starts[n]]` up to `order[starts[n + 1]]`; those of one target in the input's order. */
  readonly starts: Int32Array;
  readonly order: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #begins: Int32Array;
  readonly #ends: Int32Array;

  constructor(bytes: Uint8Array, columns: Columns, labelOffset: number) {
    this.#bytes = bytes;
    this.#begins = columns.begins;
    this.#ends = columns.ends;
    this.predicates = columns.predicates;
    this.targets = columns.targets;
    for (let i = 0; i < columns.count; i++) {
      const named = must(this.targets[i], "each fact has its columns");
      const number = Math.floor(named / 2);
      this.targets[i] = named % 2 === 1 ? number + labelOffset : number;
    }
    const { starts, order } = sortByNode(columns);
    this.starts = starts;
    this.order = order;
    for (let node = 0; node + 1 < starts.length; node++) {
      this.#sortNode(
        must(starts[node], "each node has its bounds"),
        must(starts[node + 1], "each node has its bounds"),
      );
    }
  }

  /** Shares the memory of the bucket. */
  payload(fact: number): Uint8Array {
    return this.#bytes.subarray(this.#begins[fact], this.#ends[fact]);
  }

  /** Most nodes have a dozen facts, which come nearly in order. */
  #sortNode(from: number, to: number): void {
    const { order } = this;
    if (to - from > insertMax) {
      order.subarray(from, to).sort((a, b) => this.#compare(a, b));
      return;
    }
    for (let i = from + 1; i < to; i++) {
      const fact = must(order[i], "a place of the node");
      let at = i;
      while (at > from && this.#compare(must(order[at - 1], "a place of the node"), fact) > 0) {
        order[at] = must(order[at - 1], "a place of the node");
        at--;
      }
      order[at] = fact;
    }
  }

  #compare(a: number, b: number): number {
    const { predicates, targets } = this;
    return predicates[a]! - predicates[b]! || targets[a]! - targets[b]! || a - b;
  }
}

const insertMax = 32;

interface Columns {
  count: number;
  nodes: Int32Array;
  predicates: Uint32Array;
  targets: Float64Array;
  begins: Int32Array;
  ends: Int32Array;
}

export function readFacts({ facts, labelOffset }: FactBytes): FactColumns {
  const columns = makeColumns(Math.max(16, facts.length >>> 4));
  let at = 0;
  /** Numbers are read in place: a reader for each cost as much as all else. */
  const readVarint = (): number => {
    let byte = must(facts[at++], "a number ends within the facts");
    let value = byte & 0x7f;
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      byte = must(facts[at++], "a number ends within the facts");
      value += (byte & 0x7f) * scale;
    }
    return value;
  };
  while (at < facts.length) {
    const i = columns.count++;
    if (i === columns.nodes.length) growColumns(columns);
    columns.nodes[i] = readVarint();
    columns.predicates[i] = readVarint();
    columns.targets[i] = readVarint();
    const size = readVarint();
    columns.begins[i] = at;
    at += size;
    columns.ends[i] = at;
  }
  return new FactColumns(facts, columns, labelOffset);
}

function makeColumns(size: number): Columns {
  return {
    count: 0,
    nodes: new Int32Array(size),
    predicates: new Uint32Array(size),
    targets: new Float64Array(size),
    begins: new Int32Array(size),
    ends: new Int32Array(size),
  };
}

function growColumns(columns: Columns): void {
  const grown = makeColumns(columns.nodes.length * 2);
  grown.nodes.set(columns.nodes);
  grown.predicates.set(columns.predicates);
  grown.targets.set(columns.targets);
  grown.begins.set(columns.begins);
  grown.ends.set(columns.ends);
  const { nodes, predicates, targets, begins, ends } = grown;
  Object.assign(columns, { nodes, predicates, targets, begins, ends });
}

/** By counting: nodes of a bucket are numbered from 0. */
function sortByNode({ nodes, count }: Columns): { starts: Int32Array; order: Int32Array } {
  let last = -1;
  for (let i = 0; i < count; i++) last = Math.max(last, must(nodes[i], "each fact has its node"));
  const starts = new Int32Array(last + 2);
  for (let i = 0; i < count; i++) starts[must(nodes[i], "each fact has its columns") + 1]!++;
  for (let node = 1; node < starts.length; node++)
    starts[node]! += must(starts[node - 1], "each node has its bounds");
  const next = starts.slice();
  const order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[next[must(nodes[i], "each fact has its columns")]!++] = i;
  return { starts, order };
}

/** A value's payload is its slot, a run of less than 256 bytes, and then its cell. */
export function readSlot(payload: Uint8Array): string {
  if (payload[0] === 0) return "";
  let slot = "";
  for (let i = slotFrom(payload), end = i + slotLength(payload); i < end; i++) {
    slot += String.fromCharCode(must(payload[i], "a payload begins with its length"));
  }
  return slot;
}

export function readCellOf(payload: Uint8Array): Uint8Array {
  return payload.subarray(slotFrom(payload) + slotLength(payload));
}

function slotLength(payload: Uint8Array): number {
  const first = must(payload[0], "a payload begins with its length");
  return first < 0x80
    ? first
    : (first & 0x7f) + must(payload[1], "a payload begins with its length") * 128;
}

function slotFrom(payload: Uint8Array): number {
  return must(payload[0], "a payload begins with its length") < 0x80 ? 1 : 2;
}
