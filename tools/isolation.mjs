// `npm run isolation [-- --minutes N]`: clients check what they see while processes of a server are killed and stopped,
// with 2, 4 and 1 workers, a third of the time each (test/isolation). The seed is printed first.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const values = readOptions(
  "isolation",
  "Checks what clients see while processes of a server are killed and stopped.",
  {
    minutes: [60, "over all settings"],
    seed: [1, "of what is struck when"],
  },
);
setup();
const seconds = Math.max(5, Math.round((values.minutes * 60) / 3));
process.stdout.write(`weft: isolation, ${seconds} s in each setting, --seed ${values.seed}\n`);
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const done = spawnSync(process.execPath, [vitest, "run", "test/isolation"], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    WEFT_SEED: String(values.seed),
    WEFT_ISOLATION_SECONDS: String(seconds),
  },
});
process.exitCode = done.status ?? 1;
