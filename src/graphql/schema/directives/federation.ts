/** The directives of Apollo federation (reference/graphql 2.12), declared where an SDL uses it. */
import { directiveAt } from "../sdl-draft.ts";
import { findArgument, onNodeTypes, rawText, readPlain, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";
import type { ConstDirectiveNode } from "graphql";

interface FieldSet extends Given {
  /** As written; undefined where it is left out. */
  readonly fields: string | undefined;
}

function readFieldSet(node: ConstDirectiveNode): FieldSet {
  const fields = findArgument(node, "fields");
  return { at: directiveAt(node), fields: fields && rawText(fields) };
}

const isUnavailable = (): boolean => true;

declare module "./given.ts" {
  interface GivenDirectives {
    readonly external?: Given | undefined;
    readonly requires?: FieldSet | undefined;
    readonly provides?: FieldSet | undefined;
    readonly key?: FieldSet | undefined;
    readonly extends?: Given | undefined;
  }
}

export const external: DirectiveSpec<Given> = {
  declaration: "directive @external on FIELD_DEFINITION",
  onTypes: [],
  read: readPlain,
  isUnavailable,
};

export const requires: DirectiveSpec<FieldSet> = {
  declaration: "directive @requires(fields: _FieldSet!) on FIELD_DEFINITION",
  onTypes: [],
  read: readFieldSet,
  isUnavailable,
};

export const provides: DirectiveSpec<FieldSet> = {
  declaration: "directive @provides(fields: _FieldSet!) on FIELD_DEFINITION",
  onTypes: [],
  read: readFieldSet,
  isUnavailable,
};

export const key: DirectiveSpec<FieldSet> = {
  declaration: "directive @key(fields: _FieldSet!) on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: readFieldSet,
  isUnavailable,
};

export const extendsSpec: DirectiveSpec<Given> = {
  declaration: "directive @extends on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: readPlain,
  isUnavailable,
};
