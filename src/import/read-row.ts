/** A row → what it says: values, keys and links, checked as far as that goes without looking into the database. */
import type { KeySpec, LinkColumn, RowPlan, PlainColumn } from "./row-plan.ts";
import { errorColumn, placeColumn, type Row } from "./row.ts";
import { Unfit } from "./value-reader.ts";

/** One key's value. */
export interface RowKey {
  readonly spec: KeySpec;
  readonly value: string;
}

export interface ReadRow {
  readonly row: Row;
  /** Of the whole input, from 0. */
  readonly index: number;
  readonly keys: readonly RowKey[];
  readonly values: readonly { readonly column: PlainColumn; readonly texts: readonly string[] }[];
  readonly links: readonly { readonly column: LinkColumn; readonly values: readonly string[] }[];
}

/** What is wrong with a row. */
export interface RowFault {
  readonly row: Row;
  readonly index: number;
  readonly place: string;
  readonly reason: string;
}

export function readRow(plan: RowPlan, row: Row, index: number): ReadRow | RowFault {
  if (row.fault !== undefined) return { row, index, place: row.place, reason: row.fault };
  const keys: RowKey[] = [];
  const values: ReadRow["values"][number][] = [];
  const links: ReadRow["links"][number][] = [];
  for (const column of plan.columns) {
    const given = column.column === undefined ? column.constant : row.get(column.column);
    let texts: readonly string[];
    try {
      texts = column.read(given);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      const place = column.column === undefined ? row.place : row.placeOf(column.column);
      return { row, index, place, reason: `${column.field}: ${error.message}` };
    }
    if (texts.length === 0) continue;
    if (column.kind === "link") links.push({ column, values: texts });
    else {
      values.push({ column, texts });
      if (column.key !== undefined) keys.push({ spec: column.key, value: texts[0] ?? "" });
    }
  }
  if (values.length + links.length === 0) {
    return { row, index, place: row.place, reason: "no column of the row has a value" };
  }
  return { row, index, keys, values, links };
}

/** What a node has to have and the row does not give; undefined where nothing is missing. */
export function findMissing(plan: RowPlan, read: ReadRow): string | undefined {
  return plan.required.find(
    (name) =>
      !read.values.some(({ column }) => column.field === name) &&
      !read.links.some(({ column }) => column.field === name),
  );
}

/** Columns of a table that the mapping says nothing of, and columns of the mapping that the table lacks. */
export function findColumnFaults(plan: RowPlan, columns: readonly string[]): string[] {
  const { mapping, skipped } = plan;
  const wanted = plan.columns.flatMap(({ column }) => column ?? []);
  const known = new Set([...wanted, ...skipped, placeColumn, errorColumn]);
  const lacking = wanted.filter((name) => !columns.includes(name));
  const others = mapping.otherColumns === "skip" ? [] : columns.filter((name) => !known.has(name));
  return [
    ...lacking.map((name) => `there is no column "${name}"`),
    ...others.map(
      (name) => `the mapping says nothing of column "${name}" ("${name}: skip" leaves it out)`,
    ),
  ];
}
