/**
 * Frames → N-Quads, the answer of `respFormat=rdf` (reference/dql 4.20): for each field the lines of all its
 * level's nodes, then those of the level below it, then the next field.
 */
import { Buffer } from "node:buffer";
import { assert, must } from "../base/assert.ts";
import { drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import type { BlockResult, EdgeFrame, ExecutionResult, FieldColumn, Frame } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import type { Cell } from "../graph/reader.ts";
import { Fault } from "../model/fault.ts";
import { makeSizeFault } from "../model/limits.ts";
import type { Limits } from "../model/limits.ts";
import { printValueJson, quoteJson } from "../model/print-value.ts";
import { printUid } from "../model/uid.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { BlockPlan, FieldPlan, Level, Plan, PredicateUse } from "../plan/plan.ts";
import { isLarge, RenderYielder } from "./render-yielder.ts";

interface RdfOptions {
  readonly limits: Limits;
}

/**
 * The value of `data`: one JSON string. Blocks of variables are printed too; the order of a root is not kept. Throws
 * Fault E_DQL_SYNTAX for what this format cannot say (groups, facets, counts of uids …), E_LIMIT for its size.
 */
export function renderRdf(plan: Plan, result: ExecutionResult, options: RdfOptions): Uint8Array {
  for (const block of plan.blocks) checkBlock(block);
  const bytes = drive(writeAnswer(plan, result, options.limits, undefined));
  assert(!(bytes instanceof Promise), "an answer without a pace is written at once");
  return bytes;
}

/** `renderRdf`, which lets other requests run while it writes a large answer. */
export function renderRdfYielding(
  plan: Plan,
  result: ExecutionResult,
  options: RdfOptions,
  yielder: Yielder,
): MaybePromise<Uint8Array> {
  for (const block of plan.blocks) checkBlock(block);
  return drive(writeAnswer(plan, result, options.limits, isLarge(result) ? yielder : undefined));
}

function* writeAnswer(
  plan: Plan,
  result: ExecutionResult,
  limits: Limits,
  yielder: Yielder | undefined,
): Steps<Uint8Array> {
  const writer = new LineWriter(limits.resultBytesMax, yielder);
  for (const [i, block] of plan.blocks.entries()) {
    const answer = result.blocks[i];
    if (answer === undefined || block.kind === "empty") continue;
    if (block.kind === "shortest") writePaths(writer, block, answer);
    else yield* writeFrame(writer, answer.frame, sortedRows(answer.rows));
  }
  plan.blocks.forEach((block, i) => {
    const answer = result.blocks[i];
    if (answer !== undefined && block.kind === "shortest") writePaths(writer, block, answer);
  });
  return Buffer.from(quoteJson(writer.text));
}

function refuse(message: string): never {
  throw new Fault("E_DQL_SYNTAX", message);
}

function checkBlock(block: BlockPlan): void {
  if (block.groupBy !== undefined) refuse("groupby is not supported in rdf output format");
  if (block.normalize) refuse("normalize directive is not supported in the rdf output format");
  if (block.ignoreReflex) {
    refuse("ignorereflex directive is not supported in the rdf output format");
  }
  checkLevel(block.level, new Set());
}

/** A recursive level leads back to itself. */
function checkLevel(level: Level, seen: Set<Level>): void {
  if (seen.has(level)) return;
  seen.add(level);
  for (const field of level.fields) checkField(field, seen);
}

function checkField(field: FieldPlan, seen: Set<Level>): void {
  switch (field.kind) {
    case "countUid":
      return refuse("uid count is not supported in the rdf output format");
    case "checkpwd":
      return refuse("chkpwd function is not supported in the rdf output format");
    case "value":
      if (field.facets !== undefined) refuseFacets();
      return;
    case "edge":
      if (field.groupBy !== undefined) refuse("groupby is not supported in rdf output format");
      if (field.normalize) {
        refuse("normalize directive is not supported in the rdf output format");
      }
      if (field.facets !== undefined) refuseFacets();
      if (field.level !== undefined) checkLevel(field.level, seen);
      return;
    case "expand":
      if (field.level !== undefined) checkLevel(field.level, seen);
      return;
    default:
  }
}

function refuseFacets(): never {
  refuse("facets are not supported in the rdf output format");
}

/** Lines of text, bounded. */
class LineWriter {
  text = "";
  private readonly bytesMax: number;
  private readonly renderYielder: RenderYielder | undefined;

  constructor(bytesMax: number, yielder: Yielder | undefined) {
    this.bytesMax = bytesMax;
    this.renderYielder = yielder === undefined ? undefined : new RenderYielder(yielder, this);
  }

  get length(): number {
    return this.text.length;
  }

  /** To be asked once a row; a promise: wait for it before the next. */
  next(): Promise<void> | undefined {
    return this.renderYielder?.next();
  }

  line(subject: number, predicate: string, object: string): void {
    this.text += `<${printUid(subject)}> <${predicate}> ${object} .\n`;
    if (this.text.length <= this.bytesMax) return;
    throw makeSizeFault(this.text.length, this.bytesMax);
  }
}

function sortedRows(rows: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(rows)).sort();
}

/** The fields of some rows of a frame. */
function* writeFrame(writer: LineWriter, frame: Frame, rows: Uint32Array): Steps<void> {
  for (const [k, field] of frame.level.fields.entries()) {
    const column = frame.fields[k];
    if (column !== undefined) yield* writeField(writer, frame, { field, column, rows });
  }
}

interface FieldRows {
  readonly field: FieldPlan;
  readonly column: FieldColumn;
  readonly rows: Uint32Array;
}

function* writeField(writer: LineWriter, frame: Frame, at: FieldRows): Steps<void> {
  const { column, rows } = at;
  if (column.kind === "edges") {
    yield* writeEdges(writer, frame, column, at);
    return;
  }
  if (column.kind === "expanded") {
    for (const [k, field] of column.fields.entries()) {
      const inner = column.columns[k];
      if (inner !== undefined) yield* writeField(writer, frame, { field, column: inner, rows });
    }
    return;
  }
  for (const row of rows) {
    const pause = writer.next();
    if (pause !== undefined) yield pause;
    writeRow(writer, must(frame.uids[row], "each row has its node"), at, row);
  }
}

/** What a node has of a field without nodes below it. */
function writeRow(
  writer: LineWriter,
  uid: number,
  { field, column }: FieldRows,
  row: number,
): void {
  switch (column.kind) {
    case "cell": {
      const cell = column.cells[row];
      if (cell !== undefined) writeCell(writer, uid, nameOf(field), cell);
      return;
    }
    case "cells":
      for (const cell of column.cells[row] ?? []) writeCell(writer, uid, nameOf(field), cell);
      return;
    case "count":
      writer.line(
        uid,
        field.key,
        `"${String(must(column.counts[row], "each row has its count"))}"`,
      );
      return;
    case "computed":
      writeValue(writer, uid, field.key, column.values[row]);
      return;
    default:
  }
}

/** The alias, or the predicate without its tags. */
function nameOf(field: FieldPlan): string {
  if (field.aliased || !("use" in field) || field.use === undefined) return field.key;
  return predicateOf(field.use);
}

function predicateOf(use: PredicateUse): string {
  return (use.reverse ? "~" : "") + use.name;
}

function writeCell(writer: LineWriter, uid: number, name: string, cell: Cell): void {
  if (cell.jsonLength === 0) return;
  const json = Buffer.allocUnsafe(cell.jsonLength);
  cell.copyJson(json, 0);
  writeObject(writer, { uid, name, kind: cell.kind }, json.toString());
}

function writeValue(writer: LineWriter, uid: number, name: string, value: Value | undefined): void {
  if (value === undefined) return;
  const json = printValueJson(value);
  if (json !== "") writeObject(writer, { uid, name, kind: value.kind }, json);
}

/** Whole numbers and floats stand in quotes, truth values and big floats do not; geometries have no form here. */
function writeObject(
  writer: LineWriter,
  of: { readonly uid: number; readonly name: string; readonly kind: ValueKind },
  json: string,
): void {
  if (of.kind === "geo") return;
  const isQuoted = of.kind === "int" || of.kind === "float";
  writer.line(of.uid, of.name, isQuoted ? `"${json}"` : json);
}

/** Edges are printed where something is asked of the nodes that they lead to. */
function* writeEdges(
  writer: LineWriter,
  frame: Frame,
  column: EdgeFrame,
  at: FieldRows,
): Steps<void> {
  const { child } = column;
  if (child === undefined) return;
  if (child.level.fields.every((field) => field.kind === "absent")) return;
  const name = nameOf(at.field);
  const below: number[] = [];
  for (const row of at.rows) {
    const uid = must(frame.uids[row], "each row has its node");
    const end = must(column.offsets[row + 1], "each row has its edges");
    for (let e = must(column.offsets[row], "each row has its edges"); e < end; e++) {
      const pause = writer.next();
      if (pause !== undefined) yield pause;
      writer.line(uid, name, `<${printUid(must(column.targets[e], "each edge has its target"))}>`);
      below.push(must(column.rows[e], "each edge has its row"));
    }
  }
  if (below.length > 0) yield* writeFrame(writer, child, sortedRows(Uint32Array.from(below)));
}

/** The hops of the paths. They stand in the block's own place, and once more behind all blocks. */
function writePaths(writer: LineWriter, block: BlockPlan, answer: BlockResult): void {
  for (const path of answer.paths ?? []) {
    path.hops.forEach((hop, i) => {
      const field = block.level.fields[hop.field];
      const name =
        field !== undefined && "use" in field && field.use !== undefined
          ? predicateOf(field.use)
          : "";
      writer.line(
        must(path.uids[i], "each row has its node"),
        name,
        `<${printUid(must(path.uids[i + 1], "each row has its node"))}>`,
      );
    });
  }
}
