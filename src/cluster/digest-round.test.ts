// Goal: of machines whose rows differ the most count: a leader that is not among them says so of itself, and where nobody
// can know whose rows are right that is told.
import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { NodeStore } from "../stores/open.ts";
import { DigestRound, encodeDigest } from "./digest-round.ts";

const seq = 7;
const odd = Buffer.alloc(32, 1);

/** A store without rows. */
function emptyNode(): Pick<NodeStore, "pause" | "snapshot"> {
  const snapshot = { ts: 1, scan: () => true, close: () => {} };
  return { pause: async () => () => {}, snapshot: () => snapshot as never };
}

async function judge(others: Readonly<Record<string, Uint8Array | undefined>>) {
  const heard: string[] = [];
  const told: string[] = [];
  let own: Buffer | undefined;
  const logger = {
    ...silentLogger,
    info: (_words: string, fields?: { digest?: unknown }) => {
      own = Buffer.from(String(fields?.digest), "hex");
    },
  };
  const round = new DigestRound(
    {
      node: emptyNode() as NodeStore,
      replica: { askForDigests: async () => seq },
      clock: systemClock,
      logger,
      digestMs: 1,
      onMinority: (why) => heard.push(why),
      onDoubt: (why) => heard.push(why ?? "no doubt"),
    },
    {
      names: () => Object.keys(others),
      tell: (payload) => told.push(Buffer.from(payload.subarray(8)).equals(odd) ? "odd" : "own"),
    },
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  round.beginWhenDue();
  await expect.poll(() => own).toBeDefined();
  expect(told).toEqual(Object.keys(others).length === 0 ? ["own"] : []);
  for (const [name, digest] of Object.entries(others)) {
    round.hear(name, encodeDigest(seq, digest ?? own ?? odd));
  }
  round.close();
  return { heard, told };
}

const other = Buffer.alloc(32, 2);
const same = undefined;

test.each([
  ["alone", {}, "own", "no doubt"],
  ["as all have it", { b: same, c: same }, "own", "no doubt"],
  ["one of three differs", { b: same, c: odd }, "own", "no doubt"],
  [
    "two others agree",
    { b: odd, c: odd },
    "odd",
    "its rows are not those of most machines (b, c) at record 7",
  ],
  ["all differ", { b: odd, c: other }, "own", "whose are right nobody can know"],
  ["two machines", { b: odd }, "own", "whose are right nobody can know"],
  ["three of five", { b: same, c: odd, d: odd, e: odd }, "odd", "most machines (c, d, e)"],
])("%s", async (_name, others, told, heard) => {
  const judged = await judge(others);
  expect(judged.told).toEqual([told]);
  expect(judged.heard).toEqual([expect.stringContaining(heard)]);
});
