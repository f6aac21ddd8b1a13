// `npm run nightly [-- TEST-FILE…]`: what takes hours. The packages' audit, hostile clients, the growth of documents, every
// property with 10,000 cases and a seed of its own, two hundred kills under write load, ten minutes of kills while a
// server archives itself, backups at a real S3 server (built with Go, where there is one), the dashboard's queries (by
// Prometheus, where that is installed), the isolation suite for an hour (`WEFT_ISOLATION_MINUTES`), and as long a storm
// over several machines (`WEFT_NEMESIS_MINUTES`). The seed is printed first: a failure names the case, and
// `WEFT_SEED=N npm run nightly` finds it again. Who names files gets their properties alone. Every step runs, whatever
// those before it found; exit 1 when one failed.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, setup } from "./setup.mjs";

const seed = process.env["WEFT_SEED"] ?? String(Date.now() % 1_000_000_007);
const runs = process.env["WEFT_RUNS"] ?? "10000";
const minutes = process.env["WEFT_ISOLATION_MINUTES"] ?? "60";
const nemesisMinutes = process.env["WEFT_NEMESIS_MINUTES"] ?? "60";

function findProperties(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes("numRuns: runs("));
}

const tool = (name, ...args) => ({ name, args: [join(root, "tools", `${name}.mjs`), ...args] });

function properties(files) {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  return { name: "properties", args: [vitest, "run", ...files] };
}

setup({ tests: true });
const named = process.argv.slice(2);
const files = named.length > 0 ? named : [...findProperties("src"), ...findProperties("test")];
const steps =
  named.length > 0
    ? [properties(files)]
    : [
        tool("supply"),
        tool("hostile"),
        tool("growth"),
        properties(files),
        tool("crash", "--seed", seed),
        tool("backup-storm", "--seconds", "600", "--seed", seed),
        tool("s3-gateway"),
        tool("prometheus"),
        tool("isolation", "--minutes", minutes, "--seed", seed),
        tool("nemesis", "--minutes", nemesisMinutes, "--seed", seed),
      ];
process.stdout.write(`weft: ${files.length} files with properties, WEFT_SEED=${seed}\n`);
const results = steps.map(({ name, args }) => {
  const env = { ...process.env, WEFT_SEED: seed, WEFT_RUNS: runs };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
  return { name, status };
});
/** A step that needs what is not installed here. */
const nothingTried = 75;
for (const { name, status } of results) {
  const found =
    status === 0
      ? "in order"
      : status === nothingTried
        ? "NOT TRIED, see above"
        : "FAILED, see above";
  process.stdout.write(`nightly: ${name}: ${found}\n`);
}
const isFine = results.every(({ status }) => status === 0 || status === nothingTried);
process.exitCode = isFine ? 0 : 1;
