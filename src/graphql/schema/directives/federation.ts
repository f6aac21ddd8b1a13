/** The directives of Apollo federation (reference/graphql 2.12), declared where an SDL uses it. */
import { isKeyField } from "../graph-names.ts";
import {
  baseName,
  directiveAt,
  findDraftField,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "../sdl-draft.ts";
import type { SdlPosition } from "../sdl-position.ts";
import {
  findArgument,
  onNodeTypes,
  rawText,
  readPlain,
  type DirectiveSpec,
  refuseField,
  refuseType,
} from "./directive.ts";
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
  checkField(_draft, type, field, { at }) {
    if (type.directives.extends === undefined) return refuseOutside(type, field, "external", at);
    if (isKeyField(type, field)) return undefined;
    const other = field.written.find(({ name }) => name.value !== "external");
    if (other === undefined) return undefined;
    const text = `@${other.name.value} directive can not be defined on @external fields that are not @key.`;
    return { message: `Type ${type.name}: Field ${field.name}: ${text}`, at: directiveAt(other) };
  },
};

export const requires: DirectiveSpec<FieldSet> = {
  declaration: "directive @requires(fields: _FieldSet!) on FIELD_DEFINITION",
  onTypes: [],
  read: readFieldSet,
  checkField(_draft, type, field, { at, fields }) {
    if (type.directives.extends === undefined) return refuseOutside(type, field, "requires", at);
    for (const name of namesOf(fields)) {
      const required = findDraftField(type, name);
      if (required?.directives.external === undefined)
        return refuseType(type, `Field ${name} must be @external.`, at);
    }
    return undefined;
  },
};

export const provides: DirectiveSpec<FieldSet> = {
  declaration: "directive @provides(fields: _FieldSet!) on FIELD_DEFINITION",
  onTypes: [],
  read: readFieldSet,
  checkField(draft, type, field, { at, fields }) {
    const target = draft.types.get(baseName(field.type));
    if (target?.directives.key === undefined)
      return refuseType(type, `Field ${field.name} does not return a type that has a @key.`, at);
    const missing = namesOf(fields).find((name) => findDraftField(target, name) === undefined);
    if (missing === undefined) return undefined;
    const text = `@provides field ${missing} doesn't exist for type ${target.name}.`;
    return refuseField(type, field, text, at);
  },
};

export const key: DirectiveSpec<FieldSet> = {
  declaration: "directive @key(fields: _FieldSet!) on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: readFieldSet,
  checkType(_draft, type, given) {
    const [, second] = type.written.filter(({ name }) => name.value === "key");
    if (second !== undefined) {
      const text = "@key directive should not be defined more than once.";
      return refuseType(type, text, directiveAt(second));
    }
    if (given === undefined) return undefined;
    const { at, fields = "" } = given;
    if (type.directives.remote !== undefined)
      return refuseType(type, "@remote directive cannot be defined with @key directive", type.at);
    const field = findDraftField(type, fields);
    if (field === undefined) {
      const text = `@key directive uses a field ${fields} which is not defined inside the type.`;
      return refuseType(type, text, at);
    }
    if (baseName(field.type) === "ID" || field.directives.id !== undefined) return undefined;
    const text = "used inside @key directive should be of type ID or have @id directive.";
    return { message: `Type ${type.name}: Field ${fields}: ${text}`, at };
  },
};

export const extendsSpec: DirectiveSpec<Given> = {
  declaration: "directive @extends on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read: readPlain,
  checkType(_draft, type, given) {
    if (given === undefined || type.directives.key !== undefined) return undefined;
    return refuseType(type, "Type Extension cannot be defined without @key directive", type.at);
  },
};

function namesOf(fields: string | undefined): readonly string[] {
  return (fields ?? "").split(/\s+/).filter((name) => name !== "");
}

function refuseOutside(
  type: DraftType,
  field: DraftField,
  name: "external" | "requires",
  at: SdlPosition,
): SchemaProblem {
  const text =
    `@${name} directive can only be defined on fields in type extensions. ` +
    "i.e., the type must have `@extends` or use `extend` keyword.";
  return { message: `Type ${type.name}: Field ${field.name}: ${text}`, at };
}
