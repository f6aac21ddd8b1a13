/** Which nodes the ids of an input name: one run for all of them (reference/graphql 5.1 step 2). */
import { must } from "../../base/assert.ts";
import { isIdentifying } from "../../tokens/tokenizers.ts";
import type { ExecutionResult } from "../../exec/frame.ts";
import type { Block, Field } from "../../dql/ast.ts";
import type { Cell, ListRef, Reader } from "../../graph/reader.ts";
import { indexTokens } from "../../graph/value-tokens.ts";
import { Lru } from "../../base/lru.ts";
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { FieldDefinition } from "../schema/compiled-schema.ts";
import {
  compareCall,
  literal,
  makeLowerContext,
  predicateField,
  predicateName,
  loweredPredicateOf,
  queryBlock,
} from "./lower-context.ts";
import { PlannedTree } from "./lower-run.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { RunSettings } from "./lower-run.ts";
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
    const predicate = loweredPredicateOf(field)?.name ?? "";
    let entry = this.#xids.get(predicate);
    if (entry === undefined) this.#xids.set(predicate, (entry = { field, texts: new Map() }));
    entry.texts.set(key, text);
  }

  get isEmpty(): boolean {
    return this.#xids.size === 0 && this.#ids.size === 0;
  }

  /** Reads them all: ids in one level, values in one run. */
  find(reader: Reader, settings: RunSettings, budget: RequestBudget): MaybePromise<Lookups> {
    const found = new Lookups();
    const read = this.#ids.size > 0 ? readIds(reader, [...this.#ids], found) : undefined;
    if (this.#xids.size === 0) return andThen(read, () => found);
    return this.#findValues(reader, settings, budget, found, read);
  }

  /** The lists under which the holders of the values stand; undefined where an index does not say it. */
  #tokens(reader: Reader): ListRef[] | undefined {
    const lists: ListRef[] = [];
    for (const { field, texts } of this.#xids.values()) {
      const predicate = reader.schema.predicate(loweredPredicateOf(field)?.name ?? "");
      const index = predicate?.indexes.find((one) => one.state === "ready" && isIdentifying(one));
      if (predicate?.definition.kind !== "string" || index === undefined) return undefined;
      for (const text of texts.values()) {
        const value = { kind: "string", text } as const;
        for (const token of indexTokens(predicate, index, { value, language: "" })) {
          lists.push({ kind: "token", index: index.id, token });
        }
      }
    }
    return lists;
  }

  async #findValues(
    reader: Reader,
    settings: RunSettings,
    budget: RequestBudget,
    found: Lookups,
    read: MaybePromise<void>,
  ): Promise<Lookups> {
    await read;
    // New nodes have new ids: most look-ups find their lists empty, and need no run.
    const tokens = this.#tokens(reader);
    if (tokens !== undefined) {
      const members = await reader.readLists(tokens, { limit: 1 });
      if (members.every((uids) => uids.length === 0)) return found;
    }
    const context = makeLowerContext(undefined);
    const fields = [...this.#xids.values()];
    const blocks: Block[] = [];
    let shape = "";
    for (const { field, texts } of fields) {
      const predicate = loweredPredicateOf(field) ?? predicateName("");
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
    const tree = treeOf(shape, blocks);
    const result = await tree.run(reader, context.texts, settings, budget);
    fields.forEach(({ field }, i) => readValues(result, i, field, found));
    return found;
  }
}

const typesName = "dgraph.type";
const typesField: Field = predicateField("types", predicateName(typesName));

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

/** A number that was never given out is a node without types. */
function readIds(reader: Reader, ids: readonly string[], found: Lookups): MaybePromise<void> {
  const predicate = reader.schema.predicate(typesName);
  if (predicate === undefined) return undefined;
  const known: string[] = [];
  const numbers = new Float64Array(ids.length);
  for (const id of ids) {
    const uid = Number(id);
    if (!Number.isSafeInteger(uid)) continue;
    numbers[known.length] = uid;
    known.push(id);
  }
  if (known.length === 0) return undefined;
  const uids = numbers.subarray(0, known.length);
  const request = { kind: "cells", predicate: predicate.id } as const;
  return andThen(reader.readLevel(uids, [request]), ([column]) => {
    for (const [row, uid] of uids.entries()) {
      const id = must(known[row], "an id for each uid");
      found.addId(id, { uid, types: typesOf(column.cells[row]) });
    }
  });
}

const noTypes: ReadonlySet<string> = new Set();
/** Of nodes with one type, by its name. */
const typeSets = new Map<string, ReadonlySet<string>>();
const typeSetsMax = 1000;

function typesOf(cells: readonly Cell[] | undefined): ReadonlySet<string> {
  const name = cells?.[0]?.text;
  if (cells === undefined || name === undefined) return noTypes;
  if (cells.length > 1) return new Set(cells.map((cell) => cell.text));
  let types = typeSets.get(name);
  if (types === undefined) {
    if (typeSets.size >= typeSetsMax) typeSets.clear();
    typeSets.set(name, (types = new Set([name])));
  }
  return types;
}

function nodeAt(result: ExecutionResult, index: number, row: number): FoundNode {
  const frame = result.blocks[index]?.frame;
  const types = frame?.fields[0];
  const names = types?.kind === "cells" ? (types.cells[row] ?? []) : [];
  return { uid: frame?.uids[row] ?? 0, types: typesOf(names) };
}
