/** `node dist/bench/run.js` after a build of the benches, or any runner of TypeScript: prints nanoseconds each. */
import { measure, type BenchFile } from "./harness.ts";
import { benches as dqlParser } from "./dql-parser.ts";
import { benches as math } from "./math.ts";
import { benches as nquads } from "./nquads.ts";
import { benches as tokens } from "./tokens.ts";
import { benches as vectors } from "./vectors.ts";

const files: Readonly<Record<string, BenchFile>> = {
  math,
  tokens,
  vectors,
  "dql-parser": dqlParser,
  nquads,
};
const size = 10_000;
const rounds = 5;

for (const [file, benches] of Object.entries(files)) {
  for (const bench of benches(size)) {
    const { name, nanoseconds } = measure(bench, rounds);
    process.stdout.write(`${file}: ${name}: ${nanoseconds.toFixed(0)} ns\n`);
  }
}
