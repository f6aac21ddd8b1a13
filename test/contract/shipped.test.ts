// Goal: a store whose writes go to a log of several machines first keeps the store's contract.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { must } from "../../src/base/assert.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { Replica } from "../../src/cluster/replica.ts";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { describeStore } from "../../src/store/contract.ts";
import type { Derive, Store } from "../../src/store/store.ts";
import { openNodeStore } from "../../src/stores/open.ts";
import { tinyTuning } from "./tiny-tuning.ts";

const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

async function openShipped(derive: Derive, isTiny: boolean): Promise<Store> {
  const dir = mkdtempSync(join(tmpdir(), "weft-shipped-"));
  dirs.push(dir);
  const node = await openNodeStore({
    dir,
    derive,
    storeId: randomBytes(16).toString("hex"),
    logger: silentLogger,
    clock: systemClock,
    noSync: isTiny,
    ...(isTiny ? { tuning: tinyTuning } : {}),
  });
  const log = connectTwin(new TwinEngine({ compares: true, isLazy: false }));
  const replica = await Replica.open(node, { log, clock: systemClock, pause: async () => false });
  return must(await replica.lead(() => {}), "nobody else leads");
}

describeStore(
  { describe, it },
  {
    name: "lmdb, shipped",
    open: (derive) => openShipped(derive, false),
    random: makeSeededRandom,
    rounds: 2,
  },
);

describeStore(
  { describe, it },
  {
    name: "lmdb, shipped, tiny chunks",
    open: (derive) => openShipped(derive, true),
    random: (seed) => makeSeededRandom(seed + 400),
    rounds: 6,
  },
);
