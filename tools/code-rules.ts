/** The project's rules that are numbers and words; the layers have a table of their own. */
import type { CastLimits } from "./casts.ts";
import type { HotFiles } from "./non-null.ts";
import type { BannedWord, SizeLimits } from "./tidy.ts";

export const sizeLimits: SizeLimits = {
  fileLinesMax: 700,
  functionLinesMax: 70,
  exceptions: {
    "dql/lexer.ts": "one state machine, read beside the grammar",
    "dql/lexer.ts:lexCall": "a flat switch over characters",
  },
};

export const bannedWords: readonly BannedWord[] = [
  { pattern: /\bDate\.now\b/, instead: "ask a Clock for the time", allowed: ["base/clock.ts"] },
  { pattern: /\bnew Date\(\)/, instead: "ask a Clock for the time", allowed: ["base/clock.ts"] },
  {
    pattern: /\bperformance\.now\b/,
    instead: "ask a Clock for the time",
    allowed: ["base/clock.ts"],
  },
  { pattern: /\bMath\.random\b/, instead: "ask a Random for chance", allowed: ["base/random.ts"] },
  {
    pattern: /\bprocess\.env\b/,
    instead: "settings come from cli/config.ts", // bundle.ts names it for the scripts of users.
    allowed: ["cli", "lambda/bundle.ts"],
  },
  { pattern: /\bconsole\.\w+\(/, instead: "tell a Logger", allowed: [] },
  { pattern: /\b(?:FIXME|TODO|XXX|HACK)\b/, instead: "do it, or write an issue", allowed: [] },
  { pattern: /^export default\b/, instead: "exports have names", allowed: [] },
];

/**
 * Loops over bytes and numbers where a look at each was measured: `must` cost 4 to 12 % in those over numbers (sets,
 * edges, chunks, heaps, math) and up to 20 % over bytes; in files that are not named here it cost nothing.
 */
export const hotFiles: HotFiles = {
  "base/bytes.ts": 8,
  "base/heap.ts": 3,
  "base/sorted.ts": 13,
  "bulk/entry-sorter.ts": 6,
  "bulk/fact-columns.ts": 7,
  "bulk/fact-parser.ts": 7,
  "codec/chunk.ts": 12,
  "codec/f64.ts": 3,
  "exec/filter-columns.ts": 4,
  "exec/index-column.ts": 3,
  "exec/math-column.ts": 11,
  "exec/rows.ts": 15,
  "exec/vector-distance.ts": 10,
  "graph/list-cache.ts": 1,
  "graph/rank-heap.ts": 5,
  "graph/vector-store.ts": 14,
  "http/body-weight.ts": 2,
  "model/wire-bytes.ts": 5,
  "render/answer-size.ts": 1,
  "render/dql-size.ts": 5,
  "stores/lmdb/checksum.ts": 7,
  "stores/sealed/block.ts": 2,
};

/** Texts of others, threads and libraries without types are where most stand. A row may only become smaller. */
export const castLimits: CastLimits = {
  admin: 6,
  auth: 6,
  backup: 4,
  base: 6,
  bulk: 10,
  cli: 39,
  client: 24,
  cluster: 5,
  codec: 4,
  codegen: 3,
  console: 6,
  dql: 1,
  embedded: 17,
  engine: 3,
  exec: 11,
  export: 1,
  graph: 7,
  graphql: 27,
  grpc: 6,
  http: 29,
  import: 15,
  intake: 6,
  lambda: 27,
  load: 15,
  log: 7,
  model: 16,
  outgoing: 2,
  plan: 4,
  render: 4,
  sinks: 8,
  store: 1,
  stores: 20,
  write: 2,
};
