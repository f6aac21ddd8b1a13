/** `weft types`: the types of a GraphQL schema as files, once or at each change. */
import { relative } from "node:path";
import { findSchemaProblems } from "../graphql/service/schema-compile.ts";
import { watchFiles } from "./file-watch.ts";
import { complain, say } from "./log.ts";
import { readSchemaFile } from "./schema-files.ts";
import { printProblems } from "./schema-problems.ts";
import type { TypesOptions } from "./project-commands.ts";
import { writeSchemaTypes } from "./written-files.ts";

export async function runTypes(options: TypesOptions): Promise<void> {
  if (!options.watch) {
    if (!writeTypes(options)) process.exitCode = 1;
    return;
  }
  // Watched before it is read: a change that falls between the two is seen.
  const ended = watchFiles([options.schema], () => void writeTypes(options));
  writeTypes(options);
  say(`watching ${options.schema}: Ctrl-C ends it`);
  await ended;
}

/** False where the schema is wrong, which is told; the files of an earlier one stay. */
export function writeTypes({ schema: file, out, int64 }: Omit<TypesOptions, "watch">): boolean {
  const sdl = readSchemaFile(file);
  const problems = findSchemaProblems(sdl, true);
  if (problems.length > 0) {
    for (const line of printProblems(file, problems)) complain(line);
    return false;
  }
  const written = writeSchemaTypes(out, sdl, int64).map((file) => relative(".", file));
  say(`types: ${written.length === 0 ? `nothing has changed in ${out}` : written.join(", ")}`);
  return true;
}
