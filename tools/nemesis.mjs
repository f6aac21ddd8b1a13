// `npm run nemesis [-- --minutes N]`: clients work at three machines over one log while processes, servers, the lines
// between them and PostgreSQL fail (test/nemesis): over a directory for a sixth of the time, over PostgreSQL with a
// synchronous standby for the rest. Then versions of the server in which one rule is left out: each has to be caught.
// The seed is printed first.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const values = readOptions(
  "nemesis",
  "Checks what clients see of several machines while these, and what lies between them, fail.",
  {
    minutes: [60, "over all engines"],
    seed: [1, "of what is struck when"],
  },
);
setup({ tests: true });
const seconds = Math.max(6, Math.round(values.minutes * 60));
process.stdout.write(`weft: nemesis, ${seconds} s, --seed ${values.seed}\n`);
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const done = spawnSync(process.execPath, [vitest, "run", "test/nemesis"], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    WEFT_SEED: String(values.seed),
    WEFT_NEMESIS_SECONDS: String(seconds),
  },
});
process.exitCode = done.status ?? 1;
