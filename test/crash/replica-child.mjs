/**
 * A machine that leads until it is killed. Arguments: the log's directory, the store's, the store's id, the first
 * number. It takes the log over, prints "leads", and then the number of each change that is acknowledged.
 */
import { writeSync } from "node:fs";
import { systemClock } from "./base/clock.js";
import { silentLogger } from "./base/log.js";
import { Replica } from "./cluster/replica.js";
import { openDirectoryLog } from "./log/directory.js";
import { openNodeStore } from "./stores/open.js";
import { numberedChange } from "./workload.mjs";

const [logDir, dir, storeId, first] = process.argv.slice(2);
const node = await openNodeStore({
  dir,
  storeId,
  logger: silentLogger,
  clock: systemClock,
  onFatal: () => process.exit(0),
  // Small, so that it dies in every step of a checkpoint.
  journal: { policy: { bytesMax: 20_000, transactionsMax: 7, ageMsMax: 20 } },
});
const log = await openDirectoryLog(logDir, systemClock);
const replica = await Replica.open(node, { log, clock: systemClock, pause: async () => true });
let store;
while (store === undefined) {
  while (await replica.follow());
  store = await replica.lead(() => {});
}
writeSync(1, "leads\n");

let next = Number(first);
async function write() {
  for (;;) {
    const number = next++;
    try {
      await store.commit(numberedChange(number));
    } catch {
      process.exit(0);
    }
    writeSync(1, `${number}\n`);
  }
}
for (let lane = 0; lane < 8; lane++) void write();
