/** A walk over the nodes of a predicate and what they have, in pieces: a node with many edges is many pieces. */
import { must } from "../base/assert.ts";
import type { Column, Reader } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import { edgesBehind } from "../write/index-entries.ts";

/** Where a walk goes on. */
export interface WalkPlace {
  /** The last node that is behind. */
  readonly after: number;
  /** A node in the middle of its edges, and the last one that is behind. */
  readonly within?: { readonly uid: number; readonly target: number } | undefined;
}

/** Nodes with their cells or edges, perhaps not all of the last one's. */
interface Piece {
  readonly uids: Float64Array;
  readonly column: Column;
}

/** Nodes that are read at a time, and edges of all of them: so many take a few milliseconds to gather. */
const nodesMax = 32;
const edgesMax = 2048;

export class NodeWalk {
  #place: WalkPlace;
  #nodes = 0;
  #isDone = false;
  /** Fewer where nodes have many edges. */
  #nodesAtOnce = nodesMax;

  constructor(place: WalkPlace) {
    this.#place = place;
  }

  get place(): WalkPlace {
    return this.#place;
  }

  /** Nodes that are behind since the walk began. */
  get nodes(): number {
    return this.#nodes;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The next piece, as the reader has it. Nodes come in ascending order, and the edges of each. */
  async next(reader: Reader, { definition, id }: Predicate): Promise<Piece> {
    if (definition.kind !== "uid") return await this.#readCells(reader, id);
    const { within } = this.#place;
    return within === undefined
      ? await this.#readEdges(reader, id)
      : await this.#readOn(reader, id, within);
  }

  async #readCells(reader: Reader, predicate: number): Promise<Piece> {
    const uids = await this.#readNodes(reader, predicate, nodesMax);
    const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate }]);
    this.#pass(uids, uids.length < nodesMax);
    return { uids, column };
  }

  /** The first edges of the next nodes, up to one that has more. */
  async #readEdges(reader: Reader, predicate: number): Promise<Piece> {
    const asked = this.#nodesAtOnce;
    const limit = edgesMax / asked;
    const uids = await this.#readNodes(reader, predicate, asked);
    const column = await walkEdges(reader, uids, { predicate, after: 0, limit });
    const { offsets, targets } = column;
    for (let row = 0; row < uids.length; row++) {
      const own = targets.subarray(offsets[row], offsets[row + 1]);
      if (own.length < limit) continue;
      this.#pass(uids.subarray(0, row), false);
      const target = must(own.at(-1), "a node that has more has some");
      this.#place = { ...this.#place, within: { uid: must(uids[row], "a row"), target } };
      this.#nodesAtOnce = Math.max(1, asked / 2);
      return { uids: uids.subarray(0, row + 1), column };
    }
    this.#pass(uids, uids.length < asked);
    if (targets.length * 4 < edgesMax) this.#nodesAtOnce = Math.min(nodesMax, asked * 2);
    return { uids, column };
  }

  async #readOn(
    reader: Reader,
    predicate: number,
    { uid, target }: NonNullable<WalkPlace["within"]>,
  ): Promise<Piece> {
    const uids = Float64Array.of(uid);
    const column = await walkEdges(reader, uids, { predicate, after: target, limit: edgesMax });
    const { targets } = column;
    if (targets.length < edgesMax) this.#pass(uids, false);
    else
      this.#place = {
        ...this.#place,
        within: { uid, target: must(targets.at(-1), "a full page") },
      };
    return { uids, column };
  }

  async #readNodes(reader: Reader, predicate: number, limit: number): Promise<Float64Array> {
    const bounds = { after: this.#place.after, limit };
    const [uids] = await reader.readLists([{ kind: "presence", predicate }], bounds);
    return uids;
  }

  #pass(uids: Float64Array, isDone: boolean): void {
    this.#place = { after: uids.at(-1) ?? this.#place.after };
    this.#nodes += uids.length;
    this.#isDone = isDone;
  }
}

/** Edges behind `after`, at most `limit` of each node. */
export async function walkEdges(
  reader: Reader,
  uids: Float64Array,
  { predicate, after, limit }: { predicate: number; after: number; limit: number },
): Promise<Extract<Column, { kind: "edges" }>> {
  const [column] = await reader.readLevel(uids, [edgesBehind(predicate, after, limit)]);
  return column;
}
