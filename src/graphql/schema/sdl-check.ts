/**
 * Validation by the rules of GraphQL (reference/graphql 1.5 step 5): names, references, kinds, directives. The first
 * problem in the order of the SDL is the answer of a server; `weft schema check` tells all.
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

type Problems = Iterable<SchemaProblem>;

/** The first problem, which is all that the reference tells; undefined where there is none. */
export function checkSdl(draft: SchemaDraft): SchemaProblem | undefined {
  for (const problem of findSdlProblems(draft)) return problem;
  return undefined;
}

/** All problems, in the order in which the first one is looked for. */
export function* findSdlProblems(draft: SchemaDraft): Problems {
  const seen = new Set<string>();
  for (const type of draft.user) {
    if (seen.has(type.name)) {
      yield { message: `Cannot redeclare type ${type.name}.`, at: type.at };
    }
    seen.add(type.name);
  }
  for (const type of draft.user) yield* findInType(draft, type);
}

function* findInType(draft: SchemaDraft, type: DraftType): Problems {
  for (const field of type.fields) yield* findInField(draft, field);
  for (const member of type.members) yield* findInMember(draft, type, member);
  for (const name of type.interfaces) yield* findInImplements(draft, type, name);
  yield* findInContent(draft, type);
  const names = new Set<string>();
  for (const field of type.fields) {
    if (names.has(field.name)) {
      const message = `Field ${type.name}.${field.name} can only be defined once.`;
      yield { message, at: field.at };
    }
    names.add(field.name);
  }
  yield* findInName(type.name, type.at);
  yield* findInDirectives(draft, type.written, kindTexts[type.kind]);
}

function* findInName(name: string, at: SdlPosition): Problems {
  if (!name.startsWith("__")) return;
  yield {
    message: `Name "${name}" must not begin with "__", which is reserved by GraphQL introspection.`,
    at,
  };
}

function* findInField(draft: SchemaDraft, field: DraftField): Problems {
  yield* findInName(field.name, field.at);
  yield* findInRef(draft, field.type, field.typeAt);
  for (const argument of field.arguments) yield* findInArgument(draft, argument);
  yield* findInDirectives(draft, field.written, "FIELD_DEFINITION");
}

function* findInRef(draft: SchemaDraft, ref: DraftRef, at: SdlPosition): Problems {
  const name = baseName(ref);
  if (!draft.types.has(name)) yield { message: `Undefined type ${name}.`, at };
}

function* findInArgument(draft: SchemaDraft, argument: DraftArgument): Problems {
  yield* findInName(argument.name, argument.at);
  yield* findInRef(draft, argument.type, argument.typeAt);
  const kind = draft.types.get(baseName(argument.type))?.kind;
  if (kind === "scalar" || kind === "enum" || kind === "input" || kind === undefined) {
    yield* findInDirectives(draft, argument.written, "ARGUMENT_DEFINITION");
    return;
  }
  yield {
    message:
      `cannot use ${printRef(argument.type)} as argument ${argument.name} because ` +
      `${kindTexts[kind]} is not a valid input type`,
    at: argument.at,
  };
}

function* findInMember(draft: SchemaDraft, union: DraftType, name: string): Problems {
  const member = draft.types.get(name);
  if (member === undefined) yield { message: `Undefined type "${name}".`, at: union.at };
  else if (member.kind !== "object") {
    yield { message: `UNION type "${name}" must be OBJECT.`, at: union.at };
  }
}

function* findInImplements(draft: SchemaDraft, type: DraftType, name: string): Problems {
  const parent = draft.types.get(name);
  if (parent === undefined) yield { message: `Undefined type "${name}".`, at: type.at };
  else if (parent.kind !== "interface") {
    yield { message: `"${name}" is a non interface type ${kindTexts[parent.kind]}.`, at: type.at };
  } else {
    for (const field of parent.fields) {
      if (findDraftField(type, field.name) !== undefined) continue;
      const message = `For ${type.name} to implement ${name} it must have a field called ${field.name}.`;
      yield { message, at: type.at };
    }
  }
}

function* findInContent(draft: SchemaDraft, type: DraftType): Problems {
  const kind = kindTexts[type.kind];
  const empty = emptyTexts[type.kind];
  if (empty !== undefined && type.fields.length === 0 && type.values.length === 0) {
    yield { message: `${kind} ${type.name}: ${empty}`, at: type.at };
  }
  if (type.kind === "object" || type.kind === "interface") {
    for (const field of type.fields) {
      if (draft.types.get(baseName(field.type))?.kind !== "input") continue;
      const allowed = "field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM.";
      yield { message: `${kind} ${type.name}: ${allowed}`, at: field.at };
    }
  }
  if (type.kind === "enum") yield* findInValues(type);
  if (type.kind === "input") yield* findInInputs(draft, type, kind);
}

const emptyTexts: Partial<Record<DraftType["kind"], string>> = {
  object: "must define one or more fields.",
  interface: "must define one or more fields.",
  enum: "must define one or more unique enum values.",
  input: "must define one or more input fields.",
};

function* findInValues(type: DraftType): Problems {
  const seen = new Set<string>();
  for (const value of type.values) {
    if (seen.has(value.name)) {
      const message = `Enum value ${type.name}.${value.name} can only be defined once.`;
      yield { message, at: value.at };
    } else yield* findInName(value.name, value.at);
    seen.add(value.name);
  }
}

function* findInInputs(draft: SchemaDraft, type: DraftType, kind: string): Problems {
  for (const field of type.fields) {
    const target = draft.types.get(baseName(field.type))?.kind;
    if (target === "scalar" || target === "enum" || target === "input") continue;
    const shown = target === undefined ? kind : kindTexts[target];
    const message = `${shown} ${field.name}: field must be one of SCALAR, ENUM, INPUT_OBJECT.`;
    yield { message, at: field.at };
  }
}

function* findInDirectives(
  draft: SchemaDraft,
  written: readonly ConstDirectiveNode[],
  location: string,
): Problems {
  for (const directive of written) {
    const name = directive.name.value;
    const at = directiveAt(directive);
    const definition = draft.directives.get(name);
    if (definition === undefined) {
      yield { message: `Undefined directive ${name}.`, at };
      continue;
    }
    if (!definition.locations.includes(location)) {
      yield { message: `Directive ${name} is not applicable on ${location}.`, at };
      continue;
    }
    for (const { name: argument } of directive.arguments ?? []) {
      if (definition.arguments.some((each) => each.name === argument.value)) continue;
      const message = `${argument.value} is not supported as an argument for ${name} directive.`;
      yield { message, at };
    }
  }
}
