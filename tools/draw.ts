/**
 * Draws the floors of the house from their table, so that the drawing in docs/ARCHITECTURE.md cannot go stale.
 * `npm run draw` puts it in place.
 */
import { floors } from "./floors.ts";
import type { Floors } from "./tidy.ts";

const begin = "<!-- floors: drawn by tools/draw.ts -->";
const end = "<!-- /floors -->";

/** What each room is for; every room of the table has a line here. */
const purposes: Readonly<Record<string, string>> = {
  base: "ground: assertions, bytes, sorted arrays, clock, chance",
  model: "nouns: uid, value, facet, fact, fault table, limits table",
  codec: "craft: nouns to bytes and back; key layout",
  tokens: "craft: values to index tokens",
  dql: "craft: DQL text to tree",
  intake: "craft: N-Quads and JSON to facts",
  outgoing: "the one way out: requests to hosts that schemas name",
  passwords: "hashing and comparing passwords, in a thread of their own",
  store: "the well: the port to storage",
  stores: "adapters of the port: memory, LMDB",
  graph: "state: records, lists, schema, through a snapshot",
  plan: "think: tree and schema to a plan",
  exec: "act: read, level by level, in columns",
  write: "act: change, with index upkeep and conflict keys",
  render: "speak: columns to bytes",
  engine: "one database: query, mutate, alter, commit",
  auth: "guest: who asks, and what they may",
  lambda: "guest: custom logic in processes of its own",
  graphql: "guest: SDL to API, operation to DQL tree",
  admin: "guest: the administration API",
  load: "streams files and samples into a running server",
  http: "door: HTTP to calls and back",
  cli: "door: commands, settings, the processes of serve",
  main: "hands argv to cli",
};

/** One table row per room, top floor first: a room may enter only rooms that stand below it in the table. */
export function drawFloors(table: Floors): string {
  const rows = Object.entries(table)
    .reverse()
    .map(([room, { below, outside }]) => {
      const purpose = purposes[room] ?? "";
      const rooms = below.filter((name) => name !== "base" && name !== "model").join(", ");
      return [room, purpose, rooms || "–", outside?.map((name) => `\`${name}\``).join(", ") || "–"];
    });
  const head = ["room", "what it is for", "may enter (besides base, model)", "outside packages"];
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
  if (from < 0 || to < from) throw new Error("docs/ARCHITECTURE.md has no place for the floors");
  const drawing = `${begin}\n\n${drawFloors(floors)}\n\n`;
  return document.slice(0, from) + drawing + document.slice(to);
}
