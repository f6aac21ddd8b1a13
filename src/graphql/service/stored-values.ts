/**
 * Stored values that a new schema could not answer with: two nodes with one value of a new `@id`, values that are none
 * of the field's new type, values that its enum does not have. Price: one read of each predicate whose field changes so,
 * in slices, and 8 bytes for each node that gets an `@id`.
 */
import type { Reader } from "../../graph/reader.ts";
import type { Predicate } from "../../graph/schema.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import { convertValue } from "../../model/convert.ts";
import { printValueText } from "../../model/print-value.ts";
import { printUid } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import { SchemaFault } from "../schema/schema-fault.ts";
import type { CompiledSchema, NodeType, ValueSource } from "../schema/compiled-schema.ts";

/** Nodes that are read at a time: a slice takes a few milliseconds. */
const nodesAtOnce = 256;
/** Values that a message shows, and characters of each. */
const shownMax = 3;
const shownLength = 60;

interface ChangedField {
  readonly type: NodeType;
  readonly name: string;
  readonly source: ValueSource;
  readonly predicate: Predicate;
}

/**
 * Throws SchemaFault, a problem for each field, where `next` could not answer with what the reader's namespace holds.
 * `before`: the schema that is served; undefined for none. Gives others their turn between slices.
 */
export async function checkStoredValues(
  next: CompiledSchema,
  before: CompiledSchema | undefined,
  reader: Reader,
): Promise<void> {
  const problems: string[] = [];
  for (const field of listFields(next, reader)) {
    const misfit = await findMisfit(field, before, reader);
    if (misfit !== undefined) problems.push(misfit);
    const repeated = isNewKey(field) ? await findRepeated(field, reader) : undefined;
    if (repeated !== undefined) problems.push(repeated);
  }
  if (problems.length > 0) throw new SchemaFault(problems.map((line) => `input: ${line}`));
}

/** Those whose predicates hold values already. An implementing type's inherited fields are told with their own type. */
function listFields({ nodes }: CompiledSchema, { schema }: Reader): readonly ChangedField[] {
  return nodes.flatMap((type) =>
    [...type.fields.values()].flatMap(({ name, source }) => {
      if (source.kind !== "value") return [];
      const predicate = schema.predicate(source.predicate);
      if (predicate === undefined || predicate.definition.kind === "uid") return [];
      return [{ type, name, source, predicate }];
    }),
  );
}

function isNewKey({ type, source, predicate }: ChangedField): boolean {
  if (source.xid === undefined || predicate.definition.upsert) return false;
  // Where a key is the whole interface's, its nodes are looked at once.
  return source.xid.isInterfaceWide === (type.kind === "interface");
}

async function findMisfit(
  field: ChangedField,
  before: CompiledSchema | undefined,
  reader: Reader,
): Promise<string | undefined> {
  const { type, name, source, predicate } = field;
  const fits = fitsOf(field, before);
  // Nodes of a type that inherits the field have the interface's type, too.
  if (fits === undefined || isInherited(field)) return undefined;
  const shown: string[] = [];
  let count = 0;
  await readNodes(field, reader, (uid, values) => {
    const odd = values.find((value) => !fits(value));
    if (odd === undefined) return;
    count++;
    if (shown.length < shownMax) shown.push(`${show(odd)} at ${printUid(uid)}`);
  });
  if (count === 0) return undefined;
  const nodes = count === 1 ? "1 node has a value" : `${count} nodes have values`;
  const kind = source.valueType.kind === "enum" ? "enum" : "type";
  return (
    `Type ${type.name}; Field ${name}: ${nodes} of ${predicate.definition.name} that ` +
    `${kind} ${source.valueType.name} does not have: ${shown.join(", ")}. ` +
    `Change them first, or store the field elsewhere with @dgraph(pred:).`
  );
}

function isInherited({ type, name }: ChangedField): boolean {
  return type.kind === "object" && type.interfaces.some((one) => one.fields.has(name));
}

/** Whether a stored value is one of the field's type; undefined where all are that have been so far. */
function fitsOf(
  { type, name, source, predicate }: ChangedField,
  before: CompiledSchema | undefined,
): ((value: Value) => boolean) | undefined {
  const { valueType, valueKind } = source;
  if (valueType.kind === "enum") {
    const old = before?.nodes.find((one) => one.name === type.name)?.fields.get(name)?.source;
    const oldType = old?.kind === "value" ? old.valueType : undefined;
    const isWider =
      oldType?.kind === "enum" &&
      [...oldType.values.keys()].every((one) => valueType.values.has(one));
    return isWider ? undefined : (value) => valueType.values.has(printValueText(value));
  }
  const { kind } = predicate.definition;
  if (kind === valueKind || (kind === "default" && valueKind === "string")) return undefined;
  return (value) => isConvertible(value, source);
}

function isConvertible(value: Value, { valueKind }: ValueSource): boolean {
  try {
    convertValue(value, valueKind);
    return true;
  } catch (error) {
    if (error instanceof ConversionError) return false;
    throw error;
  }
}

async function findRepeated(field: ChangedField, reader: Reader): Promise<string | undefined> {
  const hashes = new GrowingNumbers();
  await readNodes(field, reader, (_uid, [value]) => {
    if (value !== undefined) hashes.push(hashText(printValueText(value)));
  });
  const suspects = hashes.repeated();
  if (suspects.size === 0) return undefined;
  // Two texts may have one hash: those that do are compared.
  const uidsOf = new Map<string, number[]>();
  await readNodes(field, reader, (uid, [value]) => {
    const text = value === undefined ? "" : printValueText(value);
    if (value === undefined || !suspects.has(hashText(text))) return;
    const uids = uidsOf.get(text);
    if (uids === undefined) uidsOf.set(text, [uid]);
    else uids.push(uid);
  });
  const repeated = [...uidsOf].filter(([, uids]) => uids.length > 1);
  if (repeated.length === 0) return undefined;
  const shown = repeated
    .slice(0, shownMax)
    .map(([text, uids]) => `${cut(text)} at ${uids.slice(0, shownMax).map(printUid).join(", ")}`);
  const values = repeated.length === 1 ? "1 value is" : `${repeated.length} values are`;
  return (
    `Type ${field.type.name}; Field ${field.name}: @id needs values that no two nodes have, and ` +
    `${values} stored at several: ${shown.join("; ")}. Change them first.`
  );
}

/** Nodes of the field's type with their values, in slices. */
async function readNodes(
  { type, predicate }: ChangedField,
  reader: Reader,
  visit: (uid: number, values: readonly Value[]) => void,
): Promise<void> {
  const types = reader.schema.predicate("dgraph.type");
  if (types === undefined) return;
  const list = { kind: "presence", predicate: predicate.id } as const;
  const requests = [
    { kind: "cells", predicate: predicate.id },
    { kind: "cells", predicate: types.id },
  ] as const;
  for (let after = 0; ;) {
    const [uids] = await reader.readLists([list], { after, limit: nodesAtOnce });
    const [values, names] = await reader.readLevel(uids, requests);
    uids.forEach((uid, row) => {
      const isMeant = names.cells[row]?.some(({ text }) => text === type.node.typeName) === true;
      if (isMeant)
        visit(
          uid,
          (values.cells[row] ?? []).map(({ value }) => value),
        );
    });
    if (uids.length < nodesAtOnce) return;
    after = uids.at(-1) ?? after;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function show(value: Value): string {
  return cut(printValueText(value));
}

function cut(text: string): string {
  return JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);
}

/** 53 bits of two sums over the characters (FNV-1a with two bases). */
function hashText(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x01000193 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0) * 2 ** 21 + (b >>> 11);
}

class GrowingNumbers {
  #numbers = new Float64Array(1024);
  #length = 0;

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Float64Array(2 * this.#length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = number;
  }

  /** Numbers that were pushed more than once. */
  repeated(): ReadonlySet<number> {
    const sorted = this.#numbers.subarray(0, this.#length).sort();
    const found = new Set<number>();
    for (let i = 1; i < sorted.length; i++) {
      const number = sorted[i];
      if (number !== undefined && number === sorted[i - 1]) found.add(number);
    }
    return found;
  }
}
