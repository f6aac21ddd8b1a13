/** Vector searches: the nodes that were found, by their distance (reference/graphql 4.5). */
import { must } from "../../base/assert.ts";
import type { BlockResult } from "../../exec/frame.ts";
import type { SimilarParts } from "./lower-root.ts";

interface RankedRows {
  readonly rows: readonly number[];
  /** By uid. */
  readonly distances: ReadonlyMap<number, number>;
}

/**
 * Nearest first, those beyond the threshold left out. The distance is that of the index: euclidean, or one minus the
 * cosine or the dot product. `of`: the block of the node that was searched by.
 */
export function rankByDistance(
  block: BlockResult,
  vectorField: number,
  of: BlockResult | undefined,
  similar: SimilarParts | undefined,
): RankedRows {
  const distances = new Map<number, number>();
  const target = similar?.vector ?? vectorAt(of, 0, of?.rows[0] ?? 0);
  if (target === undefined || similar === undefined) return { rows: [], distances };
  const measure = measures[metricOf(similar)] ?? euclidean;
  const found: { row: number; distance: number }[] = [];
  for (const row of block.rows) {
    const vector = vectorAt(block, vectorField, row);
    if (vector === undefined) continue;
    const distance = measure(vector, target);
    if (similar.threshold !== undefined && distance > similar.threshold) continue;
    found.push({ row, distance });
    distances.set(must(block.frame.uids[row], "each row has its node"), distance);
  }
  found.sort((a, b) => a.distance - b.distance || a.row - b.row);
  return { rows: found.map((entry) => entry.row), distances };
}

function vectorAt(
  block: BlockResult | undefined,
  field: number,
  row: number,
): ArrayLike<number> | undefined {
  const column = block?.frame.fields[field];
  const value = column?.kind === "cell" ? column.cells[row]?.value : undefined;
  return value?.kind === "float32vector" ? value.vector : undefined;
}

function metricOf(similar: SimilarParts): string {
  const source = similar.embedding.source;
  const searches = source.kind === "value" ? source.searches : [];
  const match = /metric\s*:\s*"?(?<metric>[a-z]+)/.exec(searches.join(" "));
  return match?.groups?.["metric"] ?? "euclidean";
}

type Measure = (a: ArrayLike<number>, b: ArrayLike<number>) => number;

const euclidean: Measure = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] ?? 0) - (b[i] ?? 0)) ** 2;
  return Math.sqrt(sum);
};

const dot: Measure = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
};

const measures: Readonly<Record<string, Measure>> = {
  euclidean,
  cosine: (a, b) => 1 - dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  dotproduct: (a, b) => 1 - dot(a, b),
};
