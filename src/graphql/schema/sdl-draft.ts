/**
 * The working form of a schema between parsing and compiling: types by name, still open to change. Validation reads
 * it, expansion and generation add to it, `link.ts` turns it into the immutable CompiledSchema.
 */
import { Kind } from "graphql";
import type { ConstArgumentNode, ConstDirectiveNode, ConstValueNode, TypeNode } from "graphql";
import type {
  AggregateMemberSource,
  InputFieldRole,
  InputRole,
  ObjectRole,
  PayloadSource,
  RootFieldKind,
  TypeOrigin,
} from "./compiled-schema.ts";
import type { GivenDirectives } from "./directives/given.ts";
import type { SdlPosition } from "./sdl-position.ts";

/** What is wrong with an SDL. `at` is undefined where no single place is to blame. */
export interface SchemaProblem {
  readonly message: string;
  readonly at: SdlPosition | undefined;
}

export type DraftKind = "scalar" | "object" | "interface" | "union" | "enum" | "input";

/** As messages name it. */
export const kindTexts: Readonly<Record<DraftKind, string>> = {
  scalar: "SCALAR",
  object: "OBJECT",
  interface: "INTERFACE",
  union: "UNION",
  enum: "ENUM",
  input: "INPUT_OBJECT",
};

export interface DraftType {
  readonly kind: DraftKind;
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly at: SdlPosition;
  /** As written, in order. `giveDirectives` keeps it in step with what was read of it. */
  written: readonly ConstDirectiveNode[];
  directives: GivenDirectives;
  interfaces: string[];
  fields: DraftField[];
  members: string[];
  values: DraftValue[];
  /** Of generated objects and inputs: what they are for, and for which type. */
  objectRole: ObjectRole | undefined;
  inputRole: InputRole | undefined;
  of: string | undefined;
}

interface DraftValue {
  readonly name: string;
  readonly description: string | undefined;
  readonly at: SdlPosition;
  /** Of generated enums: the field of the type it names. */
  readonly field: string | undefined;
}

export interface DraftField {
  readonly name: string;
  readonly description: string | undefined;
  type: DraftRef;
  arguments: DraftArgument[];
  /** As `DraftType.written`. */
  written: readonly ConstDirectiveNode[];
  directives: GivenDirectives;
  readonly defaultValue: ConstValueNode | undefined;
  readonly at: SdlPosition;
  readonly typeAt: SdlPosition;
  /** The interface that it was copied from. */
  inheritedFrom: string | undefined;
  /** Of generated fields; undefined for the user's own. */
  purpose: DraftPurpose | undefined;
}

/** What a generated field is for; names are resolved when the schema is linked. */
export type DraftPurpose =
  | { readonly kind: "edgeAggregate"; readonly edge: string }
  | { readonly kind: "vectorDistance" }
  | {
      readonly kind: "aggregateMember";
      readonly function: AggregateMemberSource["function"];
      readonly field: string | undefined;
    }
  | { readonly kind: "payload"; readonly part: PayloadSource["part"] }
  | { readonly kind: "root"; readonly root: RootFieldKind; readonly of: string | undefined }
  | {
      readonly kind: "input";
      readonly role: InputFieldRole;
      /** role field: the field of the type; role member: the member's name. */
      readonly target: string | undefined;
    };

export interface DraftArgument {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: DraftRef;
  readonly defaultValue: ConstValueNode | undefined;
  readonly at: SdlPosition;
  readonly typeAt: SdlPosition;
  readonly written: readonly ConstDirectiveNode[];
  /** The field of the root field's type that it looks up. */
  readonly field: string | undefined;
}

/** A use of a type by name. */
export type DraftRef =
  | { readonly kind: "named"; readonly name: string; readonly nonNull: boolean }
  | { readonly kind: "list"; readonly element: DraftRef; readonly nonNull: boolean };

export interface DraftDirective {
  readonly name: string;
  readonly description: string | undefined;
  readonly locations: readonly string[];
  readonly arguments: readonly DraftArgument[];
  readonly origin: TypeOrigin;
}

/** The whole of it. `types` keeps the order of the SDL, with the built-in types after the user's. */
export interface SchemaDraft {
  readonly types: Map<string, DraftType>;
  readonly directives: Map<string, DraftDirective>;
  /** The user's definitions in order; `extend type` last. */
  readonly user: readonly DraftType[];
  /** Whether there is a lambda server: without one, `@lambda` is refused. */
  readonly hasLambda: boolean;
  /** `@provides`: type → its fields that another type's field provides. */
  readonly provided: ReadonlyMap<string, ReadonlySet<string>>;
}

export const nowhere: SdlPosition = { line: 0, column: 0 };

export function namedRef(name: string, nonNull = false): DraftRef {
  return { kind: "named", name, nonNull };
}

export function listRef(element: DraftRef, nonNull = false): DraftRef {
  return { kind: "list", element, nonNull };
}

/** The same type, nullable at the top. */
export function toNullable(ref: DraftRef): DraftRef {
  return { ...ref, nonNull: false };
}

export function toNonNull(ref: DraftRef): DraftRef {
  return { ...ref, nonNull: true };
}

/** The type's name, below all lists. */
export function baseName(ref: DraftRef): string {
  return ref.kind === "named" ? ref.name : baseName(ref.element);
}

/** The same shape over another type. */
export function withBase(ref: DraftRef, name: string): DraftRef {
  if (ref.kind === "named") return { ...ref, name };
  return { ...ref, element: withBase(ref.element, name) };
}

export function printRef(ref: DraftRef): string {
  const text = ref.kind === "named" ? ref.name : `[${printRef(ref.element)}]`;
  return ref.nonNull ? `${text}!` : text;
}

export function toRef(node: TypeNode, nonNull = false): DraftRef {
  if (node.kind === Kind.NON_NULL_TYPE) return toRef(node.type, true);
  if (node.kind === Kind.LIST_TYPE) return listRef(toRef(node.type), nonNull);
  return namedRef(node.name.value, nonNull);
}

// ---------------------------------------------------------------------------------------------------------------
// Making

export function makeType(kind: DraftKind, name: string, origin: TypeOrigin): DraftType {
  return {
    kind,
    name,
    description: undefined,
    origin,
    at: nowhere,
    written: [],
    directives: {},
    interfaces: [],
    fields: [],
    members: [],
    values: [],
    objectRole: undefined,
    inputRole: undefined,
    of: undefined,
  };
}

export function makeField(name: string, type: DraftRef, purpose?: DraftPurpose): DraftField {
  return {
    name,
    description: undefined,
    type,
    arguments: [],
    written: [],
    directives: {},
    defaultValue: undefined,
    at: nowhere,
    typeAt: nowhere,
    inheritedFrom: undefined,
    purpose,
  };
}

export function makeArgument(name: string, type: DraftRef, field?: string): DraftArgument {
  return {
    name,
    description: undefined,
    type,
    defaultValue: undefined,
    at: nowhere,
    typeAt: nowhere,
    written: [],
    field,
  };
}

export function makeValue(name: string, field?: string): DraftValue {
  return { name, description: undefined, at: nowhere, field };
}

/** `@name(argument: value)`, as if it had been written. */
export function makeDirective(
  name: string,
  argument: string,
  value: ConstValueNode,
): ConstDirectiveNode {
  const node: ConstArgumentNode = {
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: argument },
    value,
  };
  return { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name }, arguments: [node] };
}

/** Where a parsed node begins; for a directive, its name. */
export function positionOf(node: {
  readonly loc?:
    { readonly startToken: { readonly line: number; readonly column: number } } | undefined;
}): SdlPosition {
  const token = node.loc?.startToken;
  return token === undefined ? nowhere : { line: token.line, column: token.column };
}

export function directiveAt(directive: ConstDirectiveNode): SdlPosition {
  return positionOf(directive.name);
}

export function findDraftField(type: DraftType, name: string): DraftField | undefined {
  for (const field of type.fields) if (field.name === name) return field;
  return undefined;
}
