/** The inputs of mutations: `AddTInput`, `TRef`, `TPatch`, `UpdateTInput`, `URef` (reference/graphql 3.4). */
import { Kind } from "graphql";
import { giveDirectives } from "./directives/table.ts";
import {
  listRef,
  makeDirective,
  makeField,
  makeType,
  namedRef,
  baseName,
  toNonNull,
  toNullable,
  withBase,
  type SchemaDraft,
  type DraftField,
  type DraftType,
} from "./sdl-draft.ts";
import {
  declaredFields,
  idFieldOf,
  isIdField,
  isReferable,
  lowerFirst,
  switchesOf,
  xidFieldsOf,
} from "./generate-parts.ts";
import { isCustomField } from "./sdl-names.ts";
import { isForeign, isReadOnlyLanguage, isReverseField, secretOf } from "./graph-names.ts";
import type { InputRole } from "./compiled-schema.ts";

export function addMutationInputs(draft: SchemaDraft, type: DraftType): void {
  const switches = switchesOf(type);
  addRefInput(draft, type);
  if (switches.update) {
    addPatchInput(draft, type);
    if (draft.types.has(`${type.name}Patch`)) addUpdateInput(draft, type);
  }
  if (type.kind === "object" && switches.add) addAddInput(draft, type);
}

export function addUnionRef(draft: SchemaDraft, union: DraftType): void {
  const fields = union.members.map((member) =>
    makeField(`${lowerFirst(member)}Ref`, namedRef(`${member}Ref`), {
      kind: "input",
      role: "member",
      target: member,
    }),
  );
  addInput(draft, union, { name: `${union.name}Ref`, role: "unionRef", fields });
}

interface NewInput {
  readonly name: string;
  readonly role: InputRole;
  readonly fields: DraftField[];
}

/** Adds an input of a type, unless it would be empty. */
export function addInput(
  draft: SchemaDraft,
  of: DraftType,
  { name, role, fields }: NewInput,
): void {
  if (fields.length === 0) return;
  const input = makeType("input", name, "generated");
  input.inputRole = role;
  input.of = of.name;
  input.fields = fields;
  draft.types.set(name, input);
}

/** An ID comes in only where another service gives it. */
function addAddInput(draft: SchemaDraft, type: DraftType): void {
  const fields = settableFields(draft, type);
  const id = type.directives.extends !== undefined ? idFieldOf(draft, type) : undefined;
  if (id !== undefined) fields.unshift(toInputField(draft, id));
  addInput(draft, type, { name: `Add${type.name}Input`, role: "add", fields });
}

/** Interfaces are referred to, never made: their ID and first `@id` alone. */
function addRefInput(draft: SchemaDraft, type: DraftType): void {
  const id = idFieldOf(draft, type);
  const xids = xidFieldsOf(draft, type);
  const isKnown = id !== undefined || xids.length > 0;
  if (type.kind === "interface" && !isKnown) return;
  const fields = id === undefined ? [] : [toInputField(draft, id)];
  if (type.kind === "object") fields.push(...settableFields(draft, type));
  else if (xids[0] !== undefined) fields.push(toInputField(draft, xids[0]));
  const isOnly = fields.length === 1 && isKnown;
  for (const field of fields) field.type = isOnly ? toNonNull(field.type) : toNullable(field.type);
  addInput(draft, type, { name: `${type.name}Ref`, role: "ref", fields });
}

function addPatchInput(draft: SchemaDraft, type: DraftType): void {
  const fields = settableFields(draft, type);
  for (const field of fields) field.type = toNullable(field.type);
  addInput(draft, type, { name: `${type.name}Patch`, role: "patch", fields });
}

function addUpdateInput(draft: SchemaDraft, type: DraftType): void {
  const plain = { kind: "input", role: "plain", target: undefined } as const;
  const fields = [
    makeField("filter", namedRef(`${type.name}Filter`, true), plain),
    makeField("set", namedRef(`${type.name}Patch`), plain),
    makeField("remove", namedRef(`${type.name}Patch`), plain),
  ];
  addInput(draft, type, { name: `Update${type.name}Input`, role: "update", fields });
}

/** All fields that a mutation can write, ID apart, the password last. */
function settableFields(draft: SchemaDraft, type: DraftType): DraftField[] {
  const fields: DraftField[] = [];
  for (const field of declaredFields(type))
    if (isSettable(draft, type, field)) fields.push(toInputField(draft, field));
  const password = toPasswordField(draft, type);
  if (password !== undefined) fields.push(password);
  return fields;
}

function isSettable(draft: SchemaDraft, type: DraftType, field: DraftField): boolean {
  if (isIdField(field) || isCustomField(field) || isForeign(draft, type, field)) return false;
  if (isReadOnlyLanguage(field) || isReverseField(field)) return false;
  return isAddressable(draft, field);
}

/** A field of an interface type that nothing tells apart can neither be made nor referred to. */
function isAddressable(draft: SchemaDraft, field: DraftField): boolean {
  const target = draft.types.get(baseName(field.type));
  return target?.kind !== "interface" || isReferable(draft, target);
}

/** Whether `has` makes sense for a type: it has a field of its own that is stored here. */
export function hasStoredFields(draft: SchemaDraft, type: DraftType): boolean {
  if (secretOf(draft, type) !== undefined) return true;
  return declaredFields(type).some(
    (field) =>
      !isIdField(field) &&
      !isCustomField(field) &&
      !isForeign(draft, type, field) &&
      !isReverseField(field) &&
      isAddressable(draft, field),
  );
}

/** Objects become references; a default for new nodes makes a field optional. */
function toInputField(draft: SchemaDraft, field: DraftField): DraftField {
  const name = baseName(field.type);
  const kind = draft.types.get(name)?.kind;
  const isObject = kind === "object" || kind === "interface" || kind === "union";
  const ref = isObject ? withBase(field.type, `${name}Ref`) : field.type;
  const added = field.directives.default?.add;
  return {
    ...makeField(field.name, added === undefined ? ref : toNullable(ref)),
    // References are not described: the description is the field's, not the reference's.
    description: isObject ? undefined : field.description,
    purpose: { kind: "input", role: "field", target: field.name },
  };
}

function toPasswordField(draft: SchemaDraft, type: DraftType): DraftField | undefined {
  const secret = secretOf(draft, type);
  if (secret === undefined) return undefined;
  const field = makeField(secret.name, namedRef("String", true), {
    kind: "input",
    role: "secret",
    target: undefined,
  });
  const pred = type.directives.secret?.pred ?? "";
  if (pred !== "")
    giveDirectives(field, [makeDirective("dgraph", "pred", { kind: Kind.STRING, value: pred })]);
  return field;
}

/**
 * Inputs without fields go, with the fields that use them, and so on; an update without a patch goes too
 * (reference/graphql 3.2).
 */
export function removeEmptyInputs(draft: SchemaDraft): void {
  const roles: readonly (InputRole | undefined)[] = ["add", "ref", "patch", "update", "unionRef"];
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const [name, type] of draft.types) {
      if (type.origin !== "generated" || !roles.includes(type.inputRole)) continue;
      const left = type.fields.filter((field) => draft.types.has(baseName(field.type)));
      const isUseless = left.length === 0 || (type.inputRole === "update" && left.length === 1);
      if (!isUseless && left.length === type.fields.length) continue;
      isChanged = true;
      if (isUseless) draft.types.delete(name);
      else type.fields = left;
    }
  }
}

/** `[AddTInput!]!` */
export function addListRef(type: DraftType): ReturnType<typeof listRef> {
  return listRef(namedRef(`Add${type.name}Input`, true), true);
}
