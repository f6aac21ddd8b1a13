/** What the columns of a frame hold for one row, and what a shape asks of them. */
import type { EdgeFrame, FieldColumn, Frame } from "../exec/frame.ts";
import type { Cell } from "../graph/reader.ts";
import type { FieldShape, ObjectShape, TypedFields } from "./graphql-shape.ts";

/** Whether objects of a shape have others below them. */
export function hasEdges(shape: ObjectShape): boolean {
  const isEdge = ({ value }: FieldShape): boolean => value.kind === "edge";
  if (shape.fields.some(isEdge)) return true;
  for (const { fields } of shape.byType?.values() ?? []) if (fields.some(isEdge)) return true;
  return false;
}

/** A column of edges that lead to nodes of a frame. */
export function withChild(column: FieldColumn | undefined): EdgeFrame | undefined {
  return column?.kind === "edges" && column.child !== undefined ? column : undefined;
}

/** The first of a node's types that the shape knows. */
export function typeOfRow(frame: Frame, row: number, shape: ObjectShape): TypedFields | undefined {
  const column = frame.fields[shape.typeField];
  if (column?.kind !== "cells") return undefined;
  for (const cell of column.cells[row] ?? []) {
    const typed = shape.byType?.get(cell.text);
    if (typed !== undefined) return typed;
  }
  return undefined;
}

export function cellOf(column: FieldColumn | undefined, row: number): Cell | undefined {
  if (column?.kind === "cell") return column.cells[row];
  return column?.kind === "cells" ? column.cells[row]?.[0] : undefined;
}

export function cellsOf(column: FieldColumn | undefined, row: number): readonly Cell[] {
  if (column?.kind === "cells") return column.cells[row] ?? noCells;
  const cell = column?.kind === "cell" ? column.cells[row] : undefined;
  return cell === undefined ? noCells : [cell];
}

const noCells: readonly Cell[] = [];
