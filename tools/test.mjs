// `npm test`: everything that must hold before a change may go in. The quick checks first; the test runner last, so that
// its summary ends the output. Arguments go to the test runner: `npm test -- src/dql`.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fail, root, setup } from "./setup.mjs";

const bin = (name, file) => join(root, "node_modules", name, file);
const sources = ["src", "test", "tools", "bench"];
const steps = [
  {
    name: "format",
    args: [bin("prettier", "bin/prettier.cjs"), "--check", "--log-level", "warn", "."],
  },
  {
    name: "lint",
    args: [bin("oxlint", "bin/oxlint"), "--type-aware", "--deny-warnings", ...sources],
  },
  { name: "types", args: [bin("typescript", "bin/tsc"), "--noEmit", "-p", "tsconfig.json"] },
  {
    name: "types of the console",
    args: [bin("typescript", "bin/tsc"), "--noEmit", "-p", "src/console/tsconfig.json"],
  },
  { name: "tests", args: [bin("vitest", "vitest.mjs"), "run", ...process.argv.slice(2)] },
];

setup({ tests: true });
for (const { name, args } of steps) {
  process.stdout.write(`weft: ${name}\n`);
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) fail(`${name}: not in order (see above)`);
}
