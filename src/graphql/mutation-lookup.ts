/** Which nodes the ids of an input name: one run for all of them (graphql.md 5.1, stage 2). */
import type { ExecutionResult } from "../exec/frame.ts";
import type { Block, Field } from "../dql/ast.ts";
import type { Reader } from "../graph/reader.ts";
import { Lru } from "../base/lru.ts";
import type { FieldDefinition } from "./compiled-schema.ts";
import {
  compareCall,
  literal,
  makeLowerContext,
  predicateField,
  predicateName,
  predicateOf,
  queryBlock,
  uidCall,
} from "./lower-context.ts";
import { PlannedTree } from "./lower-run.ts";
import type { RunBounds, RunSettings } from "./lower-run.ts";
import { xidKey } from "./mutation-input.ts";
import type { InputNode } from "./mutation-input.ts";

export interface FoundNode {
  readonly uid: number;
  /** Its values of `dgraph.type`. */
  readonly types: ReadonlySet<string>;
}

/** What the ids of an input lead to. */
export class Lookups {
  readonly #byKey = new Map<string, FoundNode[]>();
  readonly #byId = new Map<string, FoundNode>();

  byKey(key: string): readonly FoundNode[] {
    return this.#byKey.get(key) ?? [];
  }

  byId(text: string): FoundNode | undefined {
    return this.#byId.get(text);
  }

  addKey(key: string, node: FoundNode): void {
    const nodes = this.#byKey.get(key);
    if (nodes === undefined) this.#byKey.set(key, [node]);
    else nodes.push(node);
  }

  addId(text: string, node: FoundNode): void {
    this.#byId.set(text, node);
  }
}

/** Values to look up, without repeats. */
export class LookupList {
  readonly #xids = new Map<
    string,
    { readonly field: FieldDefinition; readonly texts: Map<string, string> }
  >();
  readonly #ids = new Set<string>();

  addNodes(nodes: readonly InputNode[]): void {
    for (const node of nodes) {
      if (node.id !== undefined) this.#ids.add(node.id);
      for (const xid of node.xids) this.addXid(xid.field, xid.text, xid.key);
    }
  }

  addXid(field: FieldDefinition, text: string, key: string): void {
    const predicate = predicateOf(field)?.name ?? "";
    let entry = this.#xids.get(predicate);
    if (entry === undefined) this.#xids.set(predicate, (entry = { field, texts: new Map() }));
    entry.texts.set(key, text);
  }

  get isEmpty(): boolean {
    return this.#xids.size === 0 && this.#ids.size === 0;
  }

  /** Reads them all. */
  async find(reader: Reader, settings: RunSettings, bounds: RunBounds): Promise<Lookups> {
    const found = new Lookups();
    if (this.isEmpty) return found;
    const context = makeLowerContext(undefined);
    const fields = [...this.#xids.values()];
    const blocks: Block[] = [];
    let shape = "";
    for (const { field, texts } of fields) {
      const predicate = predicateOf(field) ?? predicateName("");
      const quoted = field.source.kind === "value" && field.source.valueKind !== "int";
      const values = [...texts.keys()].map((key) =>
        literal(
          context,
          quoted ? (texts.get(key) ?? "") : key.slice(predicate.name.length + 1),
          quoted,
        ),
      );
      shape += `${predicate.name} ${values.length}\n`;
      const children = [typesField, predicateField("value", predicate)];
      blocks.push(queryBlock(`x${blocks.length}`, compareCall("eq", predicate, values), children));
    }
    const ids = [...this.#ids];
    if (ids.length > 0) {
      shape += `uid ${ids.length}`;
      const uids = ids.map((id) => literal(context, id, false));
      blocks.push(queryBlock("ids", uidCall(uids), [typesField]));
    }
    const tree = treeOf(shape, blocks);
    const result = await tree.run(reader, context.texts, settings, bounds);
    fields.forEach(({ field }, i) => readValues(result, i, field, found));
    if (ids.length > 0) readIds(result, fields.length, ids, found);
    return found;
  }
}

const typesField: Field = predicateField("types", predicateName("dgraph.type"));

const treesMax = 256;
const trees = new Lru<string, PlannedTree>(treesMax);
/** Trees of longer lists are not met again. */
const keptShapeMax = 512;

function treeOf(shape: string, blocks: readonly Block[]): PlannedTree {
  const known = trees.get(shape);
  if (known !== undefined) return known;
  const tree = new PlannedTree({ blocks, schema: undefined });
  if (shape.length <= keptShapeMax) trees.set(shape, tree);
  return tree;
}

function readValues(
  result: ExecutionResult,
  index: number,
  field: FieldDefinition,
  found: Lookups,
): void {
  const block = result.blocks[index];
  const values = block?.frame.fields[1];
  if (block === undefined || values?.kind !== "cell") return;
  for (const row of block.rows) {
    const cell = values.cells[row];
    if (cell !== undefined) found.addKey(xidKey(field, cell.text), nodeAt(result, index, row));
  }
}

function readIds(
  result: ExecutionResult,
  index: number,
  ids: readonly string[],
  found: Lookups,
): void {
  const block = result.blocks[index];
  if (block === undefined) return;
  const byUid = new Map<number, FoundNode>();
  for (const row of block.rows) {
    const node = nodeAt(result, index, row);
    byUid.set(node.uid, node);
  }
  for (const id of ids) {
    const node = byUid.get(Number(id));
    if (node !== undefined) found.addId(id, node);
  }
}

function nodeAt(result: ExecutionResult, index: number, row: number): FoundNode {
  const frame = result.blocks[index]?.frame;
  const types = frame?.fields[0];
  const names = types?.kind === "cells" ? (types.cells[row] ?? []) : [];
  return { uid: frame?.uids[row] ?? 0, types: new Set(names.map((cell) => cell.text)) };
}
