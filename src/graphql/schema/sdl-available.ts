/** What the SDL of the reference knows and this release does not serve yet: refused by name, never half done. */
import type { ConstDirectiveNode } from "graphql";
import { directiveAt, findArgument, type SchemaDraft, type SchemaProblem } from "./sdl-draft.ts";

const unavailableDirectives: ReadonlySet<string> = new Set([
  "custom",
  "lambdaOnMutate",
  "key",
  "extends",
  "external",
  "requires",
  "provides",
]);

export function findUnavailable(draft: SchemaDraft): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const type of draft.user) {
    for (const directive of type.directives)
      if (unavailableDirectives.has(directive.name.value))
        problems.push({
          message: `Type ${type.name}; the @${directive.name.value} directive is not available in this release.`,
          at: directiveAt(directive),
        });
    for (const field of type.fields)
      for (const directive of field.directives)
        if (isUnavailable(directive))
          problems.push({
            message: `Type ${type.name}; Field ${field.name}: the ${nameOf(directive)} directive is not available in this release.`,
            at: directiveAt(directive),
          });
  }
  return problems;
}

/** Of `@custom`, DQL is served (its other rules have been checked); requests to services outside are not. */
function isUnavailable(directive: ConstDirectiveNode): boolean {
  const name = directive.name.value;
  if (name === "custom" && findArgument(directive, "dql") !== undefined) return false;
  return unavailableDirectives.has(name);
}

function nameOf({ name }: ConstDirectiveNode): string {
  return name.value === "custom" ? "@custom(http:)" : `@${name.value}`;
}
