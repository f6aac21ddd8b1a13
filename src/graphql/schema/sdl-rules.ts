/** Post-validation (reference/graphql 1.5 step 6): every rule of this API over valid GraphQL. Collects all problems. */
import { allSpecs, givenOf, specOf } from "./directives/table.ts";
import {
  baseName,
  type SchemaDraft,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { isReservedSdlName, isRootName } from "./sdl-names.ts";
import { checkPredicates } from "./sdl-predicates.ts";

/** Definition by definition: the type's rules, then each field's, then its directives' in the order written. */
export function checkRules(draft: SchemaDraft): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const type of draft.user) {
    checkIdCount(type, problems);
    for (const [name, spec] of allSpecs) {
      problems.push(...toList(spec.checkType?.(draft, type, givenOf(type.directives, name))));
    }
    for (const field of type.fields) {
      checkFieldRules(type, field, problems);
      checkFieldDirectives(draft, type, field, problems);
    }
  }
  problems.push(...checkPredicates(draft));
  return problems;
}

function checkFieldDirectives(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
  problems: SchemaProblem[],
): void {
  // @hasInverse gives fields a new list of directives while we look; this one stays as it was written.
  for (const { name } of field.written) {
    const given = givenOf(field.directives, name.value);
    if (given === undefined) continue;
    problems.push(...toList(specOf(name.value)?.checkField?.(draft, type, field, given)));
  }
}

function toList(
  found: SchemaProblem | readonly SchemaProblem[] | undefined,
): readonly SchemaProblem[] {
  if (found === undefined) return [];
  return "message" in found ? [found] : found;
}

function checkIdCount(type: DraftType, problems: SchemaProblem[]): void {
  const ids = type.fields.filter((field) => baseName(field.type) === "ID");
  if (ids.length < 2) return;
  const names = ids.map((field) => field.name);
  const list = `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
  problems.push({
    message:
      `Fields ${list} are listed as IDs for type ${type.name}, but a type can have only one ID field. ` +
      `Pick a single field as the ID for type ${type.name}.`,
    at: ids[0]?.at,
  });
}

const reservedArguments: ReadonlySet<string> = new Set(["first", "offset", "filter", "order"]);

function checkFieldRules(type: DraftType, field: DraftField, problems: SchemaProblem[]): void {
  const refuse = (text: string): void => {
    problems.push({ message: `Type ${type.name}; Field ${field.name}: ${text}`, at: field.at });
  };
  const ref = field.type;
  if (ref.kind === "list" && ref.element.kind === "list") refuse("Nested lists are invalid.");
  if (!isRootName(type.name) && type.directives.remote === undefined) {
    const argument = field.arguments.find((each) => reservedArguments.has(each.name));
    if (argument !== undefined)
      refuse(`can't have ${argument.name} as an argument because it is a reserved argument.`);
  }
  if (isReservedSdlName(field.name))
    refuse(`${field.name} is a reserved keyword and you cannot declare a field with this name.`);
  else if (field.name.endsWith("Aggregate"))
    refuse(
      "Aggregate is a reserved keyword and you cannot declare a field with Aggregate as suffix.",
    );
  const name = baseName(ref);
  if (ref.kind === "list" && (name === "ID" || name === "Boolean"))
    refuse(`${name} lists are invalid.`);
  const { custom, withSubscription } = field.directives;
  if (withSubscription === undefined) return;
  if (type.name !== "Query")
    refuse("@withSubscription directive is applicable only on types and custom dql queries");
  else if (custom !== undefined && custom.dql === undefined)
    refuse("custom query should have dql argument if @withSubscription directive is set");
}
