/**
 * Templates of bodies (reference/graphql 8.2): a value of GraphQL with variables in it, `{ id: $id, deep: { tags: [$tag] } }`.
 * Arguments of a remote operation are such values, too.
 */
import { Kind, parse } from "graphql";
import type { ValueNode } from "graphql";
import { toSyntaxProblem } from "./syntax-problem.ts";

export type BodyTemplate =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "constant"; readonly json: string }
  | { readonly kind: "list"; readonly items: readonly BodyTemplate[] }
  /** By name, in alphabetical order: so they are sent. */
  | { readonly kind: "object"; readonly members: readonly (readonly [string, BodyTemplate])[] };

export interface TemplateFault {
  readonly fault: string;
}

/** undefined: the text is blank, nothing is sent. `isStrict`: bare words are refused; otherwise they are texts. */
export function parseBodyTemplate(
  text: string,
  isStrict: boolean,
): BodyTemplate | TemplateFault | undefined {
  if (text.trim() === "") return undefined;
  let value: ValueNode | undefined;
  try {
    const [operation] = parse(`query { dummy(input:${text}) }`).definitions;
    const field =
      operation?.kind === Kind.OPERATION_DEFINITION
        ? operation.selectionSet.selections[0]
        : undefined;
    value = field?.kind === Kind.FIELD ? field.arguments?.[0]?.value : undefined;
  } catch (error) {
    const { message, line } = toSyntaxProblem(error);
    return { fault: `input:${line}: ${message}` };
  }
  if (value === undefined) return { fault: "this is no value" };
  return toTemplate(value, isStrict);
}

export function toTemplate(value: ValueNode, isStrict: boolean): BodyTemplate | TemplateFault {
  switch (value.kind) {
    case Kind.VARIABLE:
      return { kind: "variable", name: value.name.value };
    case Kind.INT:
      return integer(value.value);
    case Kind.FLOAT: {
      const number = Number(value.value);
      if (Number.isFinite(number)) return { kind: "constant", json: String(number) };
      return { fault: `strconv.ParseFloat: parsing "${value.value}": value out of range` };
    }
    case Kind.STRING:
      if (isStrict && value.block === true) {
        return { fault: `found unexpected value: ${JSON.stringify(value.value)}` };
      }
      return constant(value.value);
    case Kind.BOOLEAN:
      return constant(value.value);
    case Kind.NULL:
      return constant(null);
    case Kind.ENUM:
      if (isStrict) return { fault: `found unexpected value: ${value.value}` };
      return constant(value.value);
    case Kind.LIST: {
      const items: BodyTemplate[] = [];
      for (const item of value.values) {
        const template = toTemplate(item, isStrict);
        if ("fault" in template) return template;
        items.push(template);
      }
      return { kind: "list", items };
    }
    case Kind.OBJECT: {
      const members = new Map<string, BodyTemplate>();
      for (const field of value.fields) {
        const template = toTemplate(field.value, isStrict);
        if ("fault" in template) return template;
        members.set(field.name.value, template);
      }
      return { kind: "object", members: [...members].toSorted(byName) };
    }
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function constant(value: string | boolean | null): BodyTemplate {
  return { kind: "constant", json: JSON.stringify(value) };
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

function integer(text: string): BodyTemplate | TemplateFault {
  const number = BigInt(text);
  if (number >= int64Min && number <= int64Max) return { kind: "constant", json: String(number) };
  return { fault: `strconv.ParseInt: parsing "${text}": value out of range` };
}

/** The variables of a template, each once, in their order. */
export function templateVariables(template: BodyTemplate | undefined): readonly string[] {
  const names = new Set<string>();
  const visit = (each: BodyTemplate): void => {
    if (each.kind === "variable") names.add(each.name);
    else if (each.kind === "list") each.items.forEach(visit);
    else if (each.kind === "object") for (const [, inner] of each.members) visit(inner);
  };
  if (template !== undefined) visit(template);
  return [...names];
}
