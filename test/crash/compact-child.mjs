/**
 * A writer whose store is compacted while it writes, and that kills itself. Arguments: directory, first number, before
 * which call of the file system, counted from the announcement of the exchange on, and which calls count. It prints each
 * number that was acknowledged, and "done" when the compaction is done.
 */
import fs, { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { systemClock } from "./base/clock.js";
import { silentLogger } from "./base/log.js";
import { numberedChange } from "./workload.mjs";

const [dir, first, stop, names] = process.argv.slice(2);
let left = Infinity;
const print = writeSync;
for (const name of names.split(",")) {
  const call = fs[name];
  fs[name] = (...args) => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return call(...args);
  };
}
syncBuiltinESMExports();

const { openWriter } = await import("./stores/lmdb.js");
const { compactBesideServer } = await import("./stores/compact-online.js");
const { store } = await openWriter({
  dir,
  logger: silentLogger,
  clock: systemClock,
  retention: { ageMsMax: 600_000, bytesMax: 2_000_000 },
  // They follow each other in one run, as under one supervisor.
  journal: { run: "one" },
  announceExchange: async () => {
    left = Number(stop);
    return async () => {};
  },
});

let next = Number(first);
let isOver = false;
async function load() {
  while (!isOver) {
    const number = next++;
    await store.commit(numberedChange(number));
    print(1, `${number}\n`);
  }
}

const loads = Array.from({ length: 4 }, load);
await new Promise((resolve) => setTimeout(resolve, 50));
await compactBesideServer(dir, { onProgress() {} });
left = Infinity;
isOver = true;
await Promise.all(loads);
print(1, "done\n");
process.kill(process.pid, "SIGKILL");
