/** What a client selects, asked of another GraphQL service in its own operation (reference/graphql 8.4). */
import type { ValueNode } from "graphql";
import type { RemoteOperation } from "../schema/custom-operation.ts";
import type { TypeRef } from "../schema/compiled-schema.ts";
import { evaluate, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentValue, RequestValues } from "../operation/arguments.ts";
import { NumberText } from "../operation/json.ts";
import type { SelectedField, Selection } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

/** The names in the service's answer of fields that were asked under another one than their own. */
export type AnswerKeys = ReadonlyMap<SelectedField, string>;

export interface RemoteQuery {
  readonly text: string;
  readonly keys: AnswerKeys;
}

export function printRemoteQuery(
  { text }: RemoteOperation,
  field: SelectedField,
  request: RequestValues,
): RemoteQuery {
  const printer = new SelectionPrinter(request);
  const selection = field.selection === undefined ? "" : printer.print(field.selection);
  return { text: `${text.slice(0, text.lastIndexOf("}"))}${selection}}`, keys: printer.keys };
}

class SelectionPrinter {
  readonly keys = new Map<SelectedField, string>();
  readonly #request: RequestValues;

  constructor(request: RequestValues) {
    this.#request = request;
  }

  print(selection: Selection): string {
    const used = new Set<string>();
    if (selection.type.kind === "object") return `{\n${this.#fields(selection.fields, used)}}`;
    // Which type a value is of decides what of it was asked for.
    used.add("__typename");
    const lines = ["__typename\n"];
    if (selection.byType === undefined) lines.push(this.#fields(selection.common, used));
    for (const [name, fields] of selection.byType ?? []) {
      lines.push(`... on ${name}{\n${this.#fields(fields, new Set(["__typename"]))}}\n`);
    }
    return `{\n${lines.join("")}}`;
  }

  /** `used`: the keys of the answer that are taken. */
  #fields(fields: readonly SelectedField[], used: Set<string>): string {
    let text = "";
    for (const field of fields) {
      const { name, source } = field.definition;
      if (source.kind === "lambda" || (name === "__typename" && used.has(name))) continue;
      const inner = field.selection === undefined ? "" : this.print(field.selection);
      text += `${this.#alias(field, name, used)}${name}${this.#arguments(field)}${inner}\n`;
    }
    return text;
  }

  /** A field that is asked again, with other arguments perhaps, needs a key of its own. */
  #alias(field: SelectedField, name: string, used: Set<string>): string {
    let key = name;
    for (let n = 2; used.has(key); n++) key = `${name}_${n}`;
    used.add(key);
    if (key === name) return "";
    this.keys.set(field, key);
    return `${key}: `;
  }

  /** Variables of the client's are unknown to the service: their values stand in their places. */
  #arguments({ node, definition }: SelectedField): string {
    const given: string[] = [];
    for (const { name, value } of node.arguments ?? []) {
      const type = definition.arguments.get(name.value)?.type;
      const text = type === undefined ? undefined : this.#node(value, type);
      if (text !== undefined) given.push(`${name.value}: ${text}`);
    }
    return given.length === 0 ? "" : `(${given.join(", ")})`;
  }

  /** undefined: a variable without a value. */
  #node(node: ValueNode, type: TypeRef): string | undefined {
    if (node.kind === "ListValue") {
      const element = type.kind === "list" ? type.element : type;
      return `[${node.values.map((item) => this.#node(item, element) ?? "null").join()}]`;
    }
    const value = evaluate(node, innermost(node, type), this.#request);
    return value === undefined ? undefined : printLiteral(value, type);
  }
}

/** A single value for a list is sent as it was written. */
function innermost(node: ValueNode, type: TypeRef): TypeRef {
  if (node.kind === "Variable" || node.kind === "ObjectValue") return type;
  let at = type;
  while (at.kind === "list") at = at.element;
  return at;
}

function printLiteral(value: ArgumentValue, type: TypeRef): string {
  if (value === undefined || value === null) return "null";
  if (value instanceof NumberText) return value.text;
  if (isArgumentList(value)) {
    const element = type.kind === "list" ? type.element : type;
    return `[${value.map((item) => printLiteral(item, element)).join()}]`;
  }
  const named = namedTypeOf(type);
  if (isArgumentObject(value)) {
    const members = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => {
        const inner = named.kind === "input" ? named.fields.get(name)?.type : undefined;
        return `${name}:${printLiteral(item, inner ?? type)}`;
      });
    return `{${members.join()}}`;
  }
  return named.kind === "enum" ? String(value) : JSON.stringify(value);
}
