/**
 * A writer that is going to be killed. Arguments: directory, first number, "load" or "serve". Under load it commits
 * numbered changes and prints each number once it is acknowledged; serving it only takes others' changes.
 */
import { writeSync } from "node:fs";
import { systemClock } from "./base/clock.js";
import { silentLogger } from "./base/log.js";
import { numberedChange } from "./workload.mjs";
import { openWriter } from "./stores/lmdb.js";

const [dir, first, mode] = process.argv.slice(2);
const { store } = await openWriter({
  dir,
  logger: silentLogger,
  clock: systemClock,
  retention: { ageMsMax: 600_000, bytesMax: 2_000_000 },
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
if (mode === "load") await Promise.all(Array.from({ length: 8 }, load));
else await new Promise((resolve) => setTimeout(resolve, 60_000));
