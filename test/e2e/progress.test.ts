/** Progress bars: what a terminal shows of them moves, ends at 100 %, and ends with the command. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, root, runWeft, startServer, type TestServer } from "./server.ts";

const folder = makeFolder();
const facts = join(folder, "facts.rdf");
const data = join(folder, "data");
const bulk = join(folder, "bulk");
const place = `dir:${join(folder, "backups")}`;
const asTerminal = { NODE_OPTIONS: `--import ${join(root, "test", "support", "as-terminal.mjs")}` };
const escape = "\u001B";

let server: TestServer;

beforeAll(async () => {
  const lines = Array.from({ length: 1500 }, (_, i) => {
    return `_:n${i} <word> "${randomBytes(4000).toString("hex")}" .\n`;
  });
  writeFileSync(facts, lines.join(""));
  server = await startServer({ dataDir: data, flags: ["--workers", "2", "--no-sample"] });
});
afterAll(cleanUp);

interface Shown {
  readonly code: number | null;
  /** What is left on the terminal. */
  readonly lines: string;
  /** By title: the percentages of its bar, in order. */
  readonly bars: Readonly<Record<string, number[]>>;
}

async function show(args: readonly string[]): Promise<Shown> {
  const { code, stdout, stderr } = await runWeft(args, asTerminal);
  const bars: Record<string, number[]> = {};
  // oxlint-disable-next-line no-control-regex -- what a terminal is told
  const pieces = stdout.split(/[\r\n]|\u001B(?:[78]|\[[\d;?]*[a-zA-Z])/);
  const lines = pieces.filter((piece) => {
    const frame = /^(.+?) [=-]{30} (\d+) %/.exec(piece);
    if (frame === null) return piece !== "";
    (bars[frame[1]!] ??= []).push(Number(frame[2]));
    return false;
  });
  return { code, lines: [...lines, stderr].join("\n"), bars };
}

function expectBars(bars: Shown["bars"], titles: readonly string[]): void {
  expect(Object.keys(bars)).toEqual(titles);
  for (const [title, shares] of Object.entries(bars)) {
    expect([title, shares]).toEqual([title, shares.toSorted((a, b) => a - b)]);
    expect([title, shares[0], shares.at(-1)]).toEqual([title, 0, 100]);
    // One that was drawn now and then has shown how far it was.
    if (shares.length > 4) expect([title, new Set(shares).size > 2]).toEqual([title, true]);
  }
}

const whole: readonly [string, () => readonly string[], readonly string[]][] = [
  ["live", () => ["live", "--files", facts, "--to", server.url], ["loading"]],
  ["backup", () => ["backup", "--data", data, "--to", place], ["backing up"]],
  ["backup verify", () => ["backup", "verify", "--to", place], ["reading backups"]],
  ["restore", () => ["restore", "--from", place, "--data", join(folder, "copy")], ["restoring"]],
  ["restore --into", () => ["restore", "--from", place, "--into", data], ["restoring", "bringing"]],
  ["export", () => ["export", "--data", data, "--to", join(folder, "export")], ["exporting"]],
  ["compact beside a server", () => ["compact", "--data", data], ["compacting the store"]],
  [
    "bulk",
    () => ["bulk", "--files", facts, "--data", bulk],
    ["1 of 3, reading", "2 of 3, records", "3 of 3, indexes"],
  ],
  ["compact", () => ["compact", "--data", bulk], ["compacting the store"]],
  [
    "encryption copy",
    () => ["encryption", "copy", "--data", bulk, "--to", join(folder, "plain")],
    ["copying"],
  ],
];

test.each(whole)("weft %s", async (_name, args, titles) => {
  const { code, lines, bars } = await show(args());
  expect([code, lines]).toEqual([0, expect.stringMatching(/^weft: .* in [\d.]+ s \(/m)]);
  expectBars(bars, titles);
});

test("weft check shows how far it is, and tells what it found alone", async () => {
  const { code, lines, bars } = await show(["check", "--data", bulk]);
  expect([code, lines.trim().split("\n").length]).toEqual([0, 2]);
  expect(Object.keys(bars)).toEqual(["checking", "comparing"]);
  for (const shares of Object.values(bars)) {
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  }
});

test("a restore that cannot go on ends, and says why", async () => {
  const blocks = join(folder, "backups", "blocks");
  const names = readdirSync(blocks, { recursive: true, encoding: "utf8" });
  const block = join(
    blocks,
    names.findLast((name) => name.length > 10)!,
  );
  const bytes = readFileSync(block);
  bytes[500]! ^= 1;
  writeFileSync(block, bytes);
  const { code, lines } = await show(["restore", "--from", place, "--data", join(folder, "no")]);
  expect([code, lines]).toEqual([1, expect.stringMatching(/^weft: the block \w+ is damaged$/m)]);
});

test("what is no terminal gets lines alone", async () => {
  const { code, stdout } = await runWeft(["compact", "--data", bulk]);
  expect([code, stdout.includes(escape)]).toEqual([0, false]);
  expect(stdout).toMatch(/^weft: compacting the store: [\d,]+ rows in .*\nweft: .* takes .*\n$/);
});
