import { NearestVectors } from "../src/exec/vector-distance.ts";
import type { BenchFile } from "./harness.ts";

const dimensions = 384;

/** An exact search over vectors of 384 dimensions. */
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
  return [
    { name: "euclidean", count: size, run: search("euclidean") },
    { name: "cosine", count: size, run: search("cosine") },
  ];
};
