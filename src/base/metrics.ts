/**
 * What a process counts of itself. A counter is a number that the hot path adds to; names, labels and bounds are looked
 * at when somebody asks for a reading. Readings are plain data: they travel between processes and are added up.
 */
import { must } from "./assert.ts";

/** counter: only rises. gauge: how it stands; the sum over all processes. max: how it stands; the largest. */
type MetricKind = "counter" | "gauge" | "max" | "histogram";

type Labels = Readonly<Record<string, string>>;

/** One series. `counts[i]` of a histogram: observations up to `bounds[i]` and above the bound before; the last: beyond. */
export interface MetricPoint {
  readonly labels: Labels;
  readonly value: number;
  readonly counts?: readonly number[] | undefined;
}

/** One metric as it stands. `value` of a histogram's points is the sum of what was observed. */
export interface MetricReading {
  readonly name: string;
  readonly help: string;
  readonly kind: MetricKind;
  readonly bounds?: readonly number[] | undefined;
  readonly points: readonly MetricPoint[];
}

/** A number that only rises: `counter.count++`. */
class Counter {
  count = 0;
}

/** Observations by size; one takes a few comparisons. */
export class Histogram {
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  /** `bounds`: ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > must(bounds[i], "each bound has its count")) i++;
    this.counts[i] = must(this.counts[i], "each bound has its count") + 1;
    this.sum += value;
  }
}

/** Seconds: from a tenth of a millisecond to a minute. */
export const secondsBounds: readonly number[] = [
  0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60,
];

/** The value of a label beyond the most that are told apart. */
const otherLabel = "other";

/** Series by the value of one label, at most so many: further values share one series, `other`. */
class LabelledSeries<Series> {
  readonly #series = new Map<string, Series>();
  readonly #make: () => Series;
  readonly #valuesMax: number;

  constructor(make: () => Series, valuesMax: number) {
    this.#make = make;
    this.#valuesMax = valuesMax;
  }

  of(value: string): Series {
    const known = this.#series.get(value);
    if (known !== undefined) return known;
    const name = this.#series.size < this.#valuesMax ? value : otherLabel;
    let series = this.#series.get(name);
    if (series === undefined) this.#series.set(name, (series = this.#make()));
    return series;
  }

  entries(): Iterable<[string, Series]> {
    return this.#series.entries();
  }
}

type Read = () => MetricReading | Promise<MetricReading>;

/** A process's metrics by their names. */
class Metrics {
  readonly #reads = new Map<string, Read>();

  counter(name: string, help: string, labels: Labels = {}): Counter {
    const counter = new Counter();
    this.#add(name, { help, kind: "counter" }, () => [{ labels, value: counter.count }]);
    return counter;
  }

  /** Counters by the value of one label. */
  counters(name: string, help: string, label: string, valuesMax = 200): LabelledSeries<Counter> {
    const all = new LabelledSeries(() => new Counter(), valuesMax);
    this.#add(name, { help, kind: "counter" }, () =>
      [...all.entries()].map(([value, { count }]) => ({
        labels: { [label]: value },
        value: count,
      })),
    );
    return all;
  }

  /** Histograms by the value of one label; of `seconds` unless said otherwise. */
  histograms(
    name: string,
    help: string,
    label: string,
    { bounds = secondsBounds, valuesMax = 200 } = {},
  ): LabelledSeries<Histogram> {
    const all = new LabelledSeries(() => new Histogram(bounds), valuesMax);
    this.#add(name, { help, kind: "histogram", bounds }, () =>
      [...all.entries()].map(([value, { counts, sum }]) => ({
        labels: { [label]: value },
        value: sum,
        counts: [...counts],
      })),
    );
    return all;
  }

  histogram(name: string, help: string, bounds: readonly number[] = secondsBounds): Histogram {
    const histogram = new Histogram(bounds);
    this.#add(name, { help, kind: "histogram", bounds }, () => [
      { labels: {}, value: histogram.sum, counts: [...histogram.counts] },
    ]);
    return histogram;
  }

  /** Read when somebody asks. A later one of the same name takes its place. */
  gauge(
    name: string,
    help: string,
    read: () => number,
    kind: "gauge" | "max" | "counter" = "gauge",
  ): void {
    this.#add(name, { help, kind }, () => [{ labels: {}, value: read() }]);
  }

  /** Several series that are read together. */
  points(
    name: string,
    help: string,
    read: () => readonly MetricPoint[] | Promise<readonly MetricPoint[]>,
    kind: "gauge" | "max" | "counter" = "gauge",
  ): void {
    this.#reads.set(name, async () => ({ name, help, kind, points: await read() }));
  }

  /** Histograms that are kept elsewhere. */
  histogramPoints(
    name: string,
    help: string,
    bounds: readonly number[],
    read: () => readonly MetricPoint[],
  ): void {
    this.#add(name, { help, kind: "histogram", bounds }, read);
  }

  async read(): Promise<readonly MetricReading[]> {
    return await Promise.all([...this.#reads.values()].map(async (read) => await read()));
  }

  #add(
    name: string,
    about: Pick<MetricReading, "help" | "kind" | "bounds">,
    read: () => readonly MetricPoint[],
  ): void {
    this.#reads.set(name, () => ({ name, ...about, points: read() }));
  }
}

/** Of this process. Modules keep what they count beside their code; what a scrape shows is gathered here. */
export const metrics = new Metrics();

/** All processes as one: counters and histograms are added up, and gauges as their kind says. */
export function mergeReadings(
  processes: readonly (readonly MetricReading[])[],
): readonly MetricReading[] {
  const merged = new Map<string, { reading: MetricReading; points: Map<string, MetricPoint> }>();
  for (const readings of processes) {
    for (const reading of readings) {
      let known = merged.get(reading.name);
      if (known === undefined) merged.set(reading.name, (known = { reading, points: new Map() }));
      for (const point of reading.points) addPoint(known.points, point, reading.kind);
    }
  }
  return [...merged.values()].map(({ reading, points }) => ({
    ...reading,
    points: [...points.values()],
  }));
}

function addPoint(points: Map<string, MetricPoint>, point: MetricPoint, kind: MetricKind): void {
  const key = JSON.stringify(point.labels);
  const known = points.get(key);
  if (known === undefined) {
    points.set(key, point);
    return;
  }
  const { labels, counts } = known;
  const value = kind === "max" ? Math.max(known.value, point.value) : known.value + point.value;
  const sums = counts?.map((count, i) => count + (point.counts?.[i] ?? 0));
  points.set(key, { labels, value, counts: sums });
}

/** The same with one label more on each series. */
export function labelReadings(
  readings: readonly MetricReading[],
  labels: Labels,
): readonly MetricReading[] {
  return readings.map((reading) => ({
    ...reading,
    points: reading.points.map((point) => ({ ...point, labels: { ...labels, ...point.labels } })),
  }));
}

/** What of a process that has ended still counts: what only rises. */
export function keepRisen(readings: readonly MetricReading[]): readonly MetricReading[] {
  return readings.filter(({ kind }) => kind === "counter" || kind === "histogram");
}
