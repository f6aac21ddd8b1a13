/** `weft schema check`: every fault of an SDL with its place, as compilers print them, so that editors find them. */
import { readFileSync } from "node:fs";
import { findSchemaProblems } from "../graphql/service/schema-compile.ts";
import { judgeSchema } from "../graphql/service/schema-verdict.ts";
import { Fault } from "../model/fault.ts";
import { say } from "./log.ts";
import { printProblems } from "./schema-problems.ts";
import type { SchemaCheckFlags } from "./schema-commands.ts";

/** `file`: `-` for standard input. */
export function runSchemaCheck(file: string, { lambda, strictRules }: SchemaCheckFlags): void {
  const sdl = readSdl(file);
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

function readSdl(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", error instanceof Error ? error.message : String(error));
  }
}
