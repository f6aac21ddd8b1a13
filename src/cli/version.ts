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

/** Of the reference, whose service and routes these are; raised when they follow a newer one. */
const apiVersion = "v25.4.0";

/** What clients are told: they decide by it which calls they make (docs/decisions/0075). */
export function readApiVersion(): string {
  return `${apiVersion}+weft.${readVersion()}`;
}
