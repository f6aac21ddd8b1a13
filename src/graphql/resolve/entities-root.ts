/**
 * `_entities`: the nodes that a federation's gateway asks for by their keys, in the order asked (reference/graphql 2.12).
 */
import { must } from "../../base/assert.ts";
import type { BlockResult } from "../../exec/frame.ts";
import type { CompiledSchema, FieldDefinition, NodeType } from "../schema/compiled-schema.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue } from "../operation/arguments.ts";
import { isNode } from "../operation/meta.ts";

/** What the representations of a request ask for. */
export interface Entities {
  readonly type: NodeType;
  /** The field of `@key`. */
  readonly key: FieldDefinition;
  /** Of each representation, in their order; the same may come twice. */
  readonly values: readonly ArgumentValue[];
}

/** The representations cannot be read. */
export class EntitiesRefused extends Error {
  override readonly name = "EntitiesRefused";
}

/** Throws EntitiesRefused. `values`: the arguments of the root field. */
export function readEntities(schema: CompiledSchema, values: ArgumentObject): Entities {
  const given = values["representations"];
  if (!isArgumentList(given)) throw new EntitiesRefused("error parsing `representations` argument");
  const asked = given.map(readRepresentation);
  const names = [...new Set(asked.map(({ name }) => name))];
  const [name, other] = names;
  if (name === undefined) {
    throw new EntitiesRefused("expecting at least one item in `representations` argument");
  }
  const type = findEntity(schema, name);
  if (other !== undefined) {
    throw new EntitiesRefused(
      `expected only one unique typename in \`_representations\` argument, got: [${names.join(", ")}]`,
    );
  }
  const key = keyOf(type);
  const keys = asked.map(({ fields }, i) => {
    const value = fields[key.name];
    if (value !== undefined && value !== null) return value;
    throw new EntitiesRefused(
      `unable to extract value for key field \`${key.name}\` from ${i}th item in the \`_representations\` argument`,
    );
  });
  return { type, key, values: keys };
}

function readRepresentation(
  fields: ArgumentValue,
  i: number,
): { readonly name: string; readonly fields: ArgumentObject } {
  const place = `${i}th item in the \`_representations\` argument`;
  if (!isArgumentObject(fields)) throw new EntitiesRefused(`error parsing ${place}`);
  const name = fields["__typename"];
  if (typeof name !== "string") {
    throw new EntitiesRefused(`unable to extract __typename from ${place}`);
  }
  return { name, fields };
}

function findEntity(schema: CompiledSchema, name: string): NodeType {
  const type = schema.types.get(name);
  if (type === undefined) throw new EntitiesRefused(`type ${name} not found in the schema`);
  if (!isNode(type) || type.node.key === undefined) {
    throw new EntitiesRefused(`type ${name} doesn't have a key Directive`);
  }
  return type;
}

function keyOf({ name, fields, node }: NodeType): FieldDefinition {
  const key = fields.get(node.key ?? "");
  if (key === undefined) throw new EntitiesRefused(`type ${name} doesn't have a key Directive`);
  return key;
}

/**
 * The row of each entity, in the order asked; −1 where there is none, or the caller may not see it. `keyField`: the
 * level's field with the keys; −1 where nodes are known by their uids.
 */
export function rowsOfEntities(
  block: BlockResult,
  keyField: number,
  { values }: Entities,
): readonly number[] {
  const column = block.frame.fields[keyField];
  const rows = new Map<string, number>();
  for (const row of block.rows) {
    const key =
      column?.kind === "cell"
        ? (column.cells[row]?.text ?? "")
        : String(must(block.frame.uids[row], "each row has its node"));
    rows.set(key, row);
  }
  return values.map((value) => {
    const text = argumentText(value);
    const key = column === undefined ? String(Number(text)) : text;
    return rows.get(key) ?? -1;
  });
}
