/** `@remote`: a type of another service; and what a type must be that is none (reference/graphql 2.9). */
import { baseName, type DraftType, type SchemaDraft, type SchemaProblem } from "../sdl-draft.ts";
import { isCustomField, isRootName } from "../sdl-names.ts";
import { readPlain, refuseType, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

declare module "./given.ts" {
  interface GivenDirectives {
    readonly remote?: Given | undefined;
  }
}

export const remote: DirectiveSpec<Given> = {
  declaration: "directive @remote on OBJECT | INTERFACE | UNION | INPUT_OBJECT | ENUM",
  onTypes: ["object", "interface", "union", "input", "enum"],
  read: readPlain,
  checkType(draft, type) {
    const found = [checkConflicts(type), checkHasContent(type), checkUses(draft, type)];
    return found.filter((problem) => problem !== undefined);
  },
};

function checkConflicts(type: DraftType): SchemaProblem | undefined {
  if (type.directives.remote === undefined) return undefined;
  const other = (["auth", "withSubscription"] as const).find(
    (name) => type.directives[name] !== undefined,
  );
  if (other === undefined) return undefined;
  return refuseType(type, `cannot have both @${other} and @remote directive`, type.at);
}

function checkHasContent(type: DraftType): SchemaProblem | undefined {
  const isRemote = type.directives.remote !== undefined;
  if (type.kind !== "object" || isRootName(type.name) || isRemote) return undefined;
  const isStored = type.fields.some(
    (field) => baseName(field.type) !== "ID" && !isCustomField(field),
  );
  if (isStored) return undefined;
  const text =
    "is invalid, a type must have atleast one field that is not of ID! type " +
    "and doesn't have @custom/@lambda directive.";
  return refuseType(type, text, type.at);
}

function checkUses(draft: SchemaDraft, type: DraftType): SchemaProblem | undefined {
  if (isRootName(type.name)) return undefined;
  const isRemote = type.directives.remote !== undefined;
  const isRemoteName = (name: string): boolean =>
    draft.types.get(name)?.directives.remote !== undefined;
  for (const field of type.fields) {
    if (isRemote && isCustomField(field)) {
      const text =
        `field ${field.name}; can't have @custom/@lambda directive as a @remote ` +
        "type can't have fields with @custom/@lambda directive.";
      return refuseType(type, text, field.at);
    }
    if (!isRemote && !isCustomField(field) && isRemoteName(baseName(field.type))) {
      const text =
        `field ${field.name}; is of a type that has @remote directive. Those ` +
        "would need to be resolved by a @custom/@lambda directive.";
      return refuseType(type, text, field.at);
    }
  }
  const odd = type.interfaces.find((name) => isRemoteName(name) !== isRemote);
  if (odd === undefined) return undefined;
  const text = isRemote
    ? `with @remote directive implements interface ${odd}; which doesn't have @remote directive.`
    : `without @remote directive can't implement an interface ${odd}; with have @remote directive.`;
  return refuseType(type, text, type.at);
}
