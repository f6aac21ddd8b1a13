// `npm run supply`: what a running server is made of, and whether anything in it is known to be unsafe. Writes a bill of
// materials (CycloneDX) of the packages that are installed with Weft or compiled into it, and asks the registry for
// advisories about them.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const { out, level } = readOptions(
  "supply",
  "Writes the bill of materials, and audits the packages in it.",
  {
    out: [join("dist", "bill-of-materials.json"), "the file to write"],
    level: ["low", "the least severity that fails: low, moderate, high or critical"],
  },
);

function npm(...args) {
  const done = spawnSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return { code: done.status ?? 1, stdout: done.stdout ?? "", stderr: done.stderr ?? "" };
}

function writeBill() {
  const made = npm("sbom", "--sbom-format", "cyclonedx", "--workspaces=false");
  if (made.code !== 0) {
    process.stderr.write(`supply: npm could not make the bill of materials\n${made.stderr}`);
    return false;
  }
  const { components } = JSON.parse(made.stdout);
  const without = components.filter(({ licenses }) => (licenses ?? []).length === 0);
  for (const { name } of without) process.stderr.write(`supply: ${name} names no licence\n`);
  writeFileSync(join(root, out), made.stdout);
  process.stdout.write(`supply: ${components.length} packages, in ${out}\n`);
  return without.length === 0;
}

/** undefined where the registry answers no audits: that is neither safe nor unsafe. */
function audit() {
  const made = npm("audit", "--workspaces=false", "--json", `--audit-level=${level}`);
  let report;
  try {
    report = JSON.parse(made.stdout);
  } catch {
    return undefined;
  }
  if (report.vulnerabilities === undefined) return undefined;
  for (const [name, { severity, range }] of Object.entries(report.vulnerabilities)) {
    process.stdout.write(`supply: ${name} ${range}: ${severity}\n`);
  }
  return made.code === 0;
}

setup({ tests: true });
const isBilled = writeBill();
const isSafe = audit();
if (isSafe === undefined) {
  process.stdout.write("supply: NOT AUDITED: this registry does not answer audits\n");
} else {
  process.stdout.write(`supply: audited, ${isSafe ? "nothing found" : "see above"}\n`);
}
process.exitCode = isBilled && isSafe !== false ? 0 : 1;
