/**
 * `!` says that something is there, and nothing looks. It stands in hot files alone, where arrays of numbers are read in
 * loops that bound their places; elsewhere `must` (base/assert.ts) looks, and says why it is there.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** A file of `src` → how many it has at most. */
export type HotFiles = Readonly<Record<string, number>>;

/** One line per file that has more than the table lets it, and per row that lets it more than it has. */
export function findNonNull(root: string, hot: HotFiles): string[] {
  const faults: string[] = [];
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.endsWith(".d.ts")) continue;
    const text = readFileSync(join(root, file), "utf8");
    const count = countNonNull(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
    const most = hot[file] ?? 0;
    if (count > most) faults.push(`${file} has ${count} of "!", and may have ${most}`);
    if (count < most) faults.push(`${file} has ${count} of "!": its row may say so`);
  }
  return faults;
}

function countNonNull(node: ts.Node): number {
  let count = ts.isNonNullExpression(node) ? 1 : 0;
  ts.forEachChild(node, (child) => {
    count += countNonNull(child);
  });
  return count;
}
