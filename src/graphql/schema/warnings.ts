/** What is doubtful in a schema that is valid, a sentence each: told with it, never refused. */
import { findWeakKey } from "../../auth/authorization.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import { findRuleGaps } from "./rule-gaps.ts";

export function findSchemaWarnings(schema: CompiledSchema): readonly string[] {
  const { authorization } = schema.meta;
  const weak = authorization === undefined ? undefined : findWeakKey(authorization);
  return weak === undefined ? findRuleGaps(schema) : [weak, ...findRuleGaps(schema)];
}
