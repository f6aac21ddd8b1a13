import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./places.ts";

/** The version of the package that this file belongs to. */
export function readVersion(): string {
  const file = join(packageFolder, "package.json");
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}
