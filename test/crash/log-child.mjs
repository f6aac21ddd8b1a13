/**
 * A leader that is going to be killed. Arguments: the log's directory, the node's name. It takes the log over, prints
 * "leads TERM", and then each record's text once it is kept.
 */
import { writeSync } from "node:fs";
import { systemClock } from "./base/clock.js";
import { chainStart } from "./log/chain.js";
import { openDirectoryLog } from "./log/directory.js";
import { takeOver } from "./log/take-over.js";

const [dir, name] = process.argv.slice(2);
const log = await openDirectoryLog(dir, systemClock);
const options = {
  history: Buffer.alloc(16, 7),
  term: 1,
  rowFormat: 1,
  clock: systemClock,
  pause: async () => true,
};
let taken;
while (taken === undefined) taken = await takeOver(log, chainStart, options);
const { shipper, point } = taken;
writeSync(1, `leads ${point.term}\n`);

async function write(lane) {
  for (let number = 0; ; number++) {
    const text = `${name}-${point.term}-${lane}-${number}`;
    try {
      const { seq } = await shipper.ship({ kind: "rows", rows: Buffer.from(text) });
      writeSync(1, `${seq}:${text}\n`);
    } catch {
      process.exit(0);
    }
  }
}

for (let lane = 0; lane < 3; lane++) void write(lane);
