/** `@embedding`: a list of numbers that is stored as a vector (reference/graphql 2.7). */
import { baseName } from "../sdl-draft.ts";
import { readPlain, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly embedding?: Given | undefined;
  }
}

export const embedding: DirectiveSpec<Given> = {
  declaration: "directive @embedding on FIELD_DEFINITION",
  onTypes: undefined,
  read: readPlain,
  checkField(_draft, type, field) {
    const ref = field.type;
    if (ref.kind === "list" && ref.element.kind === "named")
      if (ref.element.name === "Float" && ref.element.nonNull) return undefined;
    const name = baseName(ref);
    const shown = ref.kind === "list" ? `[${name}]` : name;
    const text = `The field with @embedding directive is of type ${shown}, but @embedding directive only applies to fields of type [Float!].`;
    return refuseField(type, field, text, field.at);
  },
};
