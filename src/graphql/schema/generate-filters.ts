/** `TFilter`, `THasFilter`, `TOrder`, `UFilter` and the filters of single fields (reference/graphql 3.4, 3.5). */
import {
  baseName,
  listRef,
  makeField,
  makeType,
  makeValue,
  namedRef,
  withBase,
  type SchemaDraft,
  type DraftField,
  type DraftPurpose,
  type DraftType,
} from "./sdl-draft.ts";
import { addInput, hasStoredFields } from "./generate-inputs.ts";
import { declaredFields, isIdField, isOrderableField, lowerFirst } from "./generate-parts.ts";
import { isCustomField } from "./sdl-names.ts";
import { hasManyLanguages, isForeign } from "./graph-names.ts";
import { filterOf, searchName, searchesOf } from "./directives/search.ts";

const plain: DraftPurpose = { kind: "input", role: "plain", target: undefined };

/** The types that a `THasFilter` names: everything stored but the ID, vector distance included. */
export function addHasFilter(draft: SchemaDraft, type: DraftType): void {
  const values = type.fields.filter(
    (field) =>
      field.purpose?.kind !== "edgeAggregate" &&
      !isIdField(field) &&
      !isCustomField(field) &&
      !hasManyLanguages(field) &&
      !isForeign(draft, type, field),
  );
  addEnum(draft, type, `${type.name}HasFilter`, values);
}

/** Adds an enum of a type's fields, unless it would be empty. */
export function addEnum(
  draft: SchemaDraft,
  type: DraftType,
  name: string,
  fields: readonly DraftField[],
): void {
  if (fields.length === 0) return;
  const values = makeType("enum", name, "generated");
  values.of = type.name;
  values.values = fields.map((field) => makeValue(field.name, field.name));
  draft.types.set(name, values);
}

export function addOrder(draft: SchemaDraft, type: DraftType): void {
  const fields = type.fields.filter((field) => isOrderableField(draft, type, field));
  if (fields.length === 0) return;
  const orderable = `${type.name}Orderable`;
  const name = `${type.name}Order`;
  addEnum(draft, type, orderable, fields);
  const order = [
    makeField("asc", namedRef(orderable), plain),
    makeField("desc", namedRef(orderable), plain),
    makeField("then", namedRef(name), plain),
  ];
  addInput(draft, type, { name, role: "order", fields: order });
}

/** Needs `THasFilter` to be there. */
export function addFilter(draft: SchemaDraft, type: DraftType): void {
  const name = `${type.name}Filter`;
  const fields: DraftField[] = [];
  for (const field of declaredFields(type)) {
    if (isForeign(draft, type, field)) continue;
    const ref = isIdField(field) ? "ID" : fieldFilter(draft, field);
    if (ref === undefined) continue;
    const purpose: DraftPurpose = { kind: "input", role: "field", target: field.name };
    const filterRef = isIdField(field) ? listRef(namedRef("ID", true)) : namedRef(ref);
    fields.push(makeField(field.name, filterRef, purpose));
  }
  const input = (role: "has" | "and" | "or" | "not"): DraftPurpose => ({
    kind: "input",
    role,
    target: undefined,
  });
  const hasName = `${type.name}HasFilter`;
  if (draft.types.has(hasName) && hasStoredFields(draft, type))
    fields.push(makeField("has", listRef(namedRef(hasName)), input("has")));
  const isIdAlone = fields.length === 1 && baseName(fields[0]?.type ?? namedRef("")) === "ID";
  if (fields.length > 0 && !isIdAlone)
    fields.push(
      makeField("and", listRef(namedRef(name)), input("and")),
      makeField("or", listRef(namedRef(name)), input("or")),
    );
  fields.push(makeField("not", namedRef(name), input("not")));
  addInput(draft, type, { name, role: "filter", fields });
}

/**
 * The filter input of one field, made where it is not there yet: the names of its searches' filters joined, with all
 * their fields (each once); undefined where it cannot be filtered.
 */
function fieldFilter(draft: SchemaDraft, field: DraftField): string | undefined {
  const typeName = baseName(field.type);
  const isEnum = draft.types.get(typeName)?.kind === "enum";
  const names: string[] = [];
  for (const search of searchesOf(field)) {
    const filter = filterOf(search);
    if (filter === undefined) continue;
    const kind = searchName(search);
    names.push(
      isEnum && (kind === "hash" || kind === "exact") ? enumFilter(draft, typeName, kind) : filter,
    );
  }
  if (names.length === 0) return undefined;
  const merged = names.join("_");
  if (names.length === 1 || draft.types.has(merged)) return merged;
  const fields = new Map<string, DraftField>();
  for (const name of names)
    for (const each of draft.types.get(name)?.fields ?? [])
      if (!fields.has(each.name)) fields.set(each.name, each);
  addSearchInput(draft, merged, [...fields.values()]);
  return merged;
}

/** `E_hash`, `E_exact`: the string's filter over the enum. Its `between` takes one value, as in the reference. */
function enumFilter(draft: SchemaDraft, enumName: string, search: "hash" | "exact"): string {
  const name = `${enumName}_${search}`;
  if (draft.types.has(name)) return name;
  const model = draft.types.get(search === "hash" ? "StringHashFilter" : "StringExactFilter");
  const fields = (model?.fields ?? []).map((field) =>
    makeField(field.name, withBase(field.type, enumName), plain),
  );
  addSearchInput(draft, name, fields);
  return name;
}

function addSearchInput(draft: SchemaDraft, name: string, fields: DraftField[]): void {
  const input = makeType("input", name, "generated");
  input.inputRole = "search";
  input.fields = fields;
  draft.types.set(name, input);
}

export function addUnionFilter(draft: SchemaDraft, union: DraftType): void {
  const kinds = makeType("enum", `${union.name}Type`, "generated");
  kinds.values = union.members.map((member) => makeValue(member));
  draft.types.set(kinds.name, kinds);
  const fields = [
    makeField("memberTypes", listRef(namedRef(kinds.name, true)), {
      kind: "input",
      role: "memberTypes",
      target: undefined,
    }),
  ];
  for (const member of union.members)
    fields.push(
      makeField(`${lowerFirst(member)}Filter`, namedRef(`${member}Filter`), {
        kind: "input",
        role: "member",
        target: member,
      }),
    );
  addInput(draft, union, { name: `${union.name}Filter`, role: "unionFilter", fields });
}
