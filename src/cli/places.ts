/** Where this package's own files are, whether its modules run one by one or bundled into a few. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of package.json, above this module. */
export const packageFolder = findPackageFolder(import.meta.dirname);

/** What a process of Weft's own is started with: the built command line. */
export const mainFile = join(packageFolder, "dist", "main.cjs");

function findPackageFolder(from: string): string {
  const above = dirname(from);
  if (existsSync(join(from, "package.json")) || above === from) return from;
  return findPackageFolder(above);
}
