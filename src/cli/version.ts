import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./places.ts";

/** The version of the package that this file belongs to. */
export function readVersion(): string {
  return readManifest().version;
}

/** By which projects import it. */
export function readPackageName(): string {
  return readManifest().name;
}

function readManifest(): { readonly version: string; readonly name: string } {
  const file = join(packageFolder, "package.json");
  return JSON.parse(readFileSync(file, "utf8")) as { version: string; name: string };
}
