/** What is wrong with an SDL, and what is doubtful in it. */
import { Fault } from "../../model/fault.ts";
import { refuseRuleGaps, findRuleGaps } from "../schema/rule-gaps.ts";
import { readRemoteExpectations, type RemoteExpectations } from "../schema/remote-expectations.ts";
import { compileSchema, findSchemaProblems, validateSdl } from "./schema-compile.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import { findSchemaWarnings } from "../schema/warnings.ts";

export interface SchemaCheckOptions {
  /** Whether there is a lambda server: without one `@lambda` is refused. */
  readonly hasLambda: boolean;
  /** `--graphql strict-rules`: false where operations without a rule are refused beside others that have one. */
  readonly allowsRuleGaps: boolean;
  /** For whoever edits a schema: all problems, with places, and not those alone that a server tells when it is set. */
  readonly withPlaces?: boolean;
}

export interface SchemaVerdict {
  /** [] where nothing is wrong. */
  readonly problems: readonly string[];
  /** Those of `withPlaces`, in their order; where there are none, `problems` may have some without a place. */
  readonly placed?: readonly SchemaProblem[];
  readonly warnings: readonly string[];
  /** What it expects of other GraphQL services; undefined: nothing, or it is wrong anyway. */
  readonly remote?: RemoteExpectations | undefined;
}

/** Stores nothing and asks nobody: key sets and other GraphQL services are tried when the schema is set. */
export function judgeSchema(
  sdl: string,
  { hasLambda, allowsRuleGaps, withPlaces = false }: SchemaCheckOptions,
): SchemaVerdict {
  const placed = withPlaces ? findSchemaProblems(sdl, hasLambda) : [];
  if (placed.length > 0) return { problems: [], placed, warnings: [] };
  const problems = validateSdl(sdl, hasLambda);
  if (problems.length > 0) return { problems, warnings: [] };
  try {
    const schema = compileSchema(sdl, hasLambda);
    if (!allowsRuleGaps) refuseRuleGaps(findRuleGaps(schema));
    const { fields, types } = readRemoteExpectations(schema);
    const remote = fields.length === 0 ? undefined : { fields, types };
    return { problems, warnings: findSchemaWarnings(schema), remote };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problems: [error.message], warnings: [] };
  }
}
