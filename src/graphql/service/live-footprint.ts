/**
 * What a subscription is made of, as text: equal under two schemas where its fields, their types and predicates, and what
 * the caller's rules make of it are the same. Whatever decides about an answer must show here.
 */
import type { LiveRequest } from "./handle-prepare.ts";
import type {
  FieldDefinition,
  FieldSource,
  NamedType,
  TypeRef,
} from "../schema/compiled-schema.ts";
import type { ReadyRoot } from "./handle-roots.ts";
import type { SelectedField } from "../operation/prepare.ts";

/** The footprint of a subscription that was prepared for a caller. */
export function footprintOf({ roots, schema }: Pick<LiveRequest, "roots" | "schema">): string {
  // Which pages may listen is judged when they connect: they do so again where it changes.
  return JSON.stringify([schema.meta.allowOrigins, roots.map(footprintOfRoot)]);
}

function footprintOfRoot(root: ReadyRoot): unknown {
  const field = footprintOfField(root.field);
  switch (root.kind) {
    case "query": {
      const { planned, texts, similar } = root.ready;
      const { embedding, vector, threshold } = similar ?? {};
      return [field, planned.form, texts, embedding?.name, vector, threshold];
    }
    case "dql":
      return [field, root.ready.text, [...root.ready.variables]];
    case "json":
      return [field, root.json];
    case "lambda":
      return [field, root.args];
    case "request":
      return [field, root.ready];
    case "untrusted":
      return [field, root.reason];
    case "refused":
      return [field, root.messages];
    case "entities":
      return [field, root.message];
    case "unresolved":
      return [field];
  }
}

function footprintOfField({ key, definition, parent, selection }: SelectedField): unknown {
  const own = [key, parent.name, definition.name, ...footprintOfDefinition(definition)];
  if (selection === undefined) return own;
  const byType = [...(selection.byType ?? [])].map(([name, fields]) => [
    name,
    fields.map(footprintOfField),
  ]);
  const { type, fields, common } = selection;
  return [
    ...own,
    membersOf(type),
    fields.map(footprintOfField),
    common.map(footprintOfField),
    byType,
  ];
}

function footprintOfDefinition({ type, source }: FieldDefinition): readonly unknown[] {
  const named = namedOf(type);
  // Schemas point in circles: what is behind an edge shows by its selection.
  const facts = Object.entries(source).filter(([, fact]) => typeof fact !== "object");
  const languages = source.kind === "value" ? source.languages : [];
  const of = aggregatedBy(source);
  return [type.text, membersOf(named), facts, languages, of && footprintOfDefinition(of)];
}

/** The field that an aggregate is of. */
function aggregatedBy(source: FieldSource): FieldDefinition | undefined {
  if (source.kind === "edgeAggregate") return source.edge;
  return source.kind === "aggregateMember" ? source.field : undefined;
}

/** What decides which values and which nodes a type has. */
function membersOf(type: NamedType): readonly string[] {
  switch (type.kind) {
    case "enum":
      return [...type.values.keys()];
    case "interface":
      return type.implementors.map(({ name }) => name);
    case "union":
      return type.members.map(({ name }) => name);
    case "object":
      return type.node?.typeNames ?? [];
    default:
      return [];
  }
}

function namedOf(type: TypeRef): NamedType {
  return type.kind === "list" ? namedOf(type.element) : type.type;
}
