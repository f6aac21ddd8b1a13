/**
 * `npm run bench -- vector-index [--vectors N] [--dimensions N] [--metric M]`: linking and searching a vector graph
 * against comparing all, over clustered vectors: CPU of each, recall of the ten nearest, memory.
 */
import { parseArgs } from "node:util";
import { makeSeededRandom } from "../src/base/random.ts";
import { NearestVectors } from "../src/exec/vector-distance.ts";
import { graphOptionsOf } from "../src/graph/vector-metric.ts";
import { VectorSet } from "../src/graph/vector-set.ts";

const { values } = parseArgs({
  options: {
    vectors: { type: "string", default: "100000" },
    dimensions: { type: "string", default: "128" },
    metric: { type: "string", default: "euclidean" },
    clusters: { type: "string", default: "1000" },
  },
});
const size = Number(values.vectors);
const dimensions = Number(values.dimensions);
const questionCount = 100;
const wanted = 10;

const random = makeSeededRandom(7);
const normal = (): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
const centers = Array.from({ length: Number(values.clusters) }, () =>
  Float32Array.from({ length: dimensions }, normal),
);

function makeVector(): Float32Array {
  const center = centers[Math.floor(random.next() * centers.length)]!;
  return center.map((number) => number + normal() / 2);
}

/** Milliseconds of CPU so far: what other programs take does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const options = graphOptionsOf([{ key: "metric", value: values.metric }]);
const vectors = Array.from({ length: size }, makeVector);
const set = new VectorSet(dimensions, options, 1);
vectors.forEach((vector, i) => set.put(1, i + 1, vector));

const linkMs = cpuMs();
let longestMs = 0;
while (set.unlinked > 0) {
  const startMs = cpuMs();
  set.linkNext();
  longestMs = Math.max(longestMs, cpuMs() - startMs);
}
const linkedMs = cpuMs() - linkMs;
print(
  `linked in ${(linkedMs / 1000).toFixed(1)} s of CPU, ${((linkedMs / size) * 1000).toFixed(0)} µs each`,
);
print(`one took ${longestMs.toFixed(1)} ms at most; ${(set.bytes / 1e6).toFixed(0)} MB`);

const questions = Array.from({ length: questionCount }, makeVector);
const comparedMs = cpuMs();
const exact = questions.map((question) => {
  const nearest = new NearestVectors(question, {
    metric: options.metric,
    count: wanted,
    threshold: undefined,
  });
  vectors.forEach((vector, i) => nearest.add(i + 1, vector));
  return new Set(nearest.uids());
});
const compareMs = (cpuMs() - comparedMs) / questionCount;
print(`comparing all: ${compareMs.toFixed(1)} ms`);

for (const ef of [options.efSearch / 2, options.efSearch, options.efSearch * 2]) {
  let hits = 0;
  const startMs = cpuMs();
  for (const [i, target] of questions.entries()) {
    const shared = { target, count: wanted, ef, ts: 1, skipped: new Set<number>() };
    const found = await set.find({ ...shared, pause: () => undefined });
    for (const uid of found.uids) if (exact[i]!.has(uid)) hits++;
  }
  const searchMs = (cpuMs() - startMs) / questionCount;
  const recall = (hits / questionCount / wanted).toFixed(3);
  const times = (compareMs / searchMs).toFixed(0);
  print(`ef ${ef}: ${searchMs.toFixed(2)} ms, ${times} times faster, recall@10 ${recall}`);
}
