/**
 * Draws the layers of the source from their table, so that the drawing in docs/ARCHITECTURE.md cannot go stale.
 * `npm run draw` puts it in place.
 */
import { layers } from "./layers.ts";
import type { Layers } from "./tidy.ts";

const begin = "<!-- layers: drawn by tools/draw.ts -->";
const end = "<!-- /layers -->";

/** What each module is for; every module of the table has a line here. */
const purposes: Readonly<Record<string, string>> = {
  console: "the page that browsers are shown; it runs there, and meets the server over HTTP alone",
  base: "assertions, bytes, sorted arrays, clock, chance, counters",
  telemetry: "metrics and traces in the forms of Prometheus and OpenTelemetry",
  model: "uid, value, facet, fact, principal; tables of faults and limits",
  codec: "cells, records, lists to bytes and back; layout of keys",
  tokens: "values to index tokens",
  dql: "DQL text to tree",
  intake: "N-Quads and JSON to facts",
  outgoing: "the one way out: requests to hosts that schemas name",
  passwords: "hashing and comparing passwords, in a thread of their own",
  store: "the port to storage",
  stores: "adapters of the port: memory, LMDB",
  graph: "records, lists, schema, read through a snapshot",
  plan: "tree and schema to a plan",
  optimizer: "what a step is expected to find and to cost, and the choices that follow",
  exec: "runs plans, level by level, in columns",
  write: "facts to patches, with index upkeep and conflict keys",
  render: "columns to the bytes of answers",
  engine: "one database: query, mutate, alter, commit",
  auth: "who asks, and what they may",
  cluster: "machines over the replicated log: each applies it, one leads",
  log: "the replicated log: records, what counts of them, engines that keep it",
  bulk: "an offline load into a new store, in the order of its keys",
  feed: "what was committed, told to those who follow",
  sinks: "where the change feed is brought to: files, HTTP, NATS, Kafka",
  export: "a store at one commit as files that loaders read",
  lambda: "custom logic in processes of its own",
  "graphql/service": "requests, subscriptions, the stored schema",
  "graphql/resolve": "an operation to DQL trees, writes and resolvers, under rules",
  "graphql/operation": "a request's text to a checked, prepared operation",
  "graphql/schema": "SDL to compiled schema and generated API",
  admin: "the administration API",
  load: "streams files and samples into a running server",
  grpc: "the protocol of the ecosystem's clients to calls and back",
  http: "HTTP to calls and back",
  cli: "commands, settings, the processes of serve",
  main: "where processes begin: loads what each of them is",
};

/** One table row per module, the top layer first: a module may import only modules that stand below it in the table. */
export function drawLayers(table: Layers): string {
  const rows = Object.entries(table)
    .reverse()
    .map(([module, { below, outside }]) => {
      const purpose = purposes[module] ?? "";
      const modules = below.filter((name) => name !== "base" && name !== "model").join(", ");
      return [
        module,
        purpose,
        modules || "–",
        outside?.map((name) => `\`${name}\``).join(", ") || "–",
      ];
    });
  const head = ["module", "what it is for", "may import (besides base, model)", "outside packages"];
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** The document with its drawing put in place. */
export function redraw(document: string): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error("docs/ARCHITECTURE.md has no place for the layers");
  const drawing = `${begin}\n\n${drawLayers(layers)}\n\n`;
  return document.slice(0, from) + drawing + document.slice(to);
}
