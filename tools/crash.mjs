// npm run crash [rounds] [seed]: kills the store's writer under load, hundreds of times, and looks for losses.
import { spawnSync } from "node:child_process";

const [rounds = "200", seed = "1"] = process.argv.slice(2);
const { status } = spawnSync("npx", ["vitest", "run", "test/crash"], {
  stdio: "inherit",
  env: { ...process.env, WEFT_CRASH_ROUNDS: rounds, WEFT_CRASH_SEED: seed },
});
process.exitCode = status ?? 1;
