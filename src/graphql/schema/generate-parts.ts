/** What generation asks of types and fields (reference/graphql 3.2, 3.4). */
import { baseName, type SchemaDraft, type DraftField, type DraftType } from "./sdl-draft.ts";
import { geoTypes, isCustomField, isRootName } from "./sdl-names.ts";
import { hasManyLanguages, isForeign } from "./graph-names.ts";

/** The types for which an API is generated: object types and interfaces that hold data. */
export function isNodeDraft(type: DraftType): boolean {
  if (type.kind !== "object" && type.kind !== "interface") return false;
  return type.origin === "user" && !isRootName(type.name) && type.directives.remote === undefined;
}

/** The fields that the user declared or an interface gave, without what generation adds. */
export function declaredFields(type: DraftType): DraftField[] {
  return type.fields.filter((field) => field.purpose === undefined);
}

export function isIdField(field: DraftField): boolean {
  return baseName(field.type) === "ID";
}

export function idFieldOf(draft: SchemaDraft, type: DraftType): DraftField | undefined {
  return declaredFields(type).find((field) => isIdField(field) && !isForeign(draft, type, field));
}

export function xidFieldsOf(draft: SchemaDraft, type: DraftType): DraftField[] {
  return declaredFields(type).filter(
    (field) => field.directives.id !== undefined && !isForeign(draft, type, field),
  );
}

/** Whether a node of it can be told by an ID or `@id`. */
export function isReferable(draft: SchemaDraft, type: DraftType): boolean {
  return idFieldOf(draft, type) !== undefined || xidFieldsOf(draft, type).length > 0;
}

/** Object, interface or union types whose instances are nodes; not the geo types, nor enums and scalars. */
export function isEdgeField(draft: SchemaDraft, field: DraftField): boolean {
  const name = baseName(field.type);
  const kind = draft.types.get(name)?.kind;
  if (kind !== "object" && kind !== "interface" && kind !== "union") return false;
  return !geoTypes.has(name);
}

const orderableTypes: ReadonlySet<string> = new Set([
  "Int",
  "Int64",
  "Float",
  "String",
  "DateTime",
]);
const summableTypes: ReadonlySet<string> = new Set(["Int", "Int64", "Float"]);

/**
 * Single-valued, of an ordered type, stored, in at most one language. Of another service's type, the key (an ID too,
 * which is then a stored string) and what is provided.
 */
export function isOrderableField(draft: SchemaDraft, type: DraftType, field: DraftField): boolean {
  if (field.purpose !== undefined || field.type.kind !== "named") return false;
  if (field.directives.external !== undefined) return !isForeign(draft, type, field);
  if (!orderableTypes.has(field.type.name) || isCustomField(field)) return false;
  return !hasManyLanguages(field);
}

export function isSummable(draft: SchemaDraft, type: DraftType, field: DraftField): boolean {
  if (field.purpose !== undefined || field.type.kind !== "named") return false;
  if (!summableTypes.has(field.type.name) || isCustomField(field)) return false;
  return !isForeign(draft, type, field);
}

export function hasOrderables(draft: SchemaDraft, type: DraftType): boolean {
  return type.fields.some((field) => isOrderableField(draft, type, field));
}

/** `@generate` and `@withSubscription`, completed with their defaults (reference/graphql 2.8). */
interface GenerateSwitches {
  readonly get: boolean;
  readonly query: boolean;
  readonly password: boolean;
  readonly aggregate: boolean;
  readonly add: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly subscription: boolean;
}

export function switchesOf(type: DraftType): GenerateSwitches {
  const { generate, withSubscription } = type.directives;
  const read = (part: "query" | "mutation", name: string): boolean =>
    generate?.[part]?.switches?.[name]?.isOn ?? true;
  return {
    get: read("query", "get"),
    query: read("query", "query"),
    password: read("query", "password"),
    aggregate: read("query", "aggregate"),
    add: read("mutation", "add"),
    update: read("mutation", "update"),
    delete: read("mutation", "delete"),
    subscription: withSubscription !== undefined || generate?.subscription?.isOn === true,
  };
}

/** The name with its first letter in lower case: `URLInfo` → `uRLInfo`. */
export function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}
