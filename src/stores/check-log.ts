/**
 * The log against the store: whether each commit that the store counts is there, and whether what the newest commits
 * wrote is what is stored. Rows that are sound by themselves may still be of another state than the log: a commit of
 * which only a part is there, or none.
 */
import { equalBytes } from "../base/bytes.ts";
import { globalStorageId, keyKind, kindRange, logKey, readLogKey } from "../codec/key.ts";
import { decodeCommit } from "../store/patch-codec.ts";
import type { Snapshot } from "../store/store.ts";
import { keyText } from "./key-text.ts";

/** So many of the newest commits are compared with the rows that they wrote. */
const comparedMax = 10_000;

/** Gives how many commits of the log were read. */
export function checkLog(
  store: { snapshot(): Snapshot },
  report: (problem: string) => void,
): number {
  const snapshot = store.snapshot();
  try {
    const commits = checkNumbers(snapshot, report);
    checkNewest(snapshot, commits.slice(-comparedMax), report);
    return commits.length;
  } finally {
    snapshot.close();
  }
}

/** Numbers have no gaps, and the newest is the store's. */
function checkNumbers(snapshot: Snapshot, report: (problem: string) => void): readonly number[] {
  const numbers: number[] = [];
  try {
    void snapshot.scan(kindRange(globalStorageId, keyKind.log), (key) => {
      const ts = readLogKey(key);
      const before = numbers.at(-1);
      if (before !== undefined && ts !== before + 1) {
        report(`the log lacks the commits ${before + 1} to ${ts - 1}`);
      }
      numbers.push(ts);
      return true;
    });
  } catch {
    report("the log cannot be read to its end");
    return numbers;
  }
  const newest = numbers.at(-1) ?? 0;
  if (newest > snapshot.ts)
    report(`commit ${newest} is in the log, and the store is at ${snapshot.ts}`);
  if (newest < snapshot.ts) {
    report(`commits ${newest + 1} to ${snapshot.ts} are lost: the log ends before them`);
  }
  return numbers;
}

/** Of what several commits wrote the newest word counts. Rows of their own alone: a drop clears others without a word. */
function checkNewest(
  snapshot: Snapshot,
  numbers: readonly number[],
  report: (problem: string) => void,
): void {
  const said = new Set<string>();
  for (const ts of numbers.toReversed()) {
    let wrong = 0;
    for (const { key, value } of readMetas(snapshot, ts, report)) {
      const name = keyText(key);
      if (said.has(name)) continue;
      said.add(name);
      if (!isStored(snapshot, key, value)) wrong++;
    }
    if (wrong > 0) report(`of commit ${ts} ${wrong} rows are not what it wrote`);
  }
}

interface Written {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

function readMetas(
  snapshot: Snapshot,
  ts: number,
  report: (problem: string) => void,
): readonly Written[] {
  const written: Written[] = [];
  try {
    void snapshot.readMany([logKey(ts)], (_i, row) => {
      if (row === undefined) return;
      for (const { patch } of decodeCommit(ts, row.slice()).applied) {
        if (patch.kind === "meta") written.push({ key: patch.key, value: patch.value });
      }
    });
  } catch (error) {
    report(`commit ${ts} of the log cannot be read: ${String(error)}`);
  }
  return written;
}

function isStored(snapshot: Snapshot, key: Uint8Array, value: Uint8Array | undefined): boolean {
  let isSame = false;
  void snapshot.readMany([key], (_i, row) => {
    isSame = row === undefined || value === undefined ? row === value : equalBytes(row, value);
  });
  return isSame;
}
