/** GivenDirectives of requests: the schema declares them, and the preparation of requests obeys them. */
import { readPlain, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly cascade?: Given | undefined;
    readonly cacheControl?: Given | undefined;
  }
}

export const cascade: DirectiveSpec<Given> = {
  declaration: "directive @cascade(fields: [String]) on FIELD",
  onTypes: [],
  isInternal: true,
  read: readPlain,
};

export const cacheControl: DirectiveSpec<Given> = {
  declaration: "directive @cacheControl(maxAge: Int!) on QUERY",
  onTypes: undefined,
  isInternal: true,
  read: readPlain,
};
