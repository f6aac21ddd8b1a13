/** Hot: bench/vectors.ts. Distances between vectors and the nearest of many (reference/dql 4.3.12). */
import { Heap } from "../base/heap.ts";
import { explainLengths } from "../graph/vector-metric.ts";
import type { VectorMetric } from "../graph/vector-metric.ts";
import { Fault } from "../model/fault.ts";

/** The smaller, the nearer: Euclidean distance, 1 − cosine similarity, or the negative dot product. */
type VectorDistance = (a: Float32Array, b: Float32Array) => number;

/** Faults: `can not compute … on vectors of different lengths`. */
export function vectorDistance(metric: VectorMetric): VectorDistance {
  const distance = distances[metric];
  return (a, b) => {
    if (a.length === b.length) return distance(a, b);
    throw new Fault("E_QUERY", explainLengths(metric));
  };
}

const distances: Readonly<Record<VectorMetric, VectorDistance>> = {
  euclidean(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) {
      const difference = a[i]! - b[i]!;
      sum += difference * difference;
    }
    return Math.sqrt(sum);
  },
  cosine(a, b) {
    let dot = 0;
    let squaresOfA = 0;
    let squaresOfB = 0;
    for (let i = 0; i < a.length; i++) {
      dot += a[i]! * b[i]!;
      squaresOfA += a[i]! * a[i]!;
      squaresOfB += b[i]! * b[i]!;
    }
    const lengths = Math.sqrt(squaresOfA * squaresOfB);
    return lengths === 0 ? 1 : 1 - dot / lengths;
  },
  dotproduct(a, b) {
    let dot = 0;
    for (let i = 0; i < a.length; i++) dot += a[i]! * b[i]!;
    return -dot;
  },
};

interface NearestOptions {
  readonly metric: VectorMetric;
  /** How many are wanted; none for 0 and below. */
  readonly count: number;
  /** Farther ones are left out (not for dotproduct); undefined for no limit. */
  readonly threshold: number | undefined;
}

interface Neighbor {
  readonly uid: number;
  readonly distance: number;
}

/**
 * Keeps the nearest of the vectors that are added, in a heap whose top is the farthest kept. Of equally near ones the
 * lower uids stay. `uids()` gives them ascending, which is the order of the answer.
 */
export class NearestVectors {
  readonly #query: Float32Array;
  readonly #options: NearestOptions;
  readonly #distance: VectorDistance;
  readonly #kept = new Heap<Neighbor>((a, b) => isNearer(b, a));

  constructor(query: Float32Array, options: NearestOptions) {
    this.#query = query;
    this.#options = options;
    this.#distance = vectorDistance(options.metric);
  }

  /** Empty vectors are near to nothing. */
  add(uid: number, vector: Float32Array): void {
    if (vector.length === 0) return;
    this.offer(uid, this.#distance(this.#query, vector));
  }

  /** A node whose distance is known. */
  offer(uid: number, distance: number): void {
    const { count, threshold, metric } = this.#options;
    if (count <= 0) return;
    if (threshold !== undefined && metric !== "dotproduct" && distance > threshold) return;
    const farthest = this.#kept.peek();
    const neighbor = { uid, distance };
    if (this.#kept.size < count || farthest === undefined) this.#kept.push(neighbor);
    else if (isNearer(neighbor, farthest)) this.#kept.replace(neighbor);
  }

  /** Takes the kept ones out. */
  uids(): Float64Array {
    const uids = new Float64Array(this.#kept.size);
    for (let i = 0; i < uids.length; i++) uids[i] = this.#kept.pop()?.uid ?? 0;
    return uids.sort();
  }
}

function isNearer(a: Neighbor, b: Neighbor): boolean {
  return a.distance !== b.distance ? a.distance < b.distance : a.uid < b.uid;
}
