/**
 * Lambda fields of a run: where they stand in its frames, and of which parents they are asked (reference/graphql 7.2).
 * A field of a level is asked once, with each parent once, in the order in which they are met.
 */
import { must } from "../base/assert.ts";
import type { BlockResult, Frame } from "../exec/frame.ts";
import { typeOfRow } from "./graphql-frame.ts";
import { GraphqlRenderer } from "./graphql-json.ts";
import type { FieldShape, LambdaShape, ObjectShape } from "./graphql-shape.ts";
import { takeWriter } from "./json-writer.ts";

/** A lambda field of one level. */
export interface LambdaSite {
  readonly shape: LambdaShape;
  readonly frame: Frame;
  /** Rows of the frame: its parents. Never empty. */
  readonly rows: readonly number[];
}

/** Whether a shape has a lambda field anywhere. */
export function hasLambda(shape: ObjectShape): boolean {
  if (shape.fields.some(reachesLambda)) return true;
  for (const typed of shape.byType?.values() ?? [])
    if (typed.fields.some(reachesLambda)) return true;
  return false;
}

function reachesLambda({ value }: FieldShape): boolean {
  return value.kind === "lambda" || (value.kind === "edge" && hasLambda(value.object));
}

/** Level by level, in the order of the shape; fields that no node is asked for are left out. */
export function findLambdaSites(block: BlockResult, shape: ObjectShape): LambdaSite[] {
  const sites: LambdaSite[] = [];
  visit(block.frame, block.rows, shape, sites);
  return sites;
}

function visit(
  frame: Frame,
  rows: ArrayLike<number>,
  shape: ObjectShape,
  sites: LambdaSite[],
): void {
  const asked = new Map<FieldShape, number[]>();
  const isSeen = new Uint8Array(frame.uids.length);
  for (let i = 0; i < rows.length; i++) {
    const row = must(rows[i], "below the number of rows");
    if (isSeen[row] === 1) continue;
    isSeen[row] = 1;
    const typed = shape.byType === undefined ? undefined : typeOfRow(frame, row, shape);
    for (const field of typed?.fields ?? shape.fields) {
      const { kind } = field.value;
      if (kind !== "lambda" && kind !== "edge") continue;
      const known = asked.get(field);
      if (known === undefined) asked.set(field, [row]);
      else known.push(row);
    }
  }
  for (const [{ value }, parents] of asked) {
    if (value.kind === "lambda") sites.push({ shape: value, frame, rows: parents });
    else if (value.kind === "edge" && hasLambda(value.object)) {
      visitEdge(frame, parents, value, sites);
    }
  }
}

function visitEdge(
  frame: Frame,
  parents: readonly number[],
  { field, object }: Extract<FieldShape["value"], { kind: "edge" }>,
  sites: LambdaSite[],
): void {
  const column = frame.fields[field];
  if (column?.kind !== "edges" || column.child === undefined) return;
  const targets: number[] = [];
  for (const row of parents) {
    const end = must(column.offsets[row + 1], "each row has its edges");
    for (let e = must(column.offsets[row], "each row has its edges"); e < end; e++)
      targets.push(must(column.rows[e], "each edge has its row"));
  }
  if (targets.length > 0) visit(column.child, targets, object, sites);
}

/** The parents of a site, as JSON. Fault E_LIMIT where they are more than `bytesMax`. */
export function printParents(site: LambdaSite, bytesMax: number): string {
  const out = takeWriter(bytesMax);
  try {
    new GraphqlRenderer(out, [], []).parents(site.frame, site.rows, site.shape.parent);
    return new TextDecoder().decode(out.view(0));
  } finally {
    out.release();
  }
}
