/** Rules for `@custom` (reference/graphql 8.2), as far as they are about queries written in DQL. */
import { Kind } from "graphql";
import {
  baseName,
  directiveAt,
  findArgument,
  findDirective,
  hasDirective,
  rawText,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { builtinScalars } from "./sdl-names.ts";

export function checkCustom(type: DraftType, field: DraftField): SchemaProblem[] {
  const directive = findDirective(field, "custom");
  if (directive === undefined) return [];
  const at = directiveAt(directive);
  const place = `Type ${type.name}; Field ${field.name}`;
  const refuse = (text: string): SchemaProblem => ({ message: `${place}: ${text}`, at });
  for (const other of ["search", "dgraph"])
    if (hasDirective(field, other))
      return [
        { message: `${place}; custom directive not allowed along with @${other} directive.`, at },
      ];
  const count = directive.arguments?.length ?? 0;
  const problems: SchemaProblem[] = [];
  if (count !== 1)
    problems.push(
      refuse(
        `has ${count} arguments for @custom directive, it should contain exactly one of \`http\` or \`dql\` arguments.`,
      ),
    );
  if (count === 0)
    problems.push(
      refuse("one of `http` or `dql` arguments must be present for @custom directive."),
    );
  const dql = findArgument(directive, "dql");
  if (problems.length > 0 || dql === undefined) return problems;
  if (type.name !== "Query")
    return [refuse("@custom directive with `dql` can be used only on queries.")];
  if (dql.kind !== Kind.STRING)
    return [refuse("dql argument for @custom directive must be of type String.")];
  if (rawText(dql).trim() === "")
    return [refuse("dql argument for @custom directive must not be empty.")];
  const odd = field.arguments.find(
    (each) => each.type.kind === "list" || !builtinScalars.has(baseName(each.type)),
  );
  if (odd === undefined) return [];
  return [
    refuse(
      `Argument ${odd.name}: must be of a scalar type. @custom DQL queries accept only scalar arguments.`,
    ),
  ];
}
