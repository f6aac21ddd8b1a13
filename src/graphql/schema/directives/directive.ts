/** What a directive of the SDL is: its declaration, where it may stand, what it says, and what is checked of it. */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstValueNode } from "graphql";
import type { Given } from "./given.ts";
import {
  directiveAt,
  type DraftField,
  type DraftKind,
  type DraftType,
  type SchemaDraft,
  type SchemaProblem,
} from "../sdl-draft.ts";
import type { SdlPosition } from "../sdl-position.ts";

/** One or more problems, in their order; undefined for none. */
type Found = SchemaProblem | readonly SchemaProblem[] | undefined;

/** A row of the table (`table.ts`). */
export interface DirectiveSpec<G extends Given> {
  /** As it stands in the generated schema. */
  readonly declaration: string;
  /** The kinds of type at which it may stand; [] for fields alone; undefined for directives that others check. */
  readonly onTypes: readonly DraftKind[] | undefined;
  read(node: ConstDirectiveNode): G;
  /** Once for each time that it stands at a field of the user's. `given` is its first. */
  checkField?(draft: SchemaDraft, type: DraftType, field: DraftField, given: G): Found;
  /** Once for each type of the user's, whether it has the directive or not. */
  checkType?(draft: SchemaDraft, type: DraftType, given: G | undefined): Found;
  /** What it says is no business of a federation's gateway: `_service` does not show it. */
  readonly isInternal?: true;
}

/** A directive without arguments. */
export function readPlain(node: ConstDirectiveNode): Given {
  return { at: directiveAt(node) };
}

/** An argument that should be a text. */
export interface TextArgument {
  /** Without quotes; "" for lists, objects, null, and where it is left out. */
  readonly text: string;
  /** Whether it was written as a string. */
  readonly isString: boolean;
}

export function readText(node: ConstDirectiveNode, name: string): TextArgument {
  const value = findArgument(node, name);
  return { text: rawText(value), isString: value?.kind === Kind.STRING };
}

export function findArgument(node: ConstDirectiveNode, name: string): ConstValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === name)?.value;
}

/** A value's text without quotes, as the directives of this API read it; "" for lists, objects and null. */
export function rawText(value: ConstValueNode | undefined): string {
  switch (value?.kind) {
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.INT:
    case Kind.FLOAT:
      return value.value;
    case Kind.BOOLEAN:
      return value.value ? "true" : "false";
    default:
      return "";
  }
}

export function refuseField(
  type: DraftType,
  field: DraftField,
  text: string,
  at: SdlPosition | undefined,
): SchemaProblem {
  return { message: `Type ${type.name}; Field ${field.name}: ${text}`, at };
}

export function refuseType(
  type: DraftType,
  text: string,
  at: SdlPosition | undefined,
): SchemaProblem {
  return { message: `Type ${type.name}; ${text}`, at };
}

/** What stands at object types and interfaces. */
export const onNodeTypes: readonly DraftKind[] = ["object", "interface"];
