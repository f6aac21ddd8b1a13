/** `@secret`: a type's password (reference/graphql 2.5). */
import { directiveAt } from "../sdl-draft.ts";
import { findArgument, onNodeTypes, rawText, refuseType, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Secret extends Given {
  /** The password's name in inputs. */
  readonly field: string;
  /** The predicate as written; "" for the default one. */
  readonly pred: string;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly secret?: Secret | undefined;
  }
}

export const secret: DirectiveSpec<Secret> = {
  declaration: "directive @secret(field: String!, pred: String) on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: (node) => ({
    at: directiveAt(node),
    field: rawText(findArgument(node, "field")),
    pred: rawText(findArgument(node, "pred")),
  }),
  checkType(_draft, type) {
    const names: string[] = [];
    for (const node of type.written)
      if (node.name.value === "secret") names.push(rawText(findArgument(node, "field")));
    let text: string | undefined;
    if (names.includes("")) text = 'Argument "field" of secret directive is empty';
    else if (names.length > 1) text = `has more than one secret fields ${names.join(",")}`;
    else if (type.fields.some((field) => field.name === names[0]))
      text = `has a secret directive and field of the same name ${names[0] ?? ""}`;
    return text === undefined ? undefined : refuseType(type, text, type.at);
  },
};
