/** `@id`: a key that one node of a type has, or of an interface's types (reference/graphql 2.2). */
import { directiveAt, printRef } from "../sdl-draft.ts";
import { findArgument, rawText, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Id extends Given {
  /** Over all types that implement the interface. */
  readonly isInterfaceWide: boolean;
}

const keyTypes = ["String", "Int", "Int64"];

declare module "./given.ts" {
  interface GivenDirectives {
    readonly id?: Id | undefined;
  }
}

export const id: DirectiveSpec<Id> = {
  declaration: "directive @id(interface: Boolean) on FIELD_DEFINITION",
  onTypes: [],
  read: (node) => ({
    at: directiveAt(node),
    isInterfaceWide: rawText(findArgument(node, "interface")) === "true",
  }),
  checkField(_draft, type, field, { at, isInterfaceWide }) {
    const ref = field.type;
    if (ref.kind !== "named" || !keyTypes.includes(ref.name)) {
      const text = `with @id directive must be of type String, Int or Int64, not ${printRef(ref)}`;
      return refuseField(type, field, text, at);
    }
    if (type.kind === "interface" || field.inheritedFrom !== undefined) return undefined;
    if (!isInterfaceWide) return undefined;
    const text = "@id field with interface argument can only be defined in interface,not in Type";
    return refuseField(type, field, text, at);
  },
};
