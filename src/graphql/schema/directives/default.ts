/** `@default`: values that mutations fill in (reference/graphql 2.6). */
import { Kind } from "graphql";
import type { ConstValueNode } from "graphql";
import { baseName, directiveAt } from "../sdl-draft.ts";
import { builtinScalars, geoTypes } from "../sdl-names.ts";
import { findArgument, rawText, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Default extends Given {
  readonly add: string | undefined;
  readonly update: string | undefined;
  /** Of all its arguments, as written. */
  readonly values: readonly string[];
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly default?: Default | undefined;
  }
}

export const defaultSpec: DirectiveSpec<Default> = {
  declaration: "directive @default(add: DgraphDefault, update: DgraphDefault) on FIELD_DEFINITION",
  onTypes: undefined,
  read: (node) => ({
    at: directiveAt(node),
    add: valueOf(findArgument(node, "add")),
    update: valueOf(findArgument(node, "update")),
    values: (node.arguments ?? []).flatMap(({ value }) => valueOf(value) ?? []),
  }),
  checkField(draft, type, field, { at, values }) {
    const refuse = (text: string): ReturnType<typeof refuseField> =>
      refuseField(type, field, text, at);
    const name = baseName(field.type);
    if (type.directives.remote !== undefined)
      return refuse("cannot use @default directive on a @remote type");
    const isScalar = builtinScalars.has(name) || geoTypes.has(name);
    if (!isScalar && draft.types.get(name)?.kind !== "enum")
      return refuse(`cannot use @default directive on field with non-scalar type ${name}`);
    if (field.type.kind === "list")
      return refuse(`cannot use @default directive on field with list type [${name}]`);
    if (field.directives.id !== undefined)
      return refuse("cannot use @default directive on field with @id directive");
    if (name === "ID") return refuse("cannot use @default directive on field with type ID");
    for (const other of ["custom", "lambda"] as const)
      if (field.directives[other] !== undefined)
        return refuse(`cannot use @default directive on field with @${other} directive`);
    const odd = values.find((value) => !isUsable(value, name));
    if (odd === undefined) return undefined;
    return refuse(`@default directive provides value "${odd}" which cannot be used with ${name}`);
  },
};

/** The `value` of `{value: …}`; undefined where it has none. */
function valueOf(argument: ConstValueNode | undefined): string | undefined {
  if (argument?.kind !== Kind.OBJECT) return undefined;
  const value = argument.fields.find((field) => field.name.value === "value")?.value;
  if (value === undefined || value.kind === Kind.NULL) return undefined;
  return rawText(value);
}

function isUsable(value: string, typeName: string): boolean {
  if (value === "$now" && typeName !== "DateTime") return false;
  switch (typeName) {
    case "Int":
      return isInteger(value, 2n ** 31n);
    case "Int64":
      return isInteger(value, 2n ** 63n);
    case "Float":
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value);
    case "Boolean":
      return value === "true" || value === "false";
    default:
      return true;
  }
}

/** −limit … limit − 1. */
function isInteger(value: string, limit: bigint): boolean {
  if (!/^[+-]?\d+$/.test(value)) return false;
  const number = BigInt(value.replace("+", ""));
  return number >= -limit && number < limit;
}
