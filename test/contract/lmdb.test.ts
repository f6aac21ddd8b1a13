import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { describeStore, underSlot } from "../../src/store/contract.ts";
import type { Derive, Store } from "../../src/store/store.ts";
import { connectStore, openWriter, type Writer } from "../../src/stores/lmdb.ts";
import { makeUserKey } from "../../src/stores/sealed/user-key.ts";
import { tinyTuning } from "./tiny-tuning.ts";

const dirs: string[] = [];

function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "weft-contract-"));
  dirs.push(dir);
  return dir;
}

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

const encryption = makeUserKey(Buffer.alloc(32, 7));

function open(
  derive: Derive,
  dir: string,
  isTiny: boolean,
  key?: typeof encryption,
): Promise<Writer> {
  return openWriter({
    dir,
    encryption: key,
    derive,
    logger: silentLogger,
    clock: systemClock,
    noSync: isTiny,
    // The other way of writing it is the crash tests'.
    journal: { isSlow: true },
    ...(isTiny ? { tuning: tinyTuning } : {}),
  });
}

async function openDirect(
  derive: Derive,
  isTiny: boolean,
  key?: typeof encryption,
): Promise<Store> {
  return (await open(derive, makeDir(), isTiny, key)).store;
}

async function openLinked(derive: Derive, key?: typeof encryption): Promise<Store> {
  const dir = makeDir();
  const writer = await open(derive, dir, true, key);
  const store = await connectStore({ dir, encryption: key });
  const close = async (): Promise<void> => {
    await store.close();
    await writer.close();
  };
  return { ...(await underSlot(store)), close };
}

describeStore(
  { describe, it },
  {
    name: "lmdb",
    open: (derive) => openDirect(derive, false),
    random: makeSeededRandom,
    rounds: 2,
  },
);

describeStore(
  { describe, it },
  {
    name: "lmdb, tiny chunks",
    open: (derive) => openDirect(derive, true),
    random: (seed) => makeSeededRandom(seed + 200),
    rounds: 12,
  },
);

describeStore(
  { describe, it },
  {
    name: "lmdb through the link, tiny chunks",
    open: (derive) => openLinked(derive),
    random: (seed) => makeSeededRandom(seed + 300),
    rounds: 6,
  },
);

describeStore(
  { describe, it },
  {
    name: "lmdb, encrypted",
    open: (derive) => openDirect(derive, false, encryption),
    random: (seed) => makeSeededRandom(seed + 400),
    rounds: 2,
  },
);

describeStore(
  { describe, it },
  {
    name: "lmdb through the link, encrypted, tiny chunks",
    open: (derive) => openLinked(derive, encryption),
    random: (seed) => makeSeededRandom(seed + 500),
    rounds: 6,
  },
);
