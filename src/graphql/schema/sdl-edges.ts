/** The rules of edges: `@hasInverse` (reference/graphql 2.3) and `@dgraph` on fields (reference/graphql 2.4). */
import { Kind } from "graphql";
import {
  baseName,
  directiveAt,
  findArgument,
  findDirective,
  findDraftField,
  hasDirective,
  makeDirective,
  printRef,
  rawText,
  type SchemaDraft,
  type DraftField,
  type DraftType,
  type SdlPosition,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { isReservedSdlName } from "./sdl-names.ts";
import { hasManyLanguages, predicateOf, splitPredicate } from "./graph-names.ts";

/**
 * Checks one `@hasInverse` and, where the other side has none, gives it its own; copies of an interface's field in
 * implementing types too.
 */
export function checkInverse(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const directive = findDirective(field, "hasInverse");
  if (directive === undefined) return undefined;
  const refuse = (text: string, at: SdlPosition): SchemaProblem => ({
    message: `Type ${type.name}; Field ${field.name}: ${text}`,
    at,
  });
  const targetName = baseName(field.type);
  const target = draft.types.get(targetName);
  if (target === undefined || (target.kind !== "object" && target.kind !== "interface"))
    return refuse(
      `Field ${field.name} is of type ${targetName}, but @hasInverse directive only applies to fields with object types.`,
      field.at,
    );
  const at = directiveAt(directive);
  const argument = findArgument(directive, "field");
  if (argument === undefined)
    return refuse("@hasInverse directive doesn't have field argument.", at);
  const inverseName = rawText(argument);
  const inverse = findDraftField(target, inverseName);
  if (inverse === undefined)
    return refuse(`inverse field ${inverseName} doesn't exist for type ${targetName}.`, at);

  // The directive may have come with a field of an interface: then the interface is the other side's type.
  const owner = inverseOwner(draft, type, field);
  const problem = compareSides({ owner, field, target, inverse });
  if (problem !== undefined) return { message: problem, at };
  if (!hasDirective(inverse, "hasInverse")) addInverse(draft, target, inverse, field.name);
  return undefined;
}

function inverseOwner(draft: SchemaDraft, type: DraftType, field: DraftField): string {
  if (field.inheritedFrom === undefined) return type.name;
  const parent = draft.types.get(field.inheritedFrom);
  const original = parent === undefined ? undefined : findDraftField(parent, field.name);
  return original !== undefined && hasDirective(original, "hasInverse")
    ? field.inheritedFrom
    : type.name;
}

interface Sides {
  readonly owner: string;
  readonly field: DraftField;
  readonly target: DraftType;
  readonly inverse: DraftField;
}

function compareSides({ owner, field, target, inverse }: Sides): string | undefined {
  const where = `Type ${owner}; Field ${field.name}:`;
  if (baseName(inverse.type) !== owner)
    return (
      `${where} @hasInverse is required to link the fields of same type, but the field ` +
      `${inverse.name} is of the type ${printRef(inverse.type)} instead of ${owner}. ` +
      "To link these make sure the fields are of the same type."
    );
  const back = findDirective(inverse, "hasInverse");
  if (back === undefined) return undefined;
  const backName = rawText(findArgument(back, "field"));
  if (backName === field.name) return undefined;
  return (
    `${where} @hasInverse should be consistant. ${owner}.${field.name} is the inverse of ` +
    `${target.name}.${inverse.name}, but ${target.name}.${inverse.name} is the inverse of ` +
    `${owner}.${backName}.`
  );
}

function addInverse(
  draft: SchemaDraft,
  target: DraftType,
  inverse: DraftField,
  back: string,
): void {
  const sides = [inverse];
  if (target.kind === "interface")
    for (const type of draft.types.values())
      if (type.interfaces.includes(target.name))
        for (const copy of type.fields) if (copy.name === inverse.name) sides.push(copy);
  for (const side of sides)
    if (!hasDirective(side, "hasInverse"))
      side.directives = [
        ...side.directives,
        makeDirective("hasInverse", "field", { kind: Kind.ENUM, value: back }),
      ];
}

/** The checks of `@dgraph` on a field; the first problem. */
export function checkMapping(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const directive = findDirective(field, "dgraph");
  if (directive === undefined) return undefined;
  const at = directiveAt(directive);
  const refuse = (text: string): SchemaProblem => ({
    message: `Type ${type.name}; Field ${field.name}: ${text}`,
    at,
  });
  if (baseName(field.type) === "ID")
    return refuse(
      "has the @dgraph directive but fields of type ID can't have the @dgraph directive.",
    );
  const argument = findArgument(directive, "pred");
  const written = rawText(argument);
  if (written === "") return refuse("pred argument for @dgraph directive should not be empty.");
  if (argument?.kind !== Kind.STRING)
    return refuse("pred argument for @dgraph directive should be of type String.");
  if (isReservedSdlName(written))
    return refuse(`pred argument '${written}' for @dgraph directive is a reserved keyword.`);
  if (splitPredicate(written).isReverse) return checkReverse(draft, type, field);
  return written.includes("@") ? checkLanguages(type, field, written) : undefined;
}

/** `~p`: a list of objects, whose type has the forward edge, leading to this type. Interfaces are left unchecked. */
function checkReverse(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  if (type.kind === "interface") return undefined;
  const directive = findDirective(field, "dgraph");
  const at = directive === undefined ? field.at : directiveAt(directive);
  const where = `Type ${type.name}; Field ${field.name}`;
  if (hasDirective(field, "hasInverse"))
    return {
      message: `${where}: @hasInverse directive is not allowed when pred argument in @dgraph directive starts with a ~.`,
      at,
    };
  const target = draft.types.get(baseName(field.type));
  if (target === undefined || (target.kind !== "object" && target.kind !== "interface"))
    return {
      message: `${where} is of type ${baseName(field.type)}, but reverse predicate in @dgraph directive only applies to fields with object types.`,
      at: field.at,
    };
  if (field.type.kind !== "list")
    return {
      message: `${where}: with a dgraph directive that starts with ~ should be of type list.`,
      at,
    };
  const predicate = predicateOf(draft, type, field).name;
  const forward = target.fields.find((each) => {
    const own = predicateOf(draft, target, each);
    return own.name === predicate && !own.isReverse;
  });
  if (forward === undefined)
    return {
      message: `${where}: pred argument: ~${predicate} is not supported as forward edge doesn't exist for type ${target.name}.`,
      at,
    };
  return checkForward(type, target, forward);
}

function checkForward(
  type: DraftType,
  target: DraftType,
  forward: DraftField,
): SchemaProblem | undefined {
  const mapping = findDirective(forward, "dgraph");
  const at = mapping === undefined ? forward.at : directiveAt(mapping);
  const where = `Type ${target.name}; Field ${forward.name}:`;
  const possible = [type.name, ...type.interfaces];
  if (!possible.includes(baseName(forward.type))) {
    const names =
      possible.length === 1
        ? `of type ${type.name}`
        : `any of types ${possible.slice(0, -1).join(", ")} or ${possible.at(-1) ?? ""}`;
    return {
      message: `${where} should be ${names} to be compatible with @dgraph reverse directive but is of type ${baseName(forward.type)}.`,
      at,
    };
  }
  if (!hasDirective(forward, "hasInverse")) return undefined;
  return {
    message: `${where} @hasInverse directive is not allowed because field is forward edge of another field with reverse directive.`,
    at,
  };
}

function checkLanguages(
  type: DraftType,
  field: DraftField,
  written: string,
): SchemaProblem | undefined {
  const where = `Type ${type.name}; Field ${field.name}:`;
  if (baseName(field.type) !== "String")
    return {
      message: `${where} Expected type \`String\` for language tag field but got \`${baseName(field.type)}\``,
      at: field.at,
    };
  const id = findDirective(field, "id");
  if (id !== undefined)
    return {
      message: `${where} @id directive not supported on language tag fields`,
      at: directiveAt(id),
    };
  const search = findDirective(field, "search");
  if (search !== undefined && hasManyLanguages(field))
    return {
      message: `${where} @search directive not applicable on language tag field with multiple languages`,
      at: directiveAt(search),
    };
  const directive = findDirective(field, "dgraph");
  const at = directive === undefined ? field.at : directiveAt(directive);
  const parts = written.split("@");
  if (parts[1] === "*")
    return { message: `${where} \`*\` language tag not supported in GraphQL`, at };
  if (parts[1] === "") return { message: `${where} empty language tag not supported`, at };
  if (parts.length > 2) return { message: `${where} multiple language tag not supported`, at };
  return undefined;
}
