/** SDL → CompiledSchema: the order of the stages, nothing else. */
import { Fault } from "../../model/fault.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { generateApi } from "../schema/generate.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import { parseMetaLines } from "../schema/sdl-meta.ts";
import { findAllProblems, isDraft, readSdl } from "../schema/sdl-validate.ts";
import { readRules, type RuleProblem } from "../resolve/rule-read.ts";
import { readRemoteExpectations } from "../schema/remote-expectations.ts";
import { SchemaFault } from "../schema/schema-fault.ts";
import { linkSchema } from "../schema/link.ts";
import type { Int64Form } from "../schema/type-shell.ts";

type Compiled =
  | { readonly ok: true; readonly schema: CompiledSchema }
  | {
      readonly ok: false;
      readonly problems: readonly SchemaProblem[];
    };

/**
 * Compiles a user's SDL. Throws Fault E_GRAPHQL_SCHEMA where it is wrong, its message all problems of the stage that
 * found them, each `input:LINE: …` and a newline (reference/graphql 1.5); SchemaFault for those of rules. Without a lambda server (`hasLambda`) `@lambda` is refused.
 */
export function compileSchema(
  sdl: string,
  hasLambda = true,
  int64: Int64Form = "number",
): CompiledSchema {
  const compiled = compile(sdl, hasLambda, int64);
  if (compiled.ok) return compiled.schema;
  throw schemaFault(compiled.problems);
}

/** Problems as a refusal tells them. */
export function schemaFault(problems: readonly SchemaProblem[]): Fault {
  return new Fault("E_GRAPHQL_SCHEMA", printProblems(problems));
}

/** What is wrong with an SDL, one message a problem; [] when nothing is. */
export function validateSdl(sdl: string, hasLambda = true): readonly string[] {
  try {
    const compiled = compile(sdl, hasLambda);
    return compiled.ok ? [] : compiled.problems.map(printProblem);
  } catch (error) {
    if (error instanceof SchemaFault) return error.problems;
    // A malformed comment line is told without a place.
    if (error instanceof Fault && error.code === "E_GRAPHQL_SCHEMA") return [error.message];
    throw error;
  }
}

/**
 * All that is wrong with an SDL, with places, in their order; [] when nothing is. For whoever writes one: a server tells
 * the problems of the first stage that finds any.
 */
export function findSchemaProblems(sdl: string, hasLambda = true): readonly SchemaProblem[] {
  const problems = sdl === "" ? [] : findAllProblems(sdl, hasLambda);
  if (problems.length > 0) return problems.toSorted(comparePlaces);
  try {
    const compiled = compile(sdl, hasLambda);
    return compiled.ok ? [] : compiled.problems;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error instanceof SchemaFault && error.places !== undefined) return error.places;
    // Those of comment lines have their lines in their texts.
    const messages = error instanceof SchemaFault ? error.problems : [error.message];
    return messages.map((message) => ({ message: message.trim(), at: undefined }));
  }
}

function comparePlaces({ at: a }: SchemaProblem, { at: b }: SchemaProblem): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

function compile(sdl: string, hasLambda: boolean, int64: Int64Form = "number"): Compiled {
  if (sdl === "") return refuse([{ message: "No schema specified", at: undefined }]);
  const meta = parseMetaLines(sdl);
  const draft = readSdl(sdl, hasLambda);
  if (!isDraft(draft)) return refuse(draft);
  const roots = generateApi(draft);
  if (roots.query.fields.length === 0 && roots.mutation.fields.length === 0) {
    const message = "No query or mutation found in the generated schema";
    return refuse([{ message, at: undefined }]);
  }
  const linked = linkSchema(sdl, draft, roots, { meta, int64 });
  const remote = readRemoteExpectations(linked);
  if (remote.problems.length > 0) return refuse(remote.problems);
  const read = readRules(linked);
  if ("problems" in read) throw ruleFault(read.problems);
  return { ok: true, schema: { ...linked, rules: read.rules } };
}

/** The messages are the reference's, which names neither the rule nor its place. */
function ruleFault(problems: readonly RuleProblem[]): SchemaFault {
  const places = problems.map(({ message, at, operation }) => ({
    message: `${message} (in the rule for ${operation})`,
    at,
  }));
  const sorted = places.toSorted(comparePlaces);
  return new SchemaFault(
    problems.map(({ message }) => message),
    sorted,
  );
}

function refuse(problems: readonly SchemaProblem[]): Compiled {
  return { ok: false, problems };
}

/** One, with its line. */
export function printProblem({ message, at }: SchemaProblem): string {
  return at === undefined ? `input: ${message}` : `input:${at.line}: ${message}`;
}

/** A single problem without a place stands alone; all others end their line. */
function printProblems(problems: readonly SchemaProblem[]): string {
  const [only] = problems;
  if (problems.length === 1 && only !== undefined && only.at === undefined)
    return printProblem(only);
  return problems.map((problem) => `${printProblem(problem)}\n`).join("");
}
