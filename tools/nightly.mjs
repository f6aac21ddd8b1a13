// `npm run nightly [-- TEST-FILE…]`: every property with 10,000 cases and a seed of its own, which is printed first. A
// failure names the case; `WEFT_SEED=N npm run nightly` finds it again. Then the isolation suite for an hour
// (`WEFT_ISOLATION_MINUTES`), unless files were named.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, setup } from "./setup.mjs";

const seed = process.env["WEFT_SEED"] ?? String(Date.now() % 1_000_000_007);

function findProperties(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes("numRuns: runs("));
}

setup();
const given = process.argv.slice(2);
const files = given.length > 0 ? given : [...findProperties("src"), ...findProperties("test")];
process.stdout.write(`weft: ${files.length} files with properties, WEFT_SEED=${seed}\n`);
// Small reads and writes beside hostile clients; who asks for files does without.
const hostile = join(root, "tools", "hostile.mjs");
const attacked =
  given.length > 0
    ? 0
    : spawnSync(process.execPath, [hostile], { cwd: root, stdio: "inherit" }).status;
process.once("exit", () => (process.exitCode ||= attacked ?? 1));
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const done = spawnSync(process.execPath, [vitest, "run", ...files], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, WEFT_SEED: seed, WEFT_RUNS: process.env["WEFT_RUNS"] ?? "10000" },
});
// An hour of kills and stops behind them.
const minutes = process.env["WEFT_ISOLATION_MINUTES"] ?? "60";
const isolation = join(root, "tools", "isolation.mjs");
const storms =
  given.length > 0
    ? { status: 0 }
    : spawnSync(process.execPath, [isolation, "--minutes", minutes, "--seed", seed], {
        cwd: root,
        stdio: "inherit",
      });
process.exitCode = done.status !== 0 ? (done.status ?? 1) : (storms.status ?? 1);
