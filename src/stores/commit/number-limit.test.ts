/** Goal: commit numbers end with warnings, then with a refusal, and never begin again. */
import { expect, test } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { systemClock } from "../../base/clock.ts";
import { metaKey } from "../../codec/key.ts";
import { makeChange } from "../../store/contract.ts";
import { commitNumberMax } from "../../store/store.ts";
import {
  transact,
  type KeyValue,
  type Pieces,
  type Prepared,
  type WriteEngine,
} from "../key-value.ts";
import { makeTree, TreeWriter } from "../memory-tree.ts";
import { Committer } from "./committer.ts";
import { makeNumberWatch } from "./number-limit.ts";
import { encodeState, firstState, stateKey } from "./state.ts";

function openAt(commitTs: number): Committer {
  let root = makeTree();
  const engine: WriteEngine = {
    *prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
      const writer = new TreeWriter(root);
      const value = yield* work(writer);
      const commitNow = (): void => void (root = writer.root);
      return { value, commit: () => Promise.resolve().then(commitNow), commitNow };
    },
  };
  transact(engine, (kv) => kv.put(stateKey, encodeState({ ...firstState, commitTs })));
  return new Committer(engine, { clock: systemClock });
}

const row = makeChange({
  patches: [{ kind: "meta", key: metaKey(0, "row"), value: new Uint8Array(1), expected: "any" }],
});

test("the last million is kept for starts, and then all is refused", async () => {
  const kept = commitNumberMax - 2 ** 20;
  const committer = openAt(kept - 1);
  expect(await committer.commit(row)).toEqual({ commitTs: kept });
  const late = { ...row, id: { ...row.id, sequence: row.id.sequence + 1 } };
  await expect(committer.commit(late)).rejects.toThrow(/has used up its 274877906944 commit/);
  expect(committer.commitTs).toBe(kept);
  expect((await committer.slots.claim(true)).floorTs).toBe(kept + 1);
  const last = openAt(commitNumberMax - 1);
  expect((await last.slots.claim(true)).floorTs).toBe(commitNumberMax);
  await expect(last.slots.claim(false)).rejects.toThrow("takes no more changes");
  expect(last.commitTs).toBe(commitNumberMax);
});

test("a warning comes with a tenth left, and with each further hundredth", () => {
  const left: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (_: string, about?: object) => void left.push((about as { percent: number }).percent),
  };
  const watch = makeNumberWatch(logger);
  for (const share of [0.1, 0.89, 0.905, 0.906, 0.92, 0.9999]) watch(share * commitNumberMax);
  expect(left).toEqual([9, 8, 0]);
  makeNumberWatch(logger)(0.95 * commitNumberMax);
  expect(left).toHaveLength(4);
});
