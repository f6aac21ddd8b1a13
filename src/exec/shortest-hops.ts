/**
 * Hot: the cheapest path where every edge costs the same. The graph is read outwards in the order in which nodes are
 * found, batch by batch, and no further than the target: Dijkstra's search would give the same path.
 */
import { must } from "../base/assert.ts";
import { UidPlaces } from "../base/uid-places.ts";
import type { EdgeField } from "../plan/plan.ts";
import type { Path } from "./frame.ts";
import { arrangeEdges } from "./level.ts";
import { requestOfEdge } from "./level-requests.ts";
import type { Edges } from "./rows.ts";
import { countUids, type Run } from "./run.ts";

/** A field of the block whose edges are followed. */
export interface PathField {
  readonly plan: EdgeField;
  /** Index into the level's fields. */
  readonly index: number;
}

interface HopSearch {
  readonly from: number;
  readonly to: number;
  readonly depthMax: number;
  /** Raises where so many edges are too many. */
  readonly checkEdges: (edgeCount: number) => void;
}

/** Nodes of a batch: few at first, as the target may be near. */
const batchMin = 64;
const batchMax = 1024;

export async function findFewestHops(
  run: Run,
  fields: readonly PathField[],
  search: HopSearch,
): Promise<readonly Path[]> {
  const found = new Found(search.from);
  if (search.from === search.to) return [found.pathTo(0)];
  let start = 0;
  let edgeCount = 0;
  let size = batchMin;
  for (let depth = 0; depth < search.depthMax && start < found.count; depth++) {
    const end = found.count;
    while (start < end) {
      const batch = found.uids(start, Math.min(end, start + size));
      const columns = await readEdges(run, fields, batch);
      const before = edgeCount;
      for (const { edges } of columns) edgeCount += edges.targets.length;
      search.checkEdges(edgeCount);
      const target = found.add(columns, start, batch.length, search.to);
      if (target >= 0) return [found.pathTo(target)];
      const pause = run.yielder.check(batch.length + edgeCount - before);
      if (pause !== undefined) await pause;
      start += batch.length;
      size = Math.min(size * 2, batchMax);
    }
  }
  return [];
}

interface FieldEdges {
  readonly index: number;
  readonly edges: Edges;
}

async function readEdges(
  run: Run,
  fields: readonly PathField[],
  uids: Float64Array,
): Promise<readonly FieldEdges[]> {
  if (fields.length === 0) return [];
  const columns = await run.reader.readLevel(
    uids,
    fields.map(({ plan }) => requestOfEdge(run, plan)),
  );
  const arranged: FieldEdges[] = [];
  for (let k = 0; k < fields.length; k++) {
    const field = must(fields[k], "each level has its field");
    const column = columns[k];
    if (column?.kind !== "edges") continue;
    countUids(run, field.plan.use, uids.length);
    arranged.push({
      index: field.index,
      edges: await arrangeEdges(run, field.plan, column, true),
    });
  }
  return arranged;
}

/** Nodes in the order in which they were found, each with the one before it and the field that led there. */
class Found {
  readonly #places = new UidPlaces();
  #uids = new Float64Array(batchMax);
  #before = new Uint32Array(batchMax);
  #fields = new Uint32Array(batchMax);
  count = 1;

  constructor(from: number) {
    this.#uids[0] = from;
    this.#places.add(from);
  }

  uids(start: number, end: number): Float64Array {
    return this.#uids.slice(start, end);
  }

  /** Adds the targets of a batch that begins at `start`; the place of `to`, or −1 where it is none of them. */
  add(columns: readonly FieldEdges[], start: number, rows: number, to: number): number {
    for (let row = 0; row < rows; row++) {
      const before = start + row;
      for (const column of columns) this.#addRow(column, row, before);
      const target = this.#places.find(to);
      if (target >= 0) return target;
    }
    return -1;
  }

  #addRow({ index, edges }: FieldEdges, row: number, before: number): void {
    const { offsets, targets } = edges;
    const end = must(offsets[row + 1], "a row has its bounds");
    for (let e = must(offsets[row], "a row has its bounds"); e < end; e++) {
      const place = this.#places.add(must(targets[e], "each edge has its target"));
      if (place < this.count) {
        // Where two fields join the same nodes, the later one counts.
        if (place > 0 && this.#before[place] === before) this.#fields[place] = index;
        continue;
      }
      if (place === this.#uids.length) this.#grow();
      this.#uids[place] = must(targets[e], "each edge has its target");
      this.#before[place] = before;
      this.#fields[place] = index;
      this.count = place + 1;
    }
  }

  #grow(): void {
    const uids = new Float64Array(this.#uids.length * 2);
    uids.set(this.#uids);
    this.#uids = uids;
    this.#before = grown(this.#before);
    this.#fields = grown(this.#fields);
  }

  pathTo(place: number): Path {
    const uids: number[] = [must(this.#uids[place], "what was reached has its columns")];
    const hops: Path["hops"][number][] = [];
    for (let at = place; at > 0;) {
      hops.push({
        field: must(this.#fields[at], "what was reached has its columns"),
        facets: undefined,
      });
      at = must(this.#before[at], "what was reached has its columns");
      uids.push(must(this.#uids[at], "what was reached has its columns"));
    }
    return {
      uids: new Float64Array(uids.reverse()),
      weight: hops.length,
      hops: hops.reverse(),
    };
  }
}

function grown(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
