/** `@auth`: the rules of a type (reference/graphql 6). They are read with the operations that they are written as. */
import type { ConstValueNode } from "graphql";
import { directiveAt } from "../sdl-draft.ts";
import type { RuleOperation } from "../compiled-schema.ts";
import { onNodeTypes, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Auth extends Given {
  /** As written. */
  readonly rules: Readonly<Partial<Record<RuleOperation, ConstValueNode>>>;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly auth?: Auth | undefined;
  }
}

export const auth: DirectiveSpec<Auth> = {
  declaration: `directive @auth(
	password: AuthRule
	query: AuthRule,
	add: AuthRule,
	update: AuthRule,
	delete: AuthRule) on OBJECT | INTERFACE`,
  onTypes: onNodeTypes,
  isInternal: true,
  read: (node) => ({
    at: directiveAt(node),
    rules: Object.fromEntries(
      (node.arguments ?? []).toReversed().map(({ name, value }) => [name.value, value]),
    ),
  }),
};
