/** Types of GraphQL as types of TypeScript. */
import type {
  FieldDefinition,
  NamedType,
  RootFieldKind,
  TypeRef,
} from "../graphql/schema/compiled-schema.ts";

export interface TypeOptions {
  /** How the server answers an Int64: as `--graphql int64=text` says. */
  readonly int64: "number" | "string";
}

/** The values of a scalar in answers, and in variables. */
export function scalarTexts(
  name: string,
  { int64 }: TypeOptions,
): { readonly output: string; readonly input: string; readonly result: string } {
  switch (name) {
    case "Int":
    case "Float":
      return { output: "number", input: "number", result: "number" };
    case "Int64":
      return { output: int64, input: "number | string", result: "number | string" };
    case "Boolean":
      return { output: "boolean", input: "boolean", result: "boolean" };
    // A Date is one.
    case "DateTime": {
      const date = "string | { toJSON(): string }";
      return { output: "string", input: date, result: `${date} | number` };
    }
    case "ID":
    case "String":
      return { output: "string", input: "string", result: "string" };
    default:
      return { output: "unknown", input: "unknown", result: "unknown" };
  }
}

/** `readonly (Task | null)[] | null`. `name` gives the type of a named one. */
export function refText(ref: TypeRef, name: (type: NamedType) => string): string {
  const text =
    ref.kind === "list" ? `readonly ${grouped(refText(ref.element, name))}[]` : name(ref.type);
  return ref.nonNull ? text : `${text} | null`;
}

function grouped(text: string): string {
  return text.includes(" ") ? `(${text})` : text;
}

const listRoots: ReadonlySet<RootFieldKind> = new Set([
  "query",
  "similarById",
  "similarByEmbedding",
]);
const changes: ReadonlySet<RootFieldKind> = new Set(["add", "update", "delete"]);

/**
 * The type of a field as it is answered where nothing went wrong, in SDL. Lists of stored data are there and have no
 * nulls in them, whatever the schema says: it leaves room for errors.
 */
export function answeredRef(field: FieldDefinition, kind: RootFieldKind | undefined): string {
  const { type, source } = field;
  const base = type.kind === "list" ? type.element.text.replace(/!$/, "") : "";
  const isStored = source.kind === "edge" || source.kind === "value";
  const isNodes = source.kind === "payload" && source.part === "nodes";
  if (
    type.kind === "list" &&
    (isStored || isNodes || (kind !== undefined && listRoots.has(kind)))
  ) {
    return `[${base}!]!`;
  }
  const isCount = source.kind === "payload" && source.part === "numUids";
  if (isCount || (kind !== undefined && changes.has(kind)))
    return `${type.text.replace(/!$/, "")}!`;
  return type.text;
}

/** A name as a member of an object type. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A description, above what it describes. */
export function comment(text: string | undefined, indent: string): string {
  if (text === undefined || text.trim() === "") return "";
  const lines = text.trim().replaceAll("*/", "*\\/").split(/\r?\n/);
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ""} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line.trim()}\n`).join("")}${indent} */\n`;
}
