/**
 * A writer that is going to be killed. Arguments: directory, first number, "load", "serve" or "fill", and the journal's
 * checkpoint policy as JSON, bytes of a change that fills. Under load it commits numbered changes and prints each number
 * once it is acknowledged; serving it only takes others' changes. When it fills the store it commits until it has been refused some times, tells
 * "refused <number> <code>", then reads all that was acknowledged, and tells "read <how many>".
 */
import { writeSync } from "node:fs";
import { systemClock } from "./base/clock.js";
import { silentLogger } from "./base/log.js";
import { numberedChange, numberedKey } from "./workload.mjs";
import { openWriter } from "./stores/lmdb.js";

const [dir, first, mode, policy = "null", bytes = "0"] = process.argv.slice(2);
const { store } = await openWriter({
  dir,
  logger: silentLogger,
  clock: systemClock,
  retention: { ageMsMax: 600_000, bytesMax: 2_000_000 },
  journal: {
    // Those that serve follow each other in one run, as under one supervisor; others are runs of their own.
    ...(mode === "serve" ? { run: "one" } : { isSlow: true }),
    ...(policy === "null" ? {} : { policy: JSON.parse(policy) }),
  },
  onFatal: (error) => writeSync(1, `fatal ${error.cause ?? error}\n`),
});
writeSync(1, "open\n");

let next = Number(first);
async function load() {
  for (;;) {
    const number = next++;
    await store.commit(numberedChange(number));
    writeSync(1, `${number}\n`);
  }
}

async function fill() {
  const acknowledged = [];
  for (let refusals = 0; refusals < 5; next++) {
    try {
      await store.commit(largeChange(next));
      acknowledged.push(next);
      writeSync(1, `${next}\n`);
    } catch (error) {
      refusals++;
      writeSync(1, `refused ${next} ${error.code}\n`);
    }
  }
  const snapshot = await store.snapshot();
  let found = 0;
  snapshot.readMany(
    acknowledged.map(numberedKey),
    (_i, bytes) => (found += bytes === undefined ? 0 : 1),
  );
  snapshot.close();
  writeSync(1, `read ${found}\n`);
}

/** A row of its own beside the numbered change, so that the store grows. */
function largeChange(number) {
  const change = numberedChange(number);
  const value = new Uint8Array(Number(bytes)).fill(number);
  const row = { kind: "meta", key: numberedKey(number + 1_000_000), value, expected: "any" };
  return { ...change, patches: [...change.patches, row] };
}

if (mode === "load") await Promise.all(Array.from({ length: 8 }, load));
else if (mode === "fill") await fill();
if (mode !== "load") await new Promise((resolve) => setTimeout(resolve, 60_000));
