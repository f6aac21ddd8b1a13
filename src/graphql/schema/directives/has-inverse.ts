/** `@hasInverse`: two fields that are the sides of one edge (reference/graphql 2.3). */
import { Kind } from "graphql";
import {
  baseName,
  directiveAt,
  findDraftField,
  makeDirective,
  nowhere,
  printRef,
  type SchemaDraft,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "../sdl-draft.ts";
import type { SdlPosition } from "../sdl-position.ts";
import { findArgument, rawText, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface HasInverse extends Given {
  /** The other side's name; undefined where it is left out. */
  readonly field: string | undefined;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly hasInverse?: HasInverse | undefined;
  }
}

export const hasInverse: DirectiveSpec<HasInverse> = {
  declaration: "directive @hasInverse(field: String!) on FIELD_DEFINITION",
  onTypes: [],
  read(node) {
    const field = findArgument(node, "field");
    return { at: directiveAt(node), field: field && rawText(field) };
  },
  checkField: checkInverse,
};

/**
 * Checks one `@hasInverse` and, where the other side has none, gives it its own; copies of an interface's field in
 * implementing types too.
 */
function checkInverse(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
  { at, field: inverseName }: HasInverse,
): SchemaProblem | undefined {
  const refuse = (text: string, place: SdlPosition): SchemaProblem =>
    refuseField(type, field, text, place);
  const targetName = baseName(field.type);
  const target = draft.types.get(targetName);
  if (target === undefined || (target.kind !== "object" && target.kind !== "interface"))
    return refuse(
      `Field ${field.name} is of type ${targetName}, but @hasInverse directive only applies to fields with object types.`,
      field.at,
    );
  if (inverseName === undefined)
    return refuse("@hasInverse directive doesn't have field argument.", at);
  const inverse = findDraftField(target, inverseName);
  if (inverse === undefined)
    return refuse(`inverse field ${inverseName} doesn't exist for type ${targetName}.`, at);

  // The directive may have come with a field of an interface: then the interface is the other side's type.
  const owner = inverseOwner(draft, type, field);
  const problem = compareSides({ owner, field, target, inverse });
  if (problem !== undefined) return { message: problem, at };
  if (inverse.directives.hasInverse === undefined) addInverse(draft, target, inverse, field.name);
  return undefined;
}

function inverseOwner(draft: SchemaDraft, type: DraftType, field: DraftField): string {
  if (field.inheritedFrom === undefined) return type.name;
  const parent = draft.types.get(field.inheritedFrom);
  const original = parent === undefined ? undefined : findDraftField(parent, field.name);
  return original?.directives.hasInverse !== undefined ? field.inheritedFrom : type.name;
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
  const back = inverse.directives.hasInverse;
  if (back === undefined) return undefined;
  const backName = back.field ?? "";
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
    if (side.directives.hasInverse === undefined) {
      const own = makeDirective("hasInverse", "field", { kind: Kind.ENUM, value: back });
      side.written = [...side.written, own];
      side.directives = { ...side.directives, hasInverse: { at: nowhere, field: back } };
    }
}
