// `npm test`: everything that must hold before a change may go in. The quick checks first, all at once; the test runner
// last, so that its summary ends the output. Arguments go to the test runner: `npm test -- src/dql`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fail, root, setup } from "./setup.mjs";

const bin = (name, file) => join(root, "node_modules", name, file);
/** What was found the last time is kept beside the packages: files that are as they were are not looked at again. */
const types = (name) => [
  bin("typescript", "bin/tsc"),
  "--noEmit",
  "--incremental",
  "--tsBuildInfoFile",
  bin(".cache", `${name}.tsbuildinfo`),
];
const sources = ["src", "test", "tools", "bench"];
const checks = [
  {
    name: "format",
    args: [
      bin("prettier", "bin/prettier.cjs"),
      ..."--check --log-level warn --cache --cache-strategy content .".split(" "),
    ],
  },
  {
    name: "lint",
    args: [bin("oxlint", "bin/oxlint"), "--type-aware", "--deny-warnings", ...sources],
  },
  { name: "types", args: [...types("types"), "-p", "tsconfig.json"] },
  {
    name: "types of the console",
    args: [...types("types-of-console"), "-p", "src/console/tsconfig.json"],
  },
];

setup({ tests: true });
const found = await Promise.all(checks.map(check));
const wrong = checks.filter((_, i) => !found[i]).map(({ name }) => name);
if (wrong.length > 0) fail(`${wrong.join(", ")}: not in order (see above)`);
process.stdout.write("weft: tests\n");
const tests = [bin("vitest", "vitest.mjs"), "run", ...process.argv.slice(2)];
if ((await run(tests, "inherit")).status !== 0) fail("tests: not in order (see above)");

/** What it has to say stands together, when it has ended. */
async function check({ name, args }) {
  const { status, output } = await run(args, "pipe");
  process.stdout.write(`weft: ${name}\n${output}`);
  return status === 0;
}

function run(args, stdio) {
  return new Promise((resolve) => {
    const one = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", stdio, stdio] });
    let output = "";
    one.stdout?.on("data", (piece) => (output += piece));
    one.stderr?.on("data", (piece) => (output += piece));
    one.once("close", (status) => resolve({ status, output }));
  });
}
