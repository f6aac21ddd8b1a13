/** What the rules of validation share. */
import type { VariableDefinitionNode } from "graphql";
import type { CompositeType, NamedType } from "../schema/compiled-schema.ts";
import type { offsetOf } from "./parse.ts";

/** Reports a fault at a node. `hint`: what is told of it where details are asked for. */
export type Report = (message: string, node: Parameters<typeof offsetOf>[0], hint?: string) => void;

const possible = new WeakMap<CompositeType, ReadonlySet<NamedType>>();

/** Object types that a value of the type can be. Types are not changed once they are asked about. */
export function possibleTypes(type: CompositeType): ReadonlySet<NamedType> {
  let types = possible.get(type);
  if (types === undefined) {
    const members = type.kind === "interface" ? type.implementors : [type];
    types = new Set<NamedType>(type.kind === "union" ? type.members : members);
    possible.set(type, types);
  }
  return types;
}

export function isComposite(type: NamedType | undefined): type is CompositeType {
  return type?.kind === "object" || type?.kind === "interface" || type?.kind === "union";
}

/** A variable's type as written. */
export function printType(definition: VariableDefinitionNode): string {
  return printTypeNode(definition.type);
}

function printTypeNode(type: VariableDefinitionNode["type"]): string {
  if (type.kind === "NonNullType") return `${printTypeNode(type.type)}!`;
  if (type.kind === "ListType") return `[${printTypeNode(type.type)}]`;
  return type.name.value;
}
