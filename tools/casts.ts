/**
 * `value as Type` tells the compiler, and nothing looks. A module has so many at most; a type guard, a generic or
 * `satisfies` takes the place of further ones. `as const` is none.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";

/** A folder right below `src` → how many casts its files have together. */
export type CastLimits = Readonly<Record<string, number>>;

/** One line per module that has more than the table lets it, and per row that lets it more than it has. */
export function findCasts(root: string, limits: CastLimits): string[] {
  const counts = new Map<string, number>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.endsWith(".d.ts")) continue;
    const [module = file] = file.split(sep);
    const text = readFileSync(join(root, file), "utf8");
    const count = countCasts(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
    counts.set(module, (counts.get(module) ?? 0) + count);
  }
  const faults: string[] = [];
  for (const module of [...new Set([...counts.keys(), ...Object.keys(limits)])].sort()) {
    const count = counts.get(module) ?? 0;
    const most = limits[module] ?? 0;
    if (count > most) faults.push(`${module} has ${count} casts, and may have ${most}`);
    if (count < most) faults.push(`${module} has ${count} casts: its row may say so`);
  }
  return faults;
}

function countCasts(node: ts.Node): number {
  let count = isCast(node) ? 1 : 0;
  ts.forEachChild(node, (child) => {
    count += countCasts(child);
  });
  return count;
}

function isCast(node: ts.Node): boolean {
  if (ts.isTypeAssertionExpression(node)) return true;
  return ts.isAsExpression(node) && !ts.isConstTypeReference(node.type);
}
