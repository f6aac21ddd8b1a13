/**
 * Test files share processes: modules are loaded once for many of them, which saves half a second for each file. These
 * need a process of their own: they put another module in a module's place, load modules anew, or set what modules read
 * from the environment when they are loaded.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const alone: readonly string[] = [
  "src/optimizer/costs.test.ts",
  "src/stores/lmdb/checkpoints.test.ts",
  "test/crash/encrypted-damage.test.ts",
  "test/crash/encrypted-images.test.ts",
  "test/crash/encrypted-recovery.test.ts",
  "test/crash/journal.test.ts",
  "test/crash/recovery.test.ts",
];

const lasting =
  /\bvi\.(?:mock|doMock|resetModules|stubEnv|stubGlobal)\(|\bprocess\.chdir\(|^\s*process\.env\[[^\]]+\] = /m;
const hook = /^(?:before|after)(?:All|Each)\(/m;

/** What would reach from one test file into the next, below `folders` of `root`. */
export function findSharingFaults(
  root: string,
  folders: readonly string[],
  listed: readonly string[],
): string[] {
  const faults: string[] = [];
  const needy = new Set<string>();
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts") || name.includes("node_modules")) continue;
      const file = `${folder}/${name.replaceAll("\\", "/")}`;
      const text = readFileSync(join(root, file), "utf8");
      if (!file.endsWith(".test.ts")) {
        if (hook.test(text)) faults.push(`${file}: its hooks are those of the first that loads it`);
      } else if (lasting.test(text)) {
        needy.add(file);
        if (!listed.includes(file)) faults.push(`${file}: needs a process of its own`);
      }
    }
  }
  const others = listed.filter((file) => !needy.has(file));
  return [...faults, ...others.map((file) => `${file}: may share a process`)].sort();
}
