/** Hot: bench/vectors.ts. Vectors of one length side by side, in slots 0, 1, 2 …, and the distances between them. */
import type { VectorMetric } from "./vector-metric.ts";

/** Slots in a piece; pieces never move, so that growing copies nothing. */
const pieceBits = 12;
const pieceSlots = 1 << pieceBits;
const pieceMask = pieceSlots - 1;

export class VectorStore {
  readonly dimensions: number;
  readonly metric: VectorMetric;
  readonly #pieces: Float32Array[] = [];
  /** Sums of squares. */
  readonly #squares: Float64Array[] = [];
  #size = 0;
  #squaresMax = 0;

  constructor(dimensions: number, metric: VectorMetric) {
    this.dimensions = dimensions;
    this.metric = metric;
  }

  get size(): number {
    return this.#size;
  }

  add(vector: Float32Array): number {
    const slot = this.#size++;
    const at = slot & pieceMask;
    if (at === 0) {
      this.#pieces.push(new Float32Array(pieceSlots * this.dimensions));
      this.#squares.push(new Float64Array(pieceSlots));
    }
    this.#pieces[slot >> pieceBits]!.set(vector, at * this.dimensions);
    const squares = sumOfSquares(vector);
    this.#squares[slot >> pieceBits]![at] = squares;
    if (squares > this.#squaresMax) this.#squaresMax = squares;
    return slot;
  }

  /** A view. */
  vector(slot: number): Float32Array {
    const from = (slot & pieceMask) * this.dimensions;
    return this.#pieces[slot >> pieceBits]!.subarray(from, from + this.dimensions);
  }

  isEqual(slot: number, vector: Float32Array): boolean {
    const piece = this.#pieces[slot >> pieceBits]!;
    const from = (slot & pieceMask) * this.dimensions;
    for (let i = 0; i < vector.length; i++) if (piece[from + i] !== vector[i]) return false;
    return true;
  }

  /**
   * How near a question is to a slot, the smaller the nearer; only the order of such numbers means anything
   * (`toDistance`). `squares`: those of the question.
   */
  rank(question: Float32Array, squares: number, slot: number): number {
    const dot = this.#dot(question, slot);
    const own = this.#squares[slot >> pieceBits]![slot & pieceMask]!;
    switch (this.metric) {
      case "euclidean":
        return squares + own - 2 * dot;
      case "cosine": {
        const lengths = Math.sqrt(squares * own);
        return lengths === 0 ? 1 : 1 - dot / lengths;
      }
      case "dotproduct":
        return -dot;
    }
  }

  /**
   * How near two slots are to each other. For the dot product each vector gets one more number that makes all of them
   * equally long: then the order by the dot product is that of a distance, which a graph needs.
   */
  between(a: number, b: number): number {
    const squares = this.#squares[a >> pieceBits]![a & pieceMask]!;
    const question = this.vector(a);
    if (this.metric !== "dotproduct") return this.rank(question, squares, b);
    const others = this.#squares[b >> pieceBits]![b & pieceMask]!;
    const lifted = Math.sqrt(this.#squaresMax - squares) - Math.sqrt(this.#squaresMax - others);
    return squares + others - 2 * this.#dot(question, b) + lifted * lifted;
  }

  /** The distance of `vector-distance.ts`, computed anew: a difference of squares loses digits near 0. */
  toDistance(question: Float32Array, slot: number, rank: number): number {
    if (this.metric !== "euclidean") return rank;
    const vector = this.vector(slot);
    let sum = 0;
    for (let i = 0; i < vector.length; i++) sum += (question[i]! - vector[i]!) ** 2;
    return Math.sqrt(sum);
  }

  #dot(question: Float32Array, slot: number): number {
    const piece = this.#pieces[slot >> pieceBits]!;
    const { dimensions } = this;
    const from = (slot & pieceMask) * dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let i = 0;
    for (; i + 3 < dimensions; i += 4) {
      a += question[i]! * piece[from + i]!;
      b += question[i + 1]! * piece[from + i + 1]!;
      c += question[i + 2]! * piece[from + i + 2]!;
      d += question[i + 3]! * piece[from + i + 3]!;
    }
    for (; i < dimensions; i++) a += question[i]! * piece[from + i]!;
    return a + b + c + d;
  }
}

export function sumOfSquares(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  return sum;
}
