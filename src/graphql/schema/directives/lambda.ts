/** `@lambda`: a field that a resolver in JavaScript answers (reference/graphql 7.1). */
import { baseName, type SchemaProblem } from "../sdl-draft.ts";
import { isRootName } from "../sdl-names.ts";
import { readPlain, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly lambda?: Given | undefined;
  }
}

export const lambda: DirectiveSpec<Given> = {
  declaration: "directive @lambda on FIELD_DEFINITION",
  onTypes: [],
  read: readPlain,
  /** What `@custom` asks of a field, in these words. */
  checkField(draft, type, field, { at }) {
    if (!draft.hasLambda)
      return {
        message:
          `Type ${type.name}; Field ${field.name}: has the @lambda directive, but the ` +
          '`--graphql "lambda-url=...;"` flag wasn\'t specified during alpha startup.',
        at,
      };
    const refuse = (text: string): SchemaProblem => ({
      message: `While building @custom for @lambda: Type ${type.name}; Field ${field.name}; ${text}`,
      at,
    });
    for (const other of ["search", "dgraph"] as const)
      if (field.directives[other] !== undefined)
        return refuse(`custom directive not allowed along with @${other} directive.`);
    if (isRootName(type.name)) return undefined;
    if (baseName(field.type) === "ID" || field.directives.id !== undefined)
      return refuse(
        "custom directive not allowed on field of type ID! or field with @id directive.",
      );
    const isKnown = type.fields.some(
      (one) => baseName(one.type) === "ID" || one.directives.id !== undefined,
    );
    if (isKnown) return undefined;
    return refuse(
      "@custom directive is only allowed on fields where the type definition has a field with " +
        "type ID! or a field with @id directive.",
    );
  },
};
