// Read it bottom-up: the first line is the lowest layer. The table is the architecture (docs/ARCHITECTURE.md).
import type { Layers } from "./tidy.ts";

export const layers: Layers = {
  base: { below: [], outside: ["node:module"] },
  model: { below: ["base"] },
  // The page that a browser is shown: it runs there, and meets the server over HTTP alone.
  console: {
    below: ["base", "model"],
    outside: [
      "react",
      "react-dom",
      "graphiql",
      "@graphiql/toolkit",
      "graphql",
      "codemirror",
      "codemirror-graphql",
    ],
  },
  // OpenTelemetry's own packages know the forms of Prometheus and of OTLP.
  telemetry: {
    below: ["base", "model"],
    outside: [
      "@opentelemetry/api",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-metrics",
      "@opentelemetry/sdk-trace-base",
      "@opentelemetry/exporter-prometheus",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/exporter-metrics-otlp-http",
    ],
  },
  codec: { below: ["base", "model"], outside: ["node:buffer"] },
  tokens: {
    below: ["base", "model"],
    outside: [
      "snowball-stemmers",
      "@orama/stopwords",
      "s2js",
      "farmhash",
      "node:buffer",
      "node:crypto",
    ],
  },
  dql: { below: ["base", "model"] },
  // tokens: refused facts are printed with the words of their facets.
  intake: { below: ["base", "model", "tokens"], outside: ["node:buffer"] },
  outgoing: {
    below: ["base", "model"],
    outside: ["node:dns", "node:http", "node:https", "node:net", "node:buffer"],
  },
  // One thread for a process; bcrypt's own work would take the pool that syncs need.
  passwords: { below: ["base", "model"], outside: ["bcrypt", "node:worker_threads", "node:os"] },
  store: { below: ["base", "model", "codec"] },
  stores: {
    below: ["base", "model", "codec", "store"],
    // Which engine keeps a store is named in open.ts alone; the others are the same for each.
    interface: [
      "open.ts",
      "check.ts",
      "check-log.ts",
      "claim.ts",
      "compact.ts",
      "compact-online.ts",
      "disk-room.ts",
      // Keys of encrypted stores.
      "encryption.ts",
      "stored-rows.ts",
      "row-block.ts",
      "snapshot-store.ts",
      "stored-log.ts",
      "restored-rows.ts",
      "roster-rows.ts",
      "log-replay.ts",
      // The one engine that needs no files, for those who load no other.
      "memory.ts",
      // Rows of a store that is made in one go, which only LMDB is.
      "row-builder.ts",
      "bulk-store.ts",
      "place.ts",
      "private-files.ts",
      "repair.ts",
    ],
    outside: [
      "lmdb",
      "node:fs",
      "node:net",
      "node:path",
      "node:zlib",
      "node:crypto",
      "node:os",
      "node:util",
      "node:buffer",
    ],
  },
  graph: { below: ["base", "model", "codec", "tokens", "store"] },
  // Several machines: what each group of commits wrote, in an engine outside of the process.
  log: {
    below: ["base", "model"],
    outside: [
      // PostgreSQL's protocol.
      "pg",
      "node:crypto",
      "node:fs",
      "node:fs/promises",
      "node:path",
      "node:util",
      "node:zlib",
    ],
  },
  export: {
    below: ["base", "model", "codec", "store", "graph"],
    interface: ["export.ts"],
    outside: ["node:fs", "node:fs/promises", "node:path", "node:util", "node:zlib"],
  },
  backup: {
    below: ["base", "model", "store", "stores"],
    interface: [
      "archive.ts",
      "backup.ts",
      "follow.ts",
      "manifest.ts",
      "moment.ts",
      "open-place.ts",
      "prune.ts",
      "seal.ts",
      "segment.ts",
    ],
    outside: [
      "aws4fetch",
      "node:crypto",
      "node:fs",
      "node:os",
      "node:path",
      "node:util",
      "node:zlib",
    ],
  },
  // The machines over it: each applies the log to a store of its own, one leads.
  cluster: {
    below: ["base", "model", "log", "store", "stores"],
    outside: ["node:crypto", "node:fs", "node:net", "node:stream", "node:tls"],
  },
  plan: { below: ["base", "model", "tokens", "dql", "graph"] },
  optimizer: {
    below: ["base", "model", "graph", "plan"],
    // What choices weigh (costs.ts) is seen by the choices alone.
    interface: [
      "statistics.ts",
      "root-choice.ts",
      "filter-choice.ts",
      "filter-order.ts",
      "walk-choice.ts",
      "column-choice.ts",
      "estimate.ts",
      "query-cost.ts",
    ],
  },
  exec: {
    below: ["base", "model", "passwords", "codec", "tokens", "dql", "graph", "plan", "optimizer"],
    outside: [
      "@turf/boolean-point-in-polygon",
      // Linear-time matching of clients' expressions, in the syntax and with the errors of RE2.
      "re2js",
    ],
  },
  write: {
    below: ["base", "model", "passwords", "codec", "tokens", "dql", "intake", "store", "graph"],
  },
  render: { below: ["base", "model", "codec", "graph", "plan", "exec"], outside: ["node:buffer"] },
  engine: {
    below: [
      "base",
      "model",
      "codec",
      "dql",
      "intake",
      "store",
      "graph",
      "plan",
      "exec",
      "write",
      "render",
    ],
  },
  // What was committed, told to those who follow.
  feed: {
    below: ["base", "model", "codec", "tokens", "store", "graph", "engine"],
    interface: ["change-feed.ts"],
    outside: ["node:buffer"],
  },
  auth: {
    below: ["base", "model", "outgoing", "passwords", "exec", "engine"],
    outside: [
      "node:crypto",
      "jose",
      // Expressions in rules are matched in linear time, in the syntax of RE2.
      "re2js",
    ],
  },
  lambda: {
    below: ["base", "model"],
    outside: [
      // User scripts: types removed, imports resolved.
      "esbuild",
      // Source maps, for places in traces.
      "node:module",
      // The pool's processes, their output and their memory; calls of a lambda server over HTTP.
      "node:child_process",
      "node:readline",
      "node:stream",
      "node:fs",
      "node:fs/promises",
      "node:path",
      "node:url",
      "node:net",
      "node:http",
      "node:https",
    ],
  },
  // SDL → compiled schema and generated API.
  "graphql/schema": {
    below: ["base", "model", "auth"],
    outside: ["graphql"],
  },
  // A request's text → a checked and prepared operation.
  "graphql/operation": {
    below: ["base", "model", "tokens", "graph", "render", "engine", "graphql/schema"],
    outside: ["graphql"],
  },
  // A prepared operation → DQL trees, writes and calls of resolvers, under rules.
  "graphql/resolve": {
    below: [
      "base",
      "model",
      "outgoing",
      "tokens",
      "dql",
      "graph",
      "plan",
      "exec",
      "render",
      "engine",
      "auth",
      "lambda",
      "graphql/schema",
      "graphql/operation",
    ],
    outside: ["graphql"],
  },
  // Requests, subscriptions and the stored schema: what the modules above use.
  "graphql/service": {
    below: [
      "base",
      "model",
      "tokens",
      "outgoing",
      "graph",
      "exec",
      "engine",
      "auth",
      "lambda",
      "graphql/schema",
      "graphql/operation",
      "graphql/resolve",
    ],
    // Large schemas are checked in a thread.
    outside: ["graphql", "node:worker_threads", "node:os"],
  },
  admin: {
    below: [
      "base",
      "model",
      "intake",
      "store",
      "graph",
      "engine",
      "auth",
      "graphql/schema",
      "graphql/operation",
      "graphql/service",
    ],
    outside: ["graphql", "node:fs", "node:url", "node:zlib"],
  },
  load: {
    below: ["base", "model", "dql", "intake"],
    outside: [
      "node:fs",
      "node:zlib",
      "node:stream",
      "node:readline",
      "node:path",
      "node:http",
      "node:https",
      // Tokens of the sample's users.
      "node:crypto",
      "node:buffer",
    ],
  },
  // Where the change feed is brought to.
  sinks: {
    below: ["base", "model"],
    outside: [
      // Installed by those who need them.
      "@nats-io/transport-node",
      "kafkajs",
      "node:fs",
      "node:fs/promises",
      "node:crypto",
      "node:buffer",
    ],
  },
  // Tables and objects as nodes of a type.
  import: {
    below: ["base", "model", "graphql/schema", "load"],
    interface: [
      "import.ts",
      "dry-run.ts",
      "draft.ts",
      "mapping.ts",
      "row-plan.ts",
      "row-files.ts",
      "checkpoint.ts",
      "rejected-rows.ts",
    ],
    outside: [
      "csv-parse",
      "yaml",
      "node:fs",
      "node:path",
      "node:stream",
      "node:zlib",
      "node:crypto",
    ],
  },
  bulk: {
    below: [
      "base",
      "model",
      "passwords",
      "codec",
      "tokens",
      "intake",
      "store",
      "stores",
      "graph",
      "write",
      "load",
    ],
    interface: ["bulk.ts"],
    // Facts are read, sorted and indexed in threads.
    outside: [
      "node:crypto",
      "node:fs",
      "node:path",
      "node:os",
      "node:worker_threads",
      "node:buffer",
    ],
  },
  http: {
    below: [
      "base",
      "model",
      "telemetry",
      "engine",
      "feed",
      "auth",
      "graphql/schema",
      "graphql/operation",
      "graphql/service",
      "admin",
      "lambda",
    ],
    through: { admin: ["interface.ts"] },
    outside: [
      "fastify",
      "pino",
      // Framing of WebSockets.
      "ws",
      "node:http",
      // What comes over TLS, which may be HTTP/2.
      "node:http2",
      "node:tls",
      "node:zlib",
      "node:stream",
      "node:net",
      "node:os",
      // Tokens of event streams.
      "node:crypto",
      "node:buffer",
    ],
  },
  // The clients' protocol in front of the same engine. What it shares with HTTP it takes from there.
  grpc: {
    below: ["base", "model", "engine", "auth", "admin", "http"],
    through: { admin: ["interface.ts"], http: ["interface.ts"] },
    outside: [
      "protobufjs",
      "node:http",
      "node:http2",
      "node:net",
      "node:stream",
      "node:zlib",
      "node:buffer",
    ],
  },
  // Types of a schema as files, for clients and resolvers.
  codegen: { below: ["base", "model", "graphql/schema"], interface: ["written-types.ts"] },
  // A server's client, for every platform: it imports nothing of one.
  client: { below: ["base"] },
  // The package as a library: a database in the process that imports it.
  embedded: {
    below: [
      "base",
      "model",
      // What both can be asked in the same words.
      "client",
      "store",
      "stores",
      "write",
      "engine",
      "outgoing",
      "lambda",
      "graphql/schema",
      "graphql/operation",
      "graphql/service",
    ],
    outside: ["graphql", "node:crypto", "node:buffer"],
  },
  cli: {
    below: [
      "base",
      "model",
      "codegen",
      "store",
      "stores",
      "graph",
      "write",
      "engine",
      "feed",
      "auth",
      "graphql/schema",
      "graphql/operation",
      "graphql/service",
      "admin",
      "load",
      "sinks",
      "import",
      "bulk",
      "log",
      "cluster",
      "backup",
      "export",
      "http",
      "grpc",
      "lambda",
      "outgoing",
      "telemetry",
    ],
    outside: [
      "commander",
      "cli-progress",
      "pino",
      "node:crypto",
      "node:dns",
      "node:child_process",
      "node:process",
      "node:readline",
      "node:fs",
      "node:fs/promises",
      "node:os",
      "node:net",
      "node:http",
      // Certificates are read and tried before they are used.
      "node:tls",
      // Schemas of exports are packed.
      "node:zlib",
      "node:path",
      "node:url",
    ],
  },
  main: {
    below: ["cli"],
    outside: ["node:fs", "node:module", "node:path", "node:v8", "node:vm", "node:zlib"],
  },
};
