/** Files that are made from others: written whole, and only where something has changed. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writtenTypes, type TypeOptions } from "../codegen/written-types.ts";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { Fault } from "../model/fault.ts";
import { inProject } from "./project-mask.ts";
import { readPackageName } from "./version.ts";

/** The types of a schema that compiles; the paths of what was written, [] where nothing has changed. */
export function writeSchemaTypes(
  dir: string,
  sdl: string,
  int64: TypeOptions["int64"],
): readonly string[] {
  const files = writtenTypes(compileSchema(sdl), { int64 }, `${readPackageName()}/client`);
  return inProject(() => writeFiles(dir, files)) === 0
    ? []
    : [...files.keys()].map((name) => join(dir, name));
}

/** How many were written. Whoever reads one sees the old or the new text. Throws Fault E_STARTUP. */
function writeFiles(dir: string, files: ReadonlyMap<string, string>): number {
  let count = 0;
  try {
    mkdirSync(dir, { recursive: true });
    for (const [name, text] of files) {
      const file = join(dir, name);
      if (readIfThere(file) === text) continue;
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
      count++;
    }
  } catch (error) {
    throw new Fault("E_STARTUP", `${dir}: types cannot be written`, { cause: error });
  }
  return count;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
