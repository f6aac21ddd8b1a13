/** Types as the compiled schema has them, before their fields and members are known. */
import type {
  EnumType,
  InputObjectType,
  InterfaceType,
  NamedType,
  ObjectType,
  ScalarName,
  UnionType,
} from "./compiled-schema.ts";
import type { DraftType } from "./sdl-draft.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Types while they are being filled. */
export type OpenType =
  | Mutable<ObjectType>
  | Mutable<InterfaceType>
  | Mutable<UnionType>
  | Mutable<EnumType>
  | Mutable<InputObjectType>
  | Extract<NamedType, { kind: "scalar" }>;

/** What an Int64 is in answers: many readers of JSON lose digits of numbers beyond 2^53. */
export type Int64Form = "number" | "text";

export function makeShell(
  draft: DraftType,
  printed: DraftType["written"],
  int64: Int64Form,
): OpenType {
  const { name, description, origin } = draft;
  switch (draft.kind) {
    case "scalar":
      return {
        kind: "scalar",
        name: name as ScalarName,
        description,
        origin,
        ...(int64 === "text" && name === "Int64" && { isText: true }),
      };
    case "enum":
      return { kind: "enum", name, description, origin, printed, values: new Map(), of: undefined };
    case "object":
      return {
        kind: "object",
        name,
        description,
        origin,
        role: objectRole(draft),
        printed,
        interfaces: [],
        fields: new Map(),
        node: undefined,
      };
    case "interface":
      return {
        kind: "interface",
        name,
        description,
        origin,
        role: draft.directives.remote !== undefined ? "remote" : "node",
        printed,
        fields: new Map(),
        implementors: [],
        node: undefined,
      };
    case "union":
      return {
        kind: "union",
        name,
        description,
        origin,
        printed,
        members: [],
        refInput: undefined,
        filterInput: undefined,
        isRemote: draft.directives.remote !== undefined,
      };
    case "input":
      return {
        kind: "input",
        name,
        description,
        origin,
        role: draft.inputRole ?? inputRole(draft),
        printed,
        fields: new Map(),
        of: undefined,
      };
  }
}

function objectRole(draft: DraftType): ObjectType["role"] {
  if (draft.objectRole !== undefined) return draft.objectRole;
  if (draft.origin === "user") return draft.directives.remote !== undefined ? "remote" : "node";
  if (draft.origin === "specified") return "introspection";
  return draft.name === "_Service" ? "service" : "geo";
}

/** The prelude's inputs: filters of values and the parts of geometry. */
function inputRole(draft: DraftType): InputObjectType["role"] {
  if (draft.origin !== "prelude") return "plain";
  if (
    /^(?:Near|Within|Contains|Intersects)Filter$|^(?:Point|PointList|Polygon|MultiPolygon)Ref$/.test(
      draft.name,
    )
  )
    return "geo";
  return draft.name.endsWith("Filter") ? "search" : "plain";
}
