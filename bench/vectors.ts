import { NearestVectors } from "../src/exec/vector-distance.ts";
import { VectorGraph } from "../src/graph/vector-graph.ts";
import { graphOptionsOf } from "../src/graph/vector-metric.ts";
import { VectorStore } from "../src/graph/vector-store.ts";
import type { BenchFile } from "./harness.ts";

const dimensions = 384;

/** An exact search over vectors of 384 dimensions, one by the graph, and linking a hundred. */
export const benches: BenchFile = (size) => {
  const vectors = Array.from({ length: size }, (_, i) =>
    Float32Array.from({ length: dimensions }, (__, k) => Math.sin(i * 31 + k)),
  );
  const search = (metric: "euclidean" | "cosine"): (() => Float64Array) => {
    return () => {
      const options = { metric, count: 10, threshold: undefined };
      const nearest = new NearestVectors(vectors[0] ?? new Float32Array(0), options);
      vectors.forEach((vector, i) => nearest.add(i + 1, vector));
      return nearest.uids();
    };
  };
  const options = graphOptionsOf([]);
  const makeGraph = (count: number): VectorGraph => {
    const store = new VectorStore(dimensions, options.metric);
    for (let i = 0; i <= count; i++) store.add(vectors[i % vectors.length]!);
    const graph = new VectorGraph(store, options);
    while (graph.linked < count) graph.linkNext();
    return graph;
  };
  const graph = makeGraph(Math.min(size, 1000));
  return [
    { name: "graph", count: 1, run: () => graph.search(vectors[0]!, 90, () => true) },
    { name: "link 100", count: 100, run: () => makeGraph(100) },
    { name: "euclidean", count: size, run: search("euclidean") },
    { name: "cosine", count: size, run: search("cosine") },
  ];
};
