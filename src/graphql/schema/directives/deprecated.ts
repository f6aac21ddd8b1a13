/** `@deprecated`: shown by introspection. The specification of GraphQL declares it. */
import { directiveAt } from "../sdl-draft.ts";
import { findArgument, rawText, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Deprecated extends Given {
  readonly reason: string;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly deprecated?: Deprecated | undefined;
  }
}

export const deprecated: DirectiveSpec<Deprecated> = {
  declaration: "",
  onTypes: undefined,
  read(node) {
    const reason = findArgument(node, "reason");
    return {
      at: directiveAt(node),
      reason: reason === undefined ? "No longer supported" : rawText(reason),
    };
  },
};
