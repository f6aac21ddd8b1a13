/** The rooms that a child process needs, as JavaScript: Node 20 does not run TypeScript. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));
const rooms = ["base", "model", "codec", "store", "stores", "log", "cluster"];

function listSources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .filter((entry) => !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Writes them and `scripts` (names in this folder) below node_modules, where packages are found. */
export function buildChild(scripts: readonly string[]): { dir: string } {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "weft-crash-"));
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  for (const room of rooms) {
    for (const source of listSources(join(root, "src", room))) {
      const path = join(dir, relative(join(root, "src"), source)).replace(/\.ts$/, ".js");
      mkdirSync(dirname(path), { recursive: true });
      const { outputText } = ts.transpileModule(readFileSync(source, "utf8"), {
        compilerOptions: {
          module: ts.ModuleKind.ESNext,
          target: ts.ScriptTarget.ES2023,
          verbatimModuleSyntax: true,
          rewriteRelativeImportExtensions: true,
        },
      });
      writeFileSync(path, outputText);
    }
  }
  for (const script of scripts) {
    cpSync(fileURLToPath(new URL(script, import.meta.url)), join(dir, script));
  }
  return { dir };
}
