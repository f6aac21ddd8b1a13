/** `@dgraph`: names in the graph for types and fields (reference/graphql 2.4). */
import {
  baseName,
  directiveAt,
  type SchemaDraft,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "../sdl-draft.ts";
import type { SdlPosition } from "../sdl-position.ts";
import { hasManyLanguages, predicateOf, splitPredicate } from "../graph-names.ts";
import { isReservedSdlName } from "../sdl-names.ts";
import {
  onNodeTypes,
  readText,
  refuseField,
  refuseType,
  type DirectiveSpec,
  type TextArgument,
} from "./directive.ts";
import type { Given } from "./given.ts";

interface Dgraph extends Given {
  /** The name of a type in the graph. */
  readonly type: TextArgument;
  /** The name of a field's predicate, with `~` and languages. */
  readonly pred: TextArgument;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly dgraph?: Dgraph | undefined;
  }
}

export const dgraph: DirectiveSpec<Dgraph> = {
  declaration:
    "directive @dgraph(type: String, pred: String) on OBJECT | INTERFACE | FIELD_DEFINITION",
  onTypes: onNodeTypes,
  read: (node) => ({
    at: directiveAt(node),
    type: readText(node, "type"),
    pred: readText(node, "pred"),
  }),
  checkField: checkPredicate,
  checkType(_draft, type, given) {
    if (given === undefined) return undefined;
    const { text: written, isString } = given.type;
    const refuse = (text: string): SchemaProblem => refuseType(type, text, given.at);
    if (written === "") return refuse("type argument for @dgraph directive should not be empty.");
    if (!isString) return refuse("type argument for @dgraph directive should of type String.");
    if (isReservedSdlName(written))
      return refuse(`type argument '${written}' for @dgraph directive is a reserved keyword.`);
    return undefined;
  },
};

function checkPredicate(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
  { at, pred: { text: written, isString } }: Dgraph,
): SchemaProblem | undefined {
  const refuse = (text: string): SchemaProblem => refuseField(type, field, text, at);
  if (baseName(field.type) === "ID")
    return refuse(
      "has the @dgraph directive but fields of type ID can't have the @dgraph directive.",
    );
  if (written === "") return refuse("pred argument for @dgraph directive should not be empty.");
  if (!isString) return refuse("pred argument for @dgraph directive should be of type String.");
  if (isReservedSdlName(written))
    return refuse(`pred argument '${written}' for @dgraph directive is a reserved keyword.`);
  if (splitPredicate(written).isReverse) return checkReverse(draft, type, field, at);
  return written.includes("@") ? checkLanguages(type, field, written, at) : undefined;
}

/** `~p`: a list of objects, whose type has the forward edge, leading to this type. Interfaces are left unchecked. */
function checkReverse(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
  at: SdlPosition,
): SchemaProblem | undefined {
  if (type.kind === "interface") return undefined;
  const where = `Type ${type.name}; Field ${field.name}`;
  if (field.directives.hasInverse !== undefined)
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
  const at = forward.directives.dgraph?.at ?? forward.at;
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
  if (forward.directives.hasInverse === undefined) return undefined;
  return {
    message: `${where} @hasInverse directive is not allowed because field is forward edge of another field with reverse directive.`,
    at,
  };
}

function checkLanguages(
  type: DraftType,
  field: DraftField,
  written: string,
  at: SdlPosition,
): SchemaProblem | undefined {
  const where = `Type ${type.name}; Field ${field.name}:`;
  if (baseName(field.type) !== "String")
    return {
      message: `${where} Expected type \`String\` for language tag field but got \`${baseName(field.type)}\``,
      at: field.at,
    };
  const { id, search } = field.directives;
  if (id !== undefined)
    return { message: `${where} @id directive not supported on language tag fields`, at: id.at };
  if (search !== undefined && hasManyLanguages(field))
    return {
      message: `${where} @search directive not applicable on language tag field with multiple languages`,
      at: search.at,
    };
  const parts = written.split("@");
  if (parts[1] === "*")
    return { message: `${where} \`*\` language tag not supported in GraphQL`, at };
  if (parts[1] === "") return { message: `${where} empty language tag not supported`, at };
  if (parts.length > 2) return { message: `${where} multiple language tag not supported`, at };
  return undefined;
}
