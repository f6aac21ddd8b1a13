/** `@onDelete`: what becomes of a node when one that this field leads to is deleted. An addition to the reference. */
import { baseName, directiveAt, type DraftField, type SchemaDraft } from "../sdl-draft.ts";
import { isReverseField } from "../graph-names.ts";
import { geoTypes } from "../sdl-names.ts";
import { findArgument, rawText, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

const deleteActions = ["RESTRICT", "CASCADE", "NULLIFY"] as const;

/**
 * RESTRICT: the deletion is refused. CASCADE: the node that has the field is deleted, too. NULLIFY: the edge is removed.
 */
type DeleteAction = (typeof deleteActions)[number];

interface OnDelete extends Given {
  /** Undefined: what is written is none. */
  readonly action: DeleteAction | undefined;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly onDelete?: OnDelete | undefined;
  }
}

export const onDelete: DirectiveSpec<OnDelete> = {
  declaration: "directive @onDelete(action: String!) on FIELD_DEFINITION",
  onTypes: [],
  isInternal: true,
  read(node) {
    const written = rawText(findArgument(node, "action"));
    return { at: directiveAt(node), action: deleteActions.find((one) => one === written) };
  },
  checkField(draft, type, field, { at, action }) {
    const text = findFault(draft, field, action);
    return text === undefined ? undefined : refuseField(type, field, text, at);
  },
};

function findFault(
  draft: SchemaDraft,
  field: DraftField,
  action: DeleteAction | undefined,
): string | undefined {
  if (action === undefined) {
    return `@onDelete directive needs the argument action, one of ${deleteActions.join(", ")}.`;
  }
  const { lambda, custom, external } = field.directives;
  if ((!isNodeType(draft, baseName(field.type)) || lambda) ?? custom ?? external) {
    return "@onDelete directive only applies to fields that lead to stored nodes.";
  }
  if (isReverseField(field)) {
    return "@onDelete directive stands at the edge itself, not at a field that reads it backwards.";
  }
  if (action === "NULLIFY" && field.type.kind !== "list" && field.type.nonNull) {
    return "@onDelete(action: NULLIFY) would take away what the field's type requires: leave out the ! or choose RESTRICT or CASCADE.";
  }
  return undefined;
}

function isNodeType(draft: SchemaDraft, name: string): boolean {
  const target = draft.types.get(name);
  if (target === undefined || geoTypes.has(name) || target.directives.remote !== undefined)
    return false;
  return target.kind === "object" || target.kind === "interface" || target.kind === "union";
}
