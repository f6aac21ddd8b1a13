import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { metricOf, type VectorMetric } from "../graph/vector-metric.ts";
import { NearestVectors, vectorDistance } from "./vector-distance.ts";

const vector = (...numbers: number[]): Float32Array => Float32Array.from(numbers);

describe("distances", () => {
  test.each<[VectorMetric, number[], number[], number]>([
    ["euclidean", [0, 0], [3, 4], 5],
    ["cosine", [1, 0], [0, 2], 1],
    ["cosine", [1, 1], [2, 2], 0],
    ["cosine", [0, 0], [2, 2], 1],
    ["dotproduct", [1, 2], [3, 4], -11],
  ])("%s of %j and %j", (metric, a, b, distance) => {
    expect(vectorDistance(metric)(vector(...a), vector(...b))).toBeCloseTo(distance, 6);
  });

  test("vectors of different lengths have none", () => {
    expect(() => vectorDistance("euclidean")(vector(1), vector(1, 2))).toThrow(
      "can not compute euclidean distance on vectors of different lengths",
    );
  });

  test("the metric is an option of the index", () => {
    expect(metricOf([{ key: "metric", value: "cosine" }])).toBe("cosine");
    expect(metricOf([{ key: "exponent", value: "4" }])).toBe("euclidean");
  });
});

test("the nearest are those of a full sort, in uid order", () => {
  const small = fc.integer({ min: -3, max: 3 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(small, small), { maxLength: 30 }),
      fc.integer({ min: 0, max: 8 }),
      fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
      (points, count, threshold) => {
        const nearest = new NearestVectors(vector(1, 1), { metric: "euclidean", count, threshold });
        const distance = vectorDistance("euclidean");
        const all = points.map(([x, y], i) => {
          const own = vector(x, y);
          nearest.add(i + 1, own);
          return { uid: i + 1, far: distance(vector(1, 1), own) };
        });
        const expected = all
          .filter(({ far }) => threshold === undefined || far <= threshold)
          .sort((a, b) => a.far - b.far || a.uid - b.uid)
          .slice(0, count)
          .map(({ uid }) => uid)
          .sort((a, b) => a - b);
        expect([...nearest.uids()]).toEqual(expected);
      },
    ),
  );
});
