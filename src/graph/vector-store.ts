/** Hot: bench/vectors.ts. Vectors of one length side by side, in slots 0, 1, 2 …, and the distances between them. */
import { must } from "../base/assert.ts";
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
  /** What `near` measures from. */
  #question: Float32Array = new Float32Array(0);
  #from = 0;
  #ownSquares = 0;
  #isLifted = false;

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
    this.#pieceOf(slot).set(vector, at * this.dimensions);
    const squares = sumOfSquares(vector);
    must(this.#squares[slot >> pieceBits], "each slot has its piece")[at] = squares;
    if (squares > this.#squaresMax) this.#squaresMax = squares;
    return slot;
  }

  /** A view. */
  vector(slot: number): Float32Array {
    const from = (slot & pieceMask) * this.dimensions;
    return this.#pieceOf(slot).subarray(from, from + this.dimensions);
  }

  isEqual(slot: number, vector: Float32Array): boolean {
    const piece = this.#pieceOf(slot);
    const from = (slot & pieceMask) * this.dimensions;
    for (let i = 0; i < vector.length; i++) if (piece[from + i] !== vector[i]) return false;
    return true;
  }

  /** From here on `near` measures from this vector. Lent until the next call. */
  face(question: Float32Array): void {
    this.#question = question;
    this.#from = 0;
    this.#ownSquares = sumOfSquares(question);
    this.#isLifted = false;
  }

  /** From here on `near` measures from a slot, as `between` does. */
  faceSlot(slot: number): void {
    this.#question = this.#pieceOf(slot);
    this.#from = (slot & pieceMask) * this.dimensions;
    this.#ownSquares = this.#squaresOf(slot);
    this.#isLifted = this.metric === "dotproduct";
  }

  /**
   * How near a slot is, the smaller the nearer; only the order of such numbers means anything (`toDistance`).
   */
  near(slot: number): number {
    const at = slot & pieceMask;
    const piece = this.#pieceOf(slot);
    const { dimensions } = this;
    const dot = dotOf(this.#question, this.#from, piece, at * dimensions, dimensions);
    const squares = this.#squaresOf(slot);
    if (this.#isLifted) return this.#lifted(this.#ownSquares, squares, dot);
    return this.#rank(this.#ownSquares, squares, dot);
  }

  #pieceOf(slot: number): Float32Array {
    return must(this.#pieces[slot >> pieceBits], "each slot has its piece");
  }

  #squaresOf(slot: number): number {
    const piece = must(this.#squares[slot >> pieceBits], "each slot has its piece");
    return must(piece[slot & pieceMask], "a piece has all its slots");
  }

  /** How near two slots are to each other. */
  between(a: number, b: number): number {
    const { dimensions } = this;
    const left = this.#pieceOf(a);
    const right = this.#pieceOf(b);
    const fromLeft = (a & pieceMask) * dimensions;
    const dot = dotOf(left, fromLeft, right, (b & pieceMask) * dimensions, dimensions);
    const squares = this.#squaresOf(a);
    const others = this.#squaresOf(b);
    if (this.metric === "dotproduct") return this.#lifted(squares, others, dot);
    return this.#rank(squares, others, dot);
  }

  #rank(squares: number, others: number, dot: number): number {
    switch (this.metric) {
      case "euclidean":
        return squares + others - 2 * dot;
      case "cosine": {
        const lengths = Math.sqrt(squares * others);
        return lengths === 0 ? 1 : 1 - dot / lengths;
      }
      case "dotproduct":
        return -dot;
    }
  }

  /**
   * For the dot product each vector gets one more number that makes all of them equally long: then the order by the dot
   * product is that of a distance, which a graph needs.
   */
  #lifted(squares: number, others: number, dot: number): number {
    const max = this.#squaresMax;
    const lifted = Math.sqrt(max - squares) - Math.sqrt(max - others);
    return squares + others - 2 * dot + lifted * lifted;
  }

  /** The distance of `vector-distance.ts`, computed anew: a difference of squares loses digits near 0. */
  toDistance(question: Float32Array, slot: number, rank: number): number {
    if (this.metric !== "euclidean") return rank;
    const vector = this.vector(slot);
    let sum = 0;
    for (let i = 0; i < vector.length; i++) sum += (question[i]! - vector[i]!) ** 2;
    return Math.sqrt(sum);
  }
}

/** Four sums, so that the processor need not wait for one addition before the next. */
// oxlint-disable-next-line max-params -- the innermost loop: an object for each call would cost more than it does
function dotOf(
  left: Float32Array,
  fromLeft: number,
  right: Float32Array,
  fromRight: number,
  length: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    a += left[fromLeft + i]! * right[fromRight + i]!;
    b += left[fromLeft + i + 1]! * right[fromRight + i + 1]!;
    c += left[fromLeft + i + 2]! * right[fromRight + i + 2]!;
    d += left[fromLeft + i + 3]! * right[fromRight + i + 3]!;
  }
  for (; i < length; i++) a += left[fromLeft + i]! * right[fromRight + i]!;
  return a + b + c + d;
}

function sumOfSquares(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  return sum;
}
