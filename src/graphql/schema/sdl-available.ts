/** What the SDL of the reference knows and this release does not serve yet: refused by name, never half done. */
import type { GivenDirectives } from "./directives/given.ts";
import { givenOf, specOf } from "./directives/table.ts";
import type { DraftField, DraftType, SchemaDraft, SchemaProblem } from "./sdl-draft.ts";
import { directiveAt } from "./sdl-draft.ts";

export function findUnavailable(draft: SchemaDraft): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const type of draft.user) {
    findIn(type, `Type ${type.name};`, problems);
    for (const field of type.fields)
      findIn(field, `Type ${type.name}; Field ${field.name}:`, problems);
  }
  return problems;
}

function findIn(
  { written, directives }: DraftType | DraftField,
  place: string,
  problems: SchemaProblem[],
): void {
  for (const node of written) {
    const name = node.name.value;
    if (!isUnavailable(directives, name)) continue;
    const shown = name === "custom" ? "custom(http:)" : name;
    const message = `${place} the @${shown} directive is not available in this release.`;
    problems.push({ message, at: directiveAt(node) });
  }
}

function isUnavailable(directives: GivenDirectives, name: string): boolean {
  const given = givenOf(directives, name);
  return given !== undefined && specOf(name)?.isUnavailable?.(given) === true;
}
