/** What is doubtful in a schema that is valid, a sentence each: told with it, never refused. */
import { findWeakKey } from "../../auth/authorization.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import { findRuleGaps } from "./rule-gaps.ts";

export function findSchemaWarnings(schema: CompiledSchema): readonly string[] {
  const { authorization } = schema.meta;
  const weak = authorization === undefined ? undefined : findWeakKey(authorization);
  const gaps = [
    ...findUnreadClaims(schema),
    ...findRuleGaps(schema),
    ...findMissingSecrets(schema),
  ];
  return weak === undefined ? gaps : [weak, ...gaps];
}

/** Without the line no token is read. */
function findUnreadClaims({ rules, meta }: CompiledSchema): readonly string[] {
  if (rules === undefined || rules.variables.length === 0) return [];
  if (meta.authorization !== undefined) return [];
  const names = rules.variables.map((name) => `$${name}`).join(", ");
  return [
    `Dgraph.Authorization; there is no such line, and @auth asks for ${names}: no token is read, whoever sends one, and nobody has these claims.`,
  ];
}

function findMissingSecrets({ types, meta }: CompiledSchema): readonly string[] {
  const missing = new Set<string>();
  for (const type of types.values()) {
    if (type.kind !== "object" && type.kind !== "interface") continue;
    for (const { name, directives } of type.fields.values()) {
      for (const { remote, local } of directives.custom?.http?.secretHeaders ?? []) {
        if (meta.secrets.has(local)) continue;
        const field = `Type ${type.name}; Field ${name}`;
        missing.add(
          `${field}: there is no Dgraph.Secret ${local}: the header ${remote} is sent empty.`,
        );
      }
    }
  }
  return [...missing];
}
