import { distinctTargets, keepByTarget, placesIn, type Edges } from "../src/exec/rows.ts";
import type { BenchFile } from "./harness.ts";

/** Edges of many parents: ten each, to nodes that many of them share. */
function makeEdges(size: number): Edges {
  const targets = new Float64Array(size);
  const offsets = new Uint32Array(Math.floor(size / 10) + 1);
  for (let i = 0; i < size; i++) targets[i] = ((i * 7919) % size) + 1;
  for (let row = 0; row < offsets.length; row++) offsets[row] = row * 10;
  return { offsets, targets, facets: undefined };
}

export const benches: BenchFile = (size) => {
  const edges = makeEdges(size);
  const distinct = distinctTargets(edges);
  const places = placesIn(distinct, edges.targets);
  const alive = Uint8Array.from(distinct, (uid) => uid % 2);
  return [
    { name: "distinct targets", count: size, run: () => distinctTargets(edges) },
    {
      name: "places in the level below",
      count: size,
      run: () => placesIn(distinct, edges.targets),
    },
    { name: "edges to what passed", count: size, run: () => keepByTarget(edges, places, alive) },
  ];
};
