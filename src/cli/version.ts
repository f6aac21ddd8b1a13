import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of the package that this file belongs to. */
export function readVersion(): string {
  const file = join(import.meta.dirname, "..", "..", "package.json");
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}
