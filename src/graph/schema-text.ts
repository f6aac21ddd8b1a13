/** Definitions as schema text, as `alter` reads it (reference/dql 2.2, 2.3, 2.6). */
import type {
  IndexSpec,
  PredicateDefinition,
  SchemaText,
  TypeDefinition,
} from "../model/definition.ts";

/** `prefix` stands in front of each definition: nothing, or the namespace as exports name it. */
export function printSchemaText(schema: SchemaText, prefix = ""): string {
  let text = "";
  for (const predicate of schema.predicates) text += `${prefix}${printPredicate(predicate)}\n`;
  for (const type of schema.types) text += `${prefix}${printType(type)}`;
  return text;
}

function printType({ name, fields }: TypeDefinition): string {
  return `type <${name}> {\n${fields.map((field) => `  <${field}>\n`).join("")}}\n`;
}

function printPredicate(predicate: PredicateDefinition): string {
  const kind = predicate.kind === "datetime" ? "dateTime" : predicate.kind;
  let text = `<${predicate.name}>: ${predicate.list ? `[${kind}]` : kind}`;
  if (predicate.indexes.length > 0) {
    text += ` @index(${predicate.indexes.map(printIndex).join(", ")})`;
  }
  for (const directive of directives) if (predicate[directive]) text += ` @${directive}`;
  return `${text} .`;
}

const directives = ["lang", "upsert", "unique", "noconflict", "reverse", "count"] as const;

function printIndex(index: IndexSpec): string {
  if (index.options === undefined || index.options.length === 0) return index.tokenizer;
  const options = index.options.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`);
  return `${index.tokenizer}(${options.join(", ")})`;
}
