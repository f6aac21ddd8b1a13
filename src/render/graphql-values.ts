/** Values of one field → JSON, as the type of the field has them (reference/graphql 4.10). */
import type { Cell } from "../graph/reader.ts";
import { printValuePlainJson } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import { writeGeometry } from "./graphql-geo.ts";
import type { GeoShape, ScalarShape } from "./graphql-shape.ts";
import type { JsonWriter } from "./json-writer.ts";

const comma = 44;
const quote = 34;
const bracketOpen = 91;
const bracketClose = 93;
const intMax = 2147483647;
const intMin = -2147483648;
/** From here on the native endpoint prints floats with an exponent; GraphQL does not. */
const plainFloatMax = 1e6;

/** False where the value does not fit its type; nothing is written then. */
export function writeGraphqlScalar(out: JsonWriter, cell: Cell, scalar: ScalarShape): boolean {
  switch (scalar.form) {
    case "string":
    case "id":
      if (cell.kind === "string" || cell.kind === "default" || cell.kind === "datetime") {
        out.cell(cell);
      } else out.text(JSON.stringify(cell.text));
      return true;
    case "enum":
      if (scalar.members?.has(cell.text) !== true) return false;
      out.cell(cell);
      return true;
    case "int":
      if (cell.kind !== "int" || !(cell.number <= intMax && cell.number >= intMin)) return false;
      out.cell(cell);
      return true;
    case "int64":
      if (cell.kind !== "int") return false;
      out.cell(cell);
      return true;
    case "int64text":
      if (cell.kind !== "int") return false;
      out.byte(quote);
      out.cell(cell);
      out.byte(quote);
      return true;
    case "float":
      return writeFloat(out, cell);
    case "boolean":
      if (cell.kind !== "bool") return false;
      out.cell(cell);
      return true;
    case "datetime":
      if (cell.kind !== "datetime") return false;
      out.cell(cell);
      return true;
  }
}

function writeFloat(out: JsonWriter, cell: Cell): boolean {
  if (cell.kind !== "float" && cell.kind !== "int") return false;
  const number = cell.number;
  if (number < plainFloatMax && number > -plainFloatMax) out.cell(cell);
  else if (Number.isFinite(number)) out.ascii(String(number));
  else return false;
  return true;
}

/** Those that are of the shape's kind. */
export function writeGeometries(out: JsonWriter, cells: readonly Cell[], shape: GeoShape): void {
  out.byte(bracketOpen);
  let count = 0;
  for (const cell of cells) {
    const mark = out.length;
    if (count > 0) out.byte(comma);
    if (writeGeometry(out, cell.value, shape)) count++;
    else out.rewind(mark);
  }
  out.byte(bracketClose);
}

/** An empty list where there is none. */
export function writeVector(out: JsonWriter, value: Value | undefined): void {
  out.ascii((value === undefined ? "" : printValuePlainJson(value)) || "[]");
}
