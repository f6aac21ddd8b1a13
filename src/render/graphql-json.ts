/**
 * SPEAK, GraphQL: frames of a run + the shape of an answer → JSON bytes, with null propagation
 * (reference/graphql 4.10). One walk, no intermediate objects; what turns out to be null is cut back. Never here: an
 * await, a read.
 */
import type { Steps } from "../base/maybe.ts";
import { must, unreachable } from "../base/assert.ts";
import type { BlockResult, EdgeFrame, FieldColumn, Frame } from "../exec/frame.ts";
import type { Cell } from "../graph/reader.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { RenderYielder } from "./render-yielder.ts";
import { aggregateOf, writeAggregate } from "./graphql-aggregate.ts";
import { cellOf, cellsOf, hasEdges, typeOfRow, withChild } from "./graphql-frame.ts";
import { writeGeometry } from "./graphql-geo.ts";
import type {
  AggregateMemberShape,
  EdgeAggregateShape,
  FieldShape,
  LambdaShape,
  LambdaValues,
  ObjectShape,
  ScalarShape,
  ValueShape,
} from "./graphql-shape.ts";
import { writeGeometries, writeGraphqlScalar, writeVector } from "./graphql-values.ts";

/** Something of the answer that is not as the schema says. `place`: the number of the field in the document. */
export interface CompletionError {
  readonly message: string;
  readonly path: readonly (string | number)[];
  readonly place: number;
  readonly extensions?: unknown;
}

const comma = 44;
const braceOpen = 123;
const braceClose = 125;
const bracketOpen = 91;
const bracketClose = 93;

const listReturned =
  "A list was returned, but GraphQL was expecting just one item. This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned.";

/** What was computed before rendering. */
interface Computed {
  /** `vector_distance` by uid, of a vector search. */
  readonly distances?: ReadonlyMap<number, number> | undefined;
  readonly lambda?: LambdaValues | undefined;
}

const nothingComputed: Computed = {};

/** Writes one root field's value, and notes what is wrong with it. */
export class GraphqlRenderer {
  readonly #out: JsonWriter;
  readonly #errors: CompletionError[];
  readonly #path: (string | number)[] = [];
  readonly #computed: Computed;

  constructor(
    out: JsonWriter,
    errors: CompletionError[],
    path: readonly (string | number)[],
    computed: Computed = nothingComputed,
  ) {
    this.#out = out;
    this.#errors = errors;
    this.#path.push(...path);
    this.#computed = computed;
  }

  /**
   * A list of nodes; elements that may not be null where they are, are. Always a list: roots are `[T]`. Row −1 is no node:
   * null.
   */
  list(block: BlockResult, shape: ObjectShape, rows: ArrayLike<number> = block.rows): void {
    const out = this.#out;
    out.byte(bracketOpen);
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) out.byte(comma);
      this.#path.push(i);
      const row = must(rows[i], "below the number of rows");
      if (row < 0 || !this.#object(block.frame, row, shape)) out.ascii("null");
      this.#path.pop();
    }
    out.byte(bracketClose);
  }

  /** `list`, in steps. */
  *listInSteps(
    block: BlockResult,
    shape: ObjectShape,
    renderYielder: RenderYielder,
    rows: ArrayLike<number> = block.rows,
  ): Steps<void> {
    const out = this.#out;
    const isDeep = hasEdges(shape);
    out.byte(bracketOpen);
    for (let i = 0; i < rows.length; i++) {
      const pause = renderYielder.next();
      if (pause !== undefined) yield pause;
      if (i > 0) out.byte(comma);
      this.#path.push(i);
      const row = must(rows[i], "below the number of rows");
      const isWritten =
        row >= 0 &&
        (isDeep
          ? yield* this.#objectInSteps(block.frame, row, shape, renderYielder)
          : this.#object(block.frame, row, shape));
      if (!isWritten) out.ascii("null");
      this.#path.pop();
    }
    out.byte(bracketClose);
  }

  /** `single`, in steps. */
  *singleInSteps(
    block: BlockResult,
    shape: ObjectShape,
    place: number,
    renderYielder: RenderYielder,
  ): Steps<void> {
    const [row] = block.rows;
    if (row === undefined || block.rows.length > 1) this.single(block, shape, place);
    else if (!(yield* this.#objectInSteps(block.frame, row, shape, renderYielder)))
      this.#out.ascii("null");
  }

  /** One node, or null; several are an error. */
  single(block: BlockResult, shape: ObjectShape, place: number): void {
    const row = block.rows[0];
    if (row === undefined) this.#out.ascii("null");
    else if (block.rows.length > 1) {
      this.#fail(listReturned, place);
      this.#out.ascii("null");
    } else if (!this.#object(block.frame, row, shape)) this.#out.ascii("null");
  }

  /** False: null goes up, nothing is written. */
  #object(frame: Frame, row: number, shape: ObjectShape): boolean {
    const out = this.#out;
    const mark = out.length;
    const typed = shape.byType === undefined ? undefined : typeOfRow(frame, row, shape);
    const fields = typed === undefined ? shape.fields : typed.fields;
    out.byte(braceOpen);
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as FieldShape;
      if (i > 0) out.byte(comma);
      out.bytes(field.keyBytes);
      if (this.#field(frame, row, field, typed?.typeName ?? shape.typeName)) continue;
      out.rewind(mark);
      return false;
    }
    out.byte(braceClose);
    return true;
  }

  /** `#object`, in steps: for objects with lists below them. */
  *#objectInSteps(
    frame: Frame,
    row: number,
    shape: ObjectShape,
    renderYielder: RenderYielder,
  ): Steps<boolean> {
    const typed = shape.byType === undefined ? undefined : typeOfRow(frame, row, shape);
    const fields = typed === undefined ? shape.fields : typed.fields;
    const out = this.#out;
    const mark = out.length;
    out.byte(braceOpen);
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as FieldShape;
      if (i > 0) out.byte(comma);
      out.bytes(field.keyBytes);
      const isWritten =
        field.value.kind === "edge"
          ? yield* this.#edgeInSteps(frame, row, { field, shape: field.value }, renderYielder)
          : this.#field(frame, row, field, typed?.typeName ?? shape.typeName);
      if (isWritten) continue;
      out.rewind(mark);
      return false;
    }
    out.byte(braceClose);
    return true;
  }

  /** Parents of a lambda field as a list of objects with those fields that have a value (reference/graphql 7.4.1). */
  parents(frame: Frame, rows: ArrayLike<number>, fields: readonly FieldShape[]): void {
    const out = this.#out;
    out.byte(bracketOpen);
    for (let i = 0; i < rows.length; i++) {
      const row = must(rows[i], "below the number of rows");
      if (i > 0) out.byte(comma);
      out.byte(braceOpen);
      let count = 0;
      for (const field of fields) {
        const { value } = field;
        const column = "field" in value ? frame.fields[value.field] : undefined;
        if (value.kind !== "uid" && !cellsOf(column, row).some((cell) => cell.jsonLength > 0)) {
          continue;
        }
        if (count++ > 0) out.byte(comma);
        out.bytes(field.keyBytes);
        this.#field(frame, row, field, "");
      }
      out.byte(braceClose);
    }
    out.byte(bracketClose);
  }

  #field(frame: Frame, row: number, field: FieldShape, typeName: string): boolean {
    const value = field.value;
    const column = "field" in value ? frame.fields[value.field] : undefined;
    switch (value.kind) {
      case "uid":
        return this.#uid(must(frame.uids[row], "each row has its node"));
      case "typename":
        this.#out.text(JSON.stringify(typeName));
        return true;
      case "scalar":
        return this.#scalarField(cellOf(column, row), field, value.scalar);
      case "scalars":
        return this.#scalars(cellsOf(column, row), field, value);
      case "vector":
        writeVector(this.#out, cellOf(column, row)?.value);
        return true;
      case "geo":
        if (value.isList) {
          writeGeometries(this.#out, cellsOf(column, row), value.geo);
          return true;
        }
        if (writeGeometry(this.#out, cellOf(column, row)?.value, value.geo)) return true;
        return this.#missing(field);
      case "edge":
        return this.#edge(column, row, field, value);
      case "aggregate":
        this.#aggregate(frame, row, value.aggregate);
        return true;
      case "lambda":
        return this.#lambda(row, field, value);
      case "distance":
        return this.#distance(must(frame.uids[row], "each row has its node"), field);
      case "nothing":
        if (!value.isList) return this.#missing(field);
        this.#out.ascii("[]");
        return true;
      default:
        return unreachable(value);
    }
  }

  #uid(uid: number): boolean {
    this.#out.uid(uid);
    return true;
  }

  /** No value: null, or the end of the object. */
  #missing(field: FieldShape): boolean {
    if (!field.nonNull) {
      this.#out.ascii("null");
      return true;
    }
    this.#path.push(field.key);
    this.#fail(
      `Non-nullable field '${field.name}' (type ${field.typeText}) was not present in result from Dgraph.  GraphQL error propagation triggered.`,
      field.place,
    );
    this.#path.pop();
    return false;
  }

  #fail(message: string, place: number): void {
    this.#errors.push({ message, path: [...this.#path], place });
  }

  #scalarField(cell: Cell | undefined, field: FieldShape, scalar: ScalarShape): boolean {
    if (cell === undefined || cell.jsonLength === 0) return this.#missing(field);
    if (writeGraphqlScalar(this.#out, cell, scalar)) return true;
    this.#path.push(field.key);
    this.#coercion(cell, field, scalar);
    this.#path.pop();
    return this.#afterFault(field);
  }

  /** A fault is noted already: null, or the end of the object without another one. */
  #afterFault(field: FieldShape): boolean {
    if (field.nonNull) return false;
    this.#out.ascii("null");
    return true;
  }

  #coercion(cell: Cell, field: FieldShape, scalar: ScalarShape): void {
    this.#fail(
      `Error coercing value '${cell.text}' for field '${field.name}' to type ${scalar.typeName}.`,
      field.place,
    );
  }

  #scalars(
    cells: readonly Cell[],
    field: FieldShape,
    shape: Extract<ValueShape, { kind: "scalars" }>,
  ): boolean {
    const out = this.#out;
    const mark = out.length;
    out.byte(bracketOpen);
    let count = 0;
    for (const cell of cells) {
      if (cell.jsonLength === 0) continue;
      if (count > 0) out.byte(comma);
      if (!writeGraphqlScalar(this.#out, cell, shape.scalar)) {
        this.#path.push(field.key, count);
        this.#coercion(cell, field, shape.scalar);
        this.#path.length -= 2;
        if (shape.elementNonNull) {
          out.rewind(mark);
          return this.#afterFault(field);
        }
        out.ascii("null");
      }
      count++;
    }
    out.byte(bracketClose);
    return true;
  }

  #lambda(row: number, field: FieldShape, shape: LambdaShape): boolean {
    const text = this.#computed.lambda?.get(shape)?.[row];
    if (typeof text === "string") {
      this.#out.text(text);
      return true;
    }
    if (typeof text === "object" && text !== null) {
      this.#errors.push({ ...text, path: [...this.#path, field.key], place: field.place });
      if (!shape.isList) return this.#afterFault(field);
    } else if (!shape.isList) return this.#missing(field);
    if (text === null) return this.#afterFault(field);
    this.#out.ascii("[]");
    return true;
  }

  #distance(uid: number, field: FieldShape): boolean {
    const distance = this.#computed.distances?.get(uid);
    if (distance === undefined || !Number.isFinite(distance)) return this.#missing(field);
    this.#out.ascii(String(distance));
    return true;
  }

  #edge(
    column: FieldColumn | undefined,
    row: number,
    field: FieldShape,
    shape: Extract<ValueShape, { kind: "edge" }>,
  ): boolean {
    const edges = withChild(column);
    const start = edges?.offsets[row] ?? 0;
    const end = edges?.offsets[row + 1] ?? 0;
    if (shape.isList) return this.#edgeList(edges, start, end, field, shape);
    const child = edges?.child;
    if (edges === undefined || child === undefined || start === end) return this.#missing(field);
    this.#path.push(field.key);
    let isWritten = false;
    if (end - start > 1) this.#fail(listReturned, field.place);
    else
      isWritten = this.#object(
        child,
        must(edges.rows[start], "each edge has its row"),
        shape.object,
      );
    this.#path.pop();
    return isWritten || this.#afterFault(field);
  }

  #edgeList(
    edges: EdgeFrame | undefined,
    start: number,
    end: number,
    field: FieldShape,
    shape: Extract<ValueShape, { kind: "edge" }>,
  ): boolean {
    const out = this.#out;
    const mark = out.length;
    const path = this.#path;
    const child = edges?.child;
    out.byte(bracketOpen);
    if (edges !== undefined && child !== undefined) {
      path.push(field.key);
      for (let e = start; e < end; e++) {
        if (e > start) out.byte(comma);
        path.push(e - start);
        const isWritten = this.#object(
          child,
          must(edges.rows[e], "each edge has its row"),
          shape.object,
        );
        path.pop();
        if (isWritten) continue;
        if (shape.elementNonNull) {
          path.pop();
          out.rewind(mark);
          return this.#afterFault(field);
        }
        out.ascii("null");
      }
      path.pop();
    }
    out.byte(bracketClose);
    return true;
  }

  /** `#edge`, in steps. */
  *#edgeInSteps(
    frame: Frame,
    row: number,
    { field, shape }: EdgeAt,
    renderYielder: RenderYielder,
  ): Steps<boolean> {
    const edges = withChild(frame.fields[shape.field]);
    const start = edges?.offsets[row] ?? 0;
    const end = edges?.offsets[row + 1] ?? 0;
    const child = edges?.child;
    if (edges === undefined || child === undefined || (!shape.isList && end - start !== 1)) {
      return this.#edge(frame.fields[shape.field], row, field, shape);
    }
    const path = this.#path;
    path.push(field.key);
    if (!shape.isList) {
      const childRow = must(edges.rows[start], "each edge has its row");
      const isWritten = yield* this.#objectInSteps(child, childRow, shape.object, renderYielder);
      path.pop();
      return isWritten || this.#afterFault(field);
    }
    const out = this.#out;
    const mark = out.length;
    const isDeep = hasEdges(shape.object);
    out.byte(bracketOpen);
    for (let e = start; e < end; e++) {
      const pause = renderYielder.next();
      if (pause !== undefined) yield pause;
      if (e > start) out.byte(comma);
      path.push(e - start);
      const childRow = must(edges.rows[e], "each edge has its row");
      const isWritten = isDeep
        ? yield* this.#objectInSteps(child, childRow, shape.object, renderYielder)
        : this.#object(child, childRow, shape.object);
      path.pop();
      if (isWritten) continue;
      if (shape.elementNonNull) {
        path.pop();
        out.rewind(mark);
        return this.#afterFault(field);
      }
      out.ascii("null");
    }
    path.pop();
    out.byte(bracketClose);
    return true;
  }

  #aggregate(frame: Frame, row: number, shape: EdgeAggregateShape): void {
    const column = frame.fields[shape.field];
    const edges = column?.kind === "edges" ? column : undefined;
    const start = edges?.offsets[row] ?? 0;
    const end = edges?.offsets[row + 1] ?? 0;
    const count =
      column?.kind === "count" ? must(column.counts[row], "each row has its count") : end - start;
    writeAggregate(this.#out, shape.typeName, shape.members, count, (member) => {
      const values = edges?.child?.fields[member.field];
      if (edges === undefined || values === undefined) return undefined;
      return aggregateOf(member.function, values, edges.rows.subarray(start, end));
    });
  }

  /** `aggregateT`: a count and the fields of the block of aggregates. */
  rootAggregate(
    typeName: string,
    members: readonly AggregateMemberShape[],
    count: number,
    frame: Frame | undefined,
  ): void {
    writeAggregate(this.#out, typeName, members, count, (member) => {
      const column = frame?.fields[member.field];
      return column?.kind === "computed" ? column.values[0] : undefined;
    });
  }
}

/** An edge field, and how it is written. */
interface EdgeAt {
  readonly field: FieldShape;
  readonly shape: Extract<ValueShape, { kind: "edge" }>;
}
