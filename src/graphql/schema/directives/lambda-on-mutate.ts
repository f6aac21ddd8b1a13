/** `@lambdaOnMutate`: resolvers that are told of mutations (reference/graphql 7.6). */
import { onNodeTypes, readPlain, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly lambdaOnMutate?: Given | undefined;
  }
}

export const lambdaOnMutate: DirectiveSpec<Given> = {
  declaration:
    "directive @lambdaOnMutate(add: Boolean, update: Boolean, delete: Boolean) on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: readPlain,
  isUnavailable: () => true,
};
