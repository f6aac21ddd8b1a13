/** `@withSubscription`: queries that can be subscribed to (reference/graphql 9). */
import { onNodeTypes, readPlain, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly withSubscription?: Given | undefined;
  }
}

export const withSubscription: DirectiveSpec<Given> = {
  declaration: "directive @withSubscription on OBJECT | INTERFACE | FIELD_DEFINITION",
  onTypes: onNodeTypes,
  read: readPlain,
};
