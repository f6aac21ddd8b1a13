/**
 * Validation by the rules of GraphQL (reference/graphql 1.5 step 5): names, references, kinds, directives. The first
 * problem in the order of the SDL is the answer.
 */
import type { ConstDirectiveNode } from "graphql";
import {
  baseName,
  directiveAt,
  findDraftField,
  kindTexts,
  printRef,
  type SchemaDraft,
  type DraftArgument,
  type DraftField,
  type DraftRef,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";
import type { SdlPosition } from "./sdl-position.ts";

type Found = SchemaProblem | undefined;

export function checkSdl(draft: SchemaDraft): Found {
  const seen = new Set<string>();
  for (const type of draft.user) {
    if (seen.has(type.name)) return { message: `Cannot redeclare type ${type.name}.`, at: type.at };
    seen.add(type.name);
  }
  for (const type of draft.user) {
    const problem = checkType(draft, type);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** For each item the check's answer, until one finds something. */
function first<T>(items: readonly T[], check: (item: T, index: number) => Found): Found {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkType(draft: SchemaDraft, type: DraftType): Found {
  return (
    first(type.fields, (field) => checkField(draft, field)) ??
    first(type.members, (member) => checkMember(draft, type, member)) ??
    first(type.interfaces, (name) => checkImplements(draft, type, name)) ??
    checkContent(draft, type) ??
    first(type.fields, (field, index) =>
      type.fields.findIndex((other) => other.name === field.name) === index
        ? undefined
        : { message: `Field ${type.name}.${field.name} can only be defined once.`, at: field.at },
    ) ??
    checkName(type.name, type.at) ??
    checkDirectives(draft, type.written, kindTexts[type.kind])
  );
}

function checkName(name: string, at: SdlPosition): Found {
  if (!name.startsWith("__")) return undefined;
  return {
    message: `Name "${name}" must not begin with "__", which is reserved by GraphQL introspection.`,
    at,
  };
}

function checkField(draft: SchemaDraft, field: DraftField): Found {
  return (
    checkName(field.name, field.at) ??
    checkRef(draft, field.type, field.typeAt) ??
    first(field.arguments, (argument) => checkArgument(draft, argument)) ??
    checkDirectives(draft, field.written, "FIELD_DEFINITION")
  );
}

function checkRef(draft: SchemaDraft, ref: DraftRef, at: SdlPosition): Found {
  const name = baseName(ref);
  return draft.types.has(name) ? undefined : { message: `Undefined type ${name}.`, at };
}

function checkArgument(draft: SchemaDraft, argument: DraftArgument): Found {
  const problem =
    checkName(argument.name, argument.at) ?? checkRef(draft, argument.type, argument.typeAt);
  if (problem !== undefined) return problem;
  const kind = draft.types.get(baseName(argument.type))?.kind;
  if (kind === "scalar" || kind === "enum" || kind === "input" || kind === undefined)
    return checkDirectives(draft, argument.written, "ARGUMENT_DEFINITION");
  return {
    message:
      `cannot use ${printRef(argument.type)} as argument ${argument.name} because ` +
      `${kindTexts[kind]} is not a valid input type`,
    at: argument.at,
  };
}

function checkMember(draft: SchemaDraft, union: DraftType, name: string): Found {
  const member = draft.types.get(name);
  if (member === undefined) return { message: `Undefined type "${name}".`, at: union.at };
  if (member.kind === "object") return undefined;
  return { message: `UNION type "${name}" must be OBJECT.`, at: union.at };
}

function checkImplements(draft: SchemaDraft, type: DraftType, name: string): Found {
  const parent = draft.types.get(name);
  if (parent === undefined) return { message: `Undefined type "${name}".`, at: type.at };
  if (parent.kind !== "interface")
    return {
      message: `"${name}" is a non interface type ${kindTexts[parent.kind]}.`,
      at: type.at,
    };
  return first(parent.fields, (field) =>
    findDraftField(type, field.name) !== undefined
      ? undefined
      : {
          message: `For ${type.name} to implement ${name} it must have a field called ${field.name}.`,
          at: type.at,
        },
  );
}

function checkContent(draft: SchemaDraft, type: DraftType): Found {
  const kind = kindTexts[type.kind];
  switch (type.kind) {
    case "object":
    case "interface":
      if (type.fields.length === 0)
        return { message: `${kind} ${type.name}: must define one or more fields.`, at: type.at };
      return first(type.fields, (field) =>
        draft.types.get(baseName(field.type))?.kind === "input"
          ? {
              message: `${kind} ${type.name}: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM.`,
              at: field.at,
            }
          : undefined,
      );
    case "enum": {
      const seen = new Set<string>();
      if (type.values.length === 0)
        return {
          message: `${kind} ${type.name}: must define one or more unique enum values.`,
          at: type.at,
        };
      return first(type.values, (value) =>
        seen.size < seen.add(value.name).size
          ? checkName(value.name, value.at)
          : {
              message: `Enum value ${type.name}.${value.name} can only be defined once.`,
              at: value.at,
            },
      );
    }
    case "input":
      if (type.fields.length === 0)
        return {
          message: `${kind} ${type.name}: must define one or more input fields.`,
          at: type.at,
        };
      return first(type.fields, (field) => {
        const target = draft.types.get(baseName(field.type))?.kind;
        if (target === "scalar" || target === "enum" || target === "input") return undefined;
        return {
          message: `${target === undefined ? kind : kindTexts[target]} ${field.name}: field must be one of SCALAR, ENUM, INPUT_OBJECT.`,
          at: field.at,
        };
      });
    default:
      return undefined;
  }
}

function checkDirectives(
  draft: SchemaDraft,
  written: readonly ConstDirectiveNode[],
  location: string,
): Found {
  return first(written, (directive) => {
    const name = directive.name.value;
    const at = directiveAt(directive);
    const definition = draft.directives.get(name);
    if (definition === undefined) return { message: `Undefined directive ${name}.`, at };
    if (!definition.locations.includes(location))
      return { message: `Directive ${name} is not applicable on ${location}.`, at };
    return first(directive.arguments ?? [], (argument) =>
      definition.arguments.some((each) => each.name === argument.name.value)
        ? undefined
        : {
            message: `${argument.name.value} is not supported as an argument for ${name} directive.`,
            at,
          },
    );
  });
}
