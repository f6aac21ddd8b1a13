// Goal: a large commit is written in pieces, and its row is the one that it would be in one.
import { expect, test } from "vitest";
import { decodeCommit, encodeCommit, encodeCommitInPieces } from "./patch-codec.ts";
import type { AppliedPatch, Commit } from "./store.ts";

function makeCommit(count: number): Commit {
  const applied = Array.from({ length: count }, (_, i): AppliedPatch => {
    const patch = {
      kind: "member",
      list: Uint8Array.of(1, 2, i % 256),
      member: i + 1,
      add: i % 3 > 0,
      facets: undefined,
      countIndex: 0,
      owner: i,
    } as const;
    return { patch, existed: i % 2 === 0, before: undefined };
  });
  const id = { slot: 1, floorTs: 2, sequence: 3 };
  return { commitTs: 7, id, log: Uint8Array.of(9, 9), applied };
}

test("pieces of a commit make the row of the whole, whatever is written between two of them", () => {
  for (const count of [0, 256, 257, 3000]) {
    const commit = makeCommit(count);
    const steps = encodeCommitInPieces(commit, 1234);
    let pieces = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      pieces++;
      encodeCommit(makeCommit(5), 99);
    }
    expect(pieces).toBe(count <= 256 ? 0 : Math.floor(count / 256));
    const whole = encodeCommit(commit, 1234);
    expect(Buffer.compare(step.value, whole)).toBe(0);
    expect(decodeCommit(7, step.value).applied).toHaveLength(count);
  }
});
