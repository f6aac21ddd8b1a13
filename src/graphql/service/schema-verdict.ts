/** What is wrong with an SDL, and what is doubtful in it. */
import { Fault } from "../../model/fault.ts";
import { refuseRuleGaps, findRuleGaps } from "../schema/rule-gaps.ts";
import { compileSchema, validateSdl } from "./schema-compile.ts";
import { findSchemaWarnings } from "../schema/warnings.ts";

export interface SchemaCheckOptions {
  /** Whether there is a lambda server: without one `@lambda` is refused. */
  readonly hasLambda: boolean;
  /** `--graphql strict-rules`: false where operations without a rule are refused beside others that have one. */
  readonly allowsRuleGaps: boolean;
}

export interface SchemaVerdict {
  /** [] where nothing is wrong. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Stores nothing and asks nobody: key sets are tried when the schema is set. */
export function judgeSchema(
  sdl: string,
  { hasLambda, allowsRuleGaps }: SchemaCheckOptions,
): SchemaVerdict {
  const problems = validateSdl(sdl, hasLambda);
  if (problems.length > 0) return { problems, warnings: [] };
  try {
    const schema = compileSchema(sdl, hasLambda);
    if (!allowsRuleGaps) refuseRuleGaps(findRuleGaps(schema));
    return { problems, warnings: findSchemaWarnings(schema) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problems: [error.message], warnings: [] };
  }
}
