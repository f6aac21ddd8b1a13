import { expect, test } from "vitest";
import { measure, type BenchFile } from "./harness.ts";
import { benches as dqlParser } from "./dql-parser.ts";
import { benches as indexColumn } from "./index-column.ts";
import { benches as jsonWriter } from "./json-writer.ts";
import { benches as math } from "./math.ts";
import { benches as nquads } from "./nquads.ts";
import { benches as rows } from "./rows.ts";
import { benches as tokens } from "./tokens.ts";
import { benches as vectors } from "./vectors.ts";

const files: Readonly<Record<string, BenchFile>> = {
  math,
  tokens,
  vectors,
  "dql-parser": dqlParser,
  nquads,
  rows,
  "index-column": indexColumn,
  "json-writer": jsonWriter,
};

test.each(Object.keys(files))("the benches of %s run", (name) => {
  for (const bench of files[name]?.(200) ?? []) {
    expect(measure(bench, 1).nanoseconds).toBeGreaterThan(0);
  }
});
