/** GraphQL names → names in the graph (reference/graphql 2.4, 3.6): node types, predicates, languages. */
import type { SchemaDraft, DraftField, DraftType } from "./sdl-draft.ts";

/** Where a field's values lie. */
interface PredicateName {
  /** Without `~`, language tags and angle brackets. */
  readonly name: string;
  readonly isReverse: boolean;
  /** [] for none; in order of preference otherwise. */
  readonly languages: readonly string[];
}

/** The `dgraph.type` of a type's nodes. */
export function nodeTypeName(type: DraftType): string {
  return type.directives.dgraph?.type.text || type.name;
}

/** `@dgraph(pred:)` as written; undefined without one. */
function writtenPredicate(field: DraftField): string | undefined {
  return field.directives.dgraph?.pred.text || undefined;
}

/** Fields copied from an interface share the interface's predicate. */
export function predicateOf(draft: SchemaDraft, type: DraftType, field: DraftField): PredicateName {
  const written = writtenPredicate(field);
  if (written !== undefined) return splitPredicate(written);
  const owner = field.inheritedFrom === undefined ? type : draft.types.get(field.inheritedFrom);
  return {
    name: `${nodeTypeName(owner ?? type)}.${field.name}`,
    isReverse: false,
    languages: [],
  };
}

/** `~p`, `<~p>`, `p@hi:en:.`, `<p>` → the parts. */
export function splitPredicate(written: string): PredicateName {
  const at = written.indexOf("@");
  const tags = at < 0 ? "" : written.slice(at + 1).replace(/>$/, "");
  const bare = (at < 0 ? written : written.slice(0, at)).replace(/^<|>$/g, "");
  const isReverse = bare.startsWith("~");
  return {
    name: (isReverse ? bare.slice(1) : bare).replace(/^<|>$/g, ""),
    isReverse,
    languages: tags === "" ? [] : tags.split(":"),
  };
}

/** `@secret(field:, pred:)` of a type; an implementing type shares its interface's predicate. */
export function secretOf(
  draft: SchemaDraft,
  type: DraftType,
): { readonly name: string; readonly predicate: string } | undefined {
  const { secret } = type.directives;
  if (secret === undefined) return undefined;
  const { field: name, pred: written } = secret;
  if (written !== "") return { name, predicate: splitPredicate(written).name };
  const parent = secretInterface(draft, type, name);
  return { name, predicate: `${nodeTypeName(parent ?? type)}.${name}` };
}

/** The interface that gives a type its secret. */
export function secretInterface(
  draft: SchemaDraft,
  type: DraftType,
  name: string,
): DraftType | undefined {
  for (const interfaceName of type.interfaces) {
    const parent = draft.types.get(interfaceName);
    if (parent === undefined) continue;
    if ((parent.directives.secret?.field ?? "") === name) return parent;
  }
  return undefined;
}

/** More than one language: read-only, and in no filter or order (reference/graphql 2.4). */
export function hasManyLanguages(field: DraftField): boolean {
  const written = writtenPredicate(field);
  return written !== undefined && splitPredicate(written).languages.length > 1;
}

/** Not in the inputs of mutations: several languages, and `.`, which names none. */
export function isReadOnlyLanguage(field: DraftField): boolean {
  const written = writtenPredicate(field);
  if (written === undefined) return false;
  const { languages } = splitPredicate(written);
  return languages.length > 1 || languages[0] === ".";
}

/** `~p`: changed through its forward edge alone. */
export function isReverseField(field: DraftField): boolean {
  const written = writtenPredicate(field);
  return written !== undefined && splitPredicate(written).isReverse;
}

/** The field named by `@key` of its type. */
export function isKeyField(type: DraftType, field: DraftField): boolean {
  return type.directives.key?.fields === field.name;
}

/**
 * `@external` fields of another service's type are stored only as its key, or where a field that leads to the type
 * `@provides` them.
 */
export function isForeign(draft: SchemaDraft, type: DraftType, field: DraftField): boolean {
  if (field.directives.external === undefined || isKeyField(type, field)) return false;
  return !(draft.provided.get(type.name)?.has(field.name) ?? false);
}
