/**
 * Expansion (reference/graphql 1.4, 1.5 step 4): fields of interfaces are copied into the types that implement them.
 */
import { giveDirectives } from "./directives/table.ts";
import {
  findDraftField,
  printRef,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";

/** Fields that types may have from their interfaces, all together: a thousand times a thousand is in 40 KB of SDL. */
const inheritedMax = 30_000;

/** Changes the types in place; returns the first problem, if any. */
export function expandInterfaces(types: readonly DraftType[]): SchemaProblem | undefined {
  const interfaces = new Map<string, DraftType>();
  for (const type of types) if (type.kind === "interface") interfaces.set(type.name, type);
  let inherited = 0;
  for (const type of types) {
    if (type.kind !== "object" || type.interfaces.length === 0) continue;
    for (const name of type.interfaces) inherited += interfaces.get(name)?.fields.length ?? 0;
    if (inherited > inheritedMax) {
      const message = `The types have more than ${inheritedMax} fields from their interfaces, all together.`;
      return { message, at: type.at };
    }
    const problem = expandType(type, interfaces);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Each interface's fields go before what the type has so far: with `implements A & B`, B's come first. A field that
 * the type repeats stays in its place and takes the interface's definition. An ID is shared; any other field that
 * two interfaces have is there twice, which the check of the SDL refuses.
 */
function expandType(
  type: DraftType,
  interfaces: ReadonlyMap<string, DraftType>,
): SchemaProblem | undefined {
  const own = new Map<string, DraftField | "several">();
  for (const field of type.fields) {
    own.set(field.name, own.has(field.name) ? "several" : field);
  }
  const seen = new Map<string, string>();
  for (const name of type.interfaces) {
    const parent = interfaces.get(name);
    if (parent === undefined) continue;
    const copies: DraftField[] = [];
    for (const field of parent.fields) {
      const problem = copyField({ type, parent, own, seen }, field, copies);
      if (problem !== undefined) return problem;
      seen.set(field.name, parent.name);
    }
    type.fields = [...copies, ...type.fields];
    const secret = parent.written.find((node) => node.name.value === "secret");
    if (secret !== undefined) giveDirectives(type, [...type.written, secret]);
  }
  return undefined;
}

interface Copying {
  readonly type: DraftType;
  readonly parent: DraftType;
  /** By name. */
  readonly own: ReadonlyMap<string, DraftField | "several">;
  /** Field → the interface that it was seen in. */
  readonly seen: ReadonlyMap<string, string>;
}

function copyField(
  { type, parent, own, seen }: Copying,
  field: DraftField,
  copies: DraftField[],
): SchemaProblem | undefined {
  const isId = field.type.kind === "named" && field.type.name === "ID";
  const earlier = seen.get(field.name);
  const repeated = own.get(field.name);
  const fieldType = printRef(field.type);
  if (repeated !== undefined && repeated !== "several") {
    if (printRef(repeated.type) !== fieldType)
      return {
        message: `For type ${type.name} to implement interface ${parent.name} the field ${field.name} must have type ${fieldType}`,
        at: type.at,
      };
    if (earlier === undefined)
      replaceField(type, { ...makeCopy(field, parent.name), description: field.description });
    else if (!isId) copies.push(makeCopy(field, parent.name));
  } else if (isId && earlier !== undefined) {
    const first = findDraftField(type, field.name);
    if (first !== undefined && printRef(first.type) !== fieldType)
      return {
        message:
          `field ${field.name} is of type ${fieldType} in interface ${parent.name} and is of type ` +
          `${printRef(first.type)} in interface ${earlier}`,
        at: type.at,
      };
  } else {
    copies.push(makeCopy(field, parent.name));
  }
  return undefined;
}

function replaceField(type: DraftType, copy: DraftField): void {
  type.fields = type.fields.map((field) => (field.name === copy.name ? copy : field));
}

/** The description stays with the interface, as in the reference; a repeated field shows it. */
function makeCopy(field: DraftField, inheritedFrom: string): DraftField {
  return {
    ...field,
    description: undefined,
    arguments: [...field.arguments],
    inheritedFrom,
  };
}
