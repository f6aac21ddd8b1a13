/** What the SDL of the reference knows and this release does not serve yet: refused by name, never half done. */
import { directiveAt, type Draft, type SchemaProblem } from "./sdl-draft.ts";

const unavailableDirectives: ReadonlySet<string> = new Set([
  "custom",
  "lambdaOnMutate",
  "key",
  "extends",
  "external",
  "requires",
  "provides",
]);

export function findUnavailable(draft: Draft): SchemaProblem[] {
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
        if (unavailableDirectives.has(directive.name.value))
          problems.push({
            message: `Type ${type.name}; Field ${field.name}: the @${directive.name.value} directive is not available in this release.`,
            at: directiveAt(directive),
          });
  }
  return problems;
}
