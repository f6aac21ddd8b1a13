/** Names that mean something in every SDL. */
import type { DraftField } from "./sdl-draft.ts";

/** GraphQL names that are not the user's to define, and what they are stored as where they are scalars. */
export const builtinScalars: ReadonlySet<string> = new Set([
  "ID",
  "Boolean",
  "Int",
  "Int64",
  "Float",
  "String",
  "DateTime",
]);

export const geoTypes: ReadonlySet<string> = new Set(["Point", "Polygon", "MultiPolygon"]);

/** The name `Password` is reserved like a scalar's, as the geo types' are. */
function isBuiltinName(name: string): boolean {
  return builtinScalars.has(name) || geoTypes.has(name) || name === "Password";
}

export function isRootName(name: string): boolean {
  return name === "Query" || name === "Mutation";
}

/** For types, fields and the names given by `@dgraph` alike (reference/graphql 1.3). */
export function isReservedSdlName(name: string): boolean {
  return (
    isBuiltinName(name) ||
    isRootName(name) ||
    name === "uid" ||
    name === "Subscription" ||
    name.toLowerCase() === "as"
  );
}

/** Whether a field's value comes from elsewhere than the store. */
export function isCustomField({ directives }: Pick<DraftField, "directives">): boolean {
  return directives.custom !== undefined || directives.lambda !== undefined;
}
