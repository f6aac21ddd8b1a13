/** Nodes as DQL answers them: predicates by their names. */
import type {
  CompiledSchema,
  FieldDefinition,
  NodeType,
} from "../graphql/schema/compiled-schema.ts";
import { scalarTexts, type TypeOptions } from "./type-text.ts";

/** `Nodes["Task"]["Task.title"]`: each predicate may be missing, since a query names those that it wants. */
export function nodeTypes(schema: CompiledSchema, options: TypeOptions, name: string): string {
  const types = schema.nodes.map((type) => `  readonly ${JSON.stringify(type.name)}: {\n${members(type, options, name)}  };\n`); // prettier-ignore
  return `/** What DQL answers of nodes, by the names of predicates: \`dql<{ q: ${name}["T"][] }>\`. */\nexport type ${name} = {\n${types.join("")}};\n`;
}

function members(type: NodeType, options: TypeOptions, name: string): string {
  const lines = new Map([
    ["uid", "string"],
    ["dgraph.type", "readonly string[]"],
  ]);
  for (const field of type.fields.values()) noteField(field, lines, { options, name });
  return [...lines]
    .map(([predicate, text]) => `    readonly ${JSON.stringify(predicate)}?: ${text};\n`)
    .join("");
}

function noteField(
  { source }: FieldDefinition,
  lines: Map<string, string>,
  { options, name }: { readonly options: TypeOptions; readonly name: string },
): void {
  if (source.kind === "edge") {
    const { target } = source;
    const targets = target.kind === "union" ? target.members : [target];
    const texts = targets.map((one) => `${name}[${JSON.stringify(one.name)}]`).join(" | ");
    // Against the direction there are as many as there are.
    const isList = source.isList || source.isReverse;
    const predicate = `${source.isReverse ? "~" : ""}${source.predicate}`;
    lines.set(predicate, isList ? `readonly (${texts || "unknown"})[]` : texts || "unknown");
  }
  if (source.kind !== "value") return;
  const { valueType, isList, predicate, languages } = source;
  const text =
    valueType.kind === "scalar"
      ? scalarTexts(valueType.name, { ...options, int64: "number" }).output
      : valueType.kind === "enum"
        ? valueType.name
        : "unknown";
  const written = languages.length === 0 ? predicate : `${predicate}@${languages.join(":")}`;
  lines.set(written, isList ? `readonly (${text})[]` : text);
}
