/** Metrics of vector indexes and their options (reference/dql 2.4). */
export type VectorMetric = "euclidean" | "cosine" | "dotproduct";

type IndexOptions = readonly { readonly key: string; readonly value: string }[];

/** The metric among an index's options; euclidean where none is given. */
export function metricOf(options: IndexOptions): VectorMetric {
  const metric = options.find(({ key }) => key === "metric")?.value;
  return metric === "cosine" || metric === "dotproduct" ? metric : "euclidean";
}

const distanceNames: Readonly<Record<VectorMetric, string>> = {
  euclidean: "euclidean distance",
  cosine: "cosine distance",
  dotproduct: "dot product",
};

/** The refusal of vectors that cannot be compared. */
export function explainLengths(metric: VectorMetric): string {
  return `can not compute ${distanceNames[metric]} on vectors of different lengths`;
}

export interface GraphOptions {
  readonly metric: VectorMetric;
  /** Layers, the lowest included. */
  readonly levels: number;
  /** How many candidates an inserted node chooses its neighbours from. */
  readonly efConstruction: number;
  /** How many candidates a search keeps. */
  readonly efSearch: number;
}

/** An exponent alone stands for the other three. */
export function graphOptionsOf(options: IndexOptions): GraphOptions {
  const number = (key: string): number | undefined => {
    const value = Number(options.find((option) => option.key === key)?.value);
    return Number.isInteger(value) && value > 0 ? value : undefined;
  };
  const exponent = number("exponent");
  const derive = (factor: number, otherwise: number): number =>
    exponent === undefined ? otherwise : exponent * factor;
  return {
    metric: metricOf(options),
    levels: Math.min(16, number("maxLevels") ?? derive(1, 3)),
    efConstruction: number("efConstruction") ?? derive(50, 150),
    efSearch: number("efSearch") ?? derive(30, 90),
  };
}
