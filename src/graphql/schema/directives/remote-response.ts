/** `@remoteResponse`: what a field is called in the answers of its service (reference/graphql 2.9). */
import { directiveAt } from "../sdl-draft.ts";
import { readText, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface RemoteResponse extends Given {
  /** undefined where it is not written as a string. */
  readonly name: string | undefined;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly remoteResponse?: RemoteResponse | undefined;
  }
}

export const remoteResponse: DirectiveSpec<RemoteResponse> = {
  declaration: "directive @remoteResponse(name: String) on FIELD_DEFINITION",
  onTypes: [],
  read(node) {
    const { text, isString } = readText(node, "name");
    return { at: directiveAt(node), name: isString ? text : undefined };
  },
  checkField(_draft, type, field, { at }) {
    if (type.directives.remote !== undefined) return undefined;
    return {
      message: `Type ${type.name}: Field ${field.name}: @remoteResponse directive can only be defined on fields of @remote type.`,
      at,
    };
  },
};
