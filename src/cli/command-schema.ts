/** `weft schema check`: every fault of an SDL with its place, as compilers print them, so that editors find them. */
import { findSchemaProblems } from "../graphql/service/schema-compile.ts";
import { judgeSchema } from "../graphql/service/schema-verdict.ts";
import { say } from "./log.ts";
import { readSdlText } from "./schema-files.ts";
import { printProblems } from "./schema-problems.ts";
import type { SchemaCheckFlags } from "./schema-commands.ts";

/** `file`: `-` for standard input. */
export function runSchemaCheck(file: string, { lambda, strictRules }: SchemaCheckFlags): void {
  const sdl = readSdlText(file);
  const name = file === "-" ? "stdin" : file;
  const problems = findSchemaProblems(sdl, lambda);
  for (const line of printProblems(name, problems)) process.stdout.write(`${line}\n`);
  const verdict =
    problems.length > 0
      ? { problems: [], warnings: [] }
      : judgeSchema(sdl, { hasLambda: lambda, allowsRuleGaps: !strictRules });
  for (const text of verdict.problems) process.stdout.write(`${name}: error: ${text.trim()}\n`);
  for (const text of verdict.warnings) process.stdout.write(`${name}: warning: ${text}\n`);
  const count = problems.length + verdict.problems.length;
  if (count > 0) process.exitCode = 1;
  else say(`${name}: nothing is wrong`);
}
