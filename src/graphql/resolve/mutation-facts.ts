/** Values of an input → facts for the write (reference/graphql 5.2, 5.6). Edges are kept by mutation-edges.ts. */
import type { NodeRef, NQuad, ObjectRef } from "../../model/nquad.ts";
import { makeInt } from "../../model/value.ts";
import type { Value } from "../../model/value.ts";
import type { FieldDefinition, NodeType, ValueSource } from "../schema/compiled-schema.ts";
import { geometryOf } from "./lower-geo.ts";
import { argumentText, isArgumentList } from "../operation/arguments.ts";
import type { ArgumentValue } from "../operation/arguments.ts";

/** What a mutation writes; sets first, then deletes, where both name one value. */
export class FactList {
  readonly set: NQuad[] = [];
  readonly delete: NQuad[] = [];

  get isEmpty(): boolean {
    return this.set.length === 0 && this.delete.length === 0;
  }

  /** The types of a new node. */
  addTypes(subject: NodeRef, type: NodeType): void {
    for (const text of type.node.typeNames) {
      this.set.push(fact(subject, "dgraph.type", "", valueOf({ kind: "string", text })));
    }
  }

  /** A given value; null says nothing. */
  addValue(subject: NodeRef, field: FieldDefinition, value: ArgumentValue): void {
    if (value === null || value === undefined) return;
    for (const stored of storedValues(field, value)) {
      this.set.push(storedFact(subject, field.source as ValueSource, valueOf(stored)));
    }
  }

  removeValue(subject: NodeRef, field: FieldDefinition, value: ArgumentValue): void {
    for (const stored of storedValues(field, value)) {
      this.delete.push(storedFact(subject, field.source as ValueSource, valueOf(stored)));
    }
  }

  /** Every value of the field's predicate, in all languages where the field has none. */
  removeAll(subject: NodeRef, source: ValueSource): void {
    this.delete.push(storedFact(subject, source, { kind: "star" }));
  }

  addPassword(subject: NodeRef, predicate: string, text: string): void {
    this.set.push(fact(subject, predicate, "", valueOf({ kind: "string", text })));
  }

  removePassword(subject: NodeRef, predicate: string): void {
    this.delete.push(fact(subject, predicate, "", { kind: "star" }));
  }

  addEdge(subject: NodeRef, predicate: string, node: NodeRef): void {
    this.set.push(fact(subject, predicate, "", { kind: "node", node }));
  }

  removeEdge(subject: NodeRef, predicate: string, node: NodeRef): void {
    this.delete.push(fact(subject, predicate, "", { kind: "node", node }));
  }

  /** A node with everything that its types name. */
  removeNode(subject: NodeRef): void {
    this.delete.push(fact(subject, "*", "", { kind: "star" }));
  }
}

function fact(subject: NodeRef, predicate: string, language: string, object: ObjectRef): NQuad {
  return { subject, predicate, language, object, facets: undefined };
}

function storedFact(subject: NodeRef, source: ValueSource, object: ObjectRef): NQuad {
  return fact(subject, source.predicate, source.languages[0] ?? "", object);
}

function valueOf(value: Value): ObjectRef {
  return { kind: "value", value };
}

/** The stored values of a field's value: several for a list, none for null. */
function storedValues(field: FieldDefinition, value: ArgumentValue): Value[] {
  const source = field.source;
  if (source.kind !== "value" || value === null || value === undefined) return [];
  if (source.isEmbedding) return [vectorOf(value)];
  if (!isArgumentList(value)) return scalarOf(source, value);
  return value.flatMap((item) => scalarOf(source, item));
}

function vectorOf(value: ArgumentValue): Value {
  const numbers = isArgumentList(value) ? value.map((n) => Number(argumentText(n))) : [];
  return { kind: "float32vector", vector: Float32Array.from(numbers) };
}

/** Dates stay texts: the engine reads them, and refuses them in its own words. */
function scalarOf(source: ValueSource, value: ArgumentValue): Value[] {
  if (value === null || value === undefined) return [];
  if (source.valueKind === "geo") {
    const geometry = geometryOf(source.valueType.name, value);
    return geometry === undefined ? [] : [{ kind: "geo", geometry }];
  }
  const text = argumentText(value);
  switch (source.valueKind) {
    case "int":
      if (typeof value === "number" && Number.isSafeInteger(value)) {
        return [{ kind: "int", int: value + 0 }];
      }
      return /^[+-]?[0-9]+$/.test(text)
        ? [makeInt(BigInt(text.replace(/^\+/, "")))]
        : [{ kind: "default", text }];
    case "float": {
      const float = Number(text);
      return Number.isNaN(float) ? [{ kind: "default", text }] : [{ kind: "float", float }];
    }
    case "bool":
      return typeof value === "boolean"
        ? [{ kind: "bool", bool: value }]
        : [{ kind: "default", text }];
    case "datetime":
      return [{ kind: "default", text }];
    default:
      return [{ kind: "string", text }];
  }
}

/** The value that `@default` gives. `$now`: the time of the write, to the millisecond. */
export function defaultFactOf(
  field: FieldDefinition,
  when: "add" | "update",
  nowMs: number,
): ArgumentValue {
  const source = field.source;
  const text = source.kind === "value" ? source.defaults[when] : undefined;
  if (text === undefined || source.kind !== "value") return undefined;
  if (text === "$now") return new Date(nowMs).toISOString();
  return source.valueKind === "bool" ? text === "true" : text;
}
