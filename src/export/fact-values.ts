/** What both formats of an export say of values and facets. */
import { encodeUtf8 } from "../base/bytes.ts";
import { type StoredCell, decodeCell, encodeCell } from "../codec/cell.ts";
import type { Predicate } from "../graph/schema.ts";
import { attempt } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import type { Facet } from "../model/facet.ts";
import { printFloatG } from "../model/float.ts";
import { printValueText, quoteJson } from "../model/print-value.ts";
import type { TextBuffer } from "./text-buffer.ts";

/** The type of a literal, as loaders read it; of a default value nothing. */
export const literalTypes = {
  string: "xs:string",
  int: "xs:int",
  float: "xs:float",
  bool: "xs:boolean",
  datetime: "xs:dateTime",
  geo: "geo:geojson",
  password: "xs:password",
  bigfloat: "xs:decimal",
  float32vector: "xs:[]float32",
  binary: "xs:base64Binary",
} as const;

/**
 * The cell as the predicate's kind shows it: a value that was stored before the kind changed is converted, as queries
 * do; undefined for one that cannot be, which no query shows.
 */
export function asShown(predicate: Predicate, cell: StoredCell): StoredCell | undefined {
  const { kind } = predicate.definition;
  if (cell.kind === kind || kind === "default") return cell;
  if (kind === "uid") return undefined;
  const value = attempt(() => convertValue(cell.value, kind));
  return value && decodeCell(encodeCell(value, cell.language, cell.facets));
}

/** The value in quotes. Hot: most cells hold their printed text. */
export function writeQuoted(buffer: TextBuffer, cell: StoredCell): void {
  switch (cell.kind) {
    case "string":
    case "default":
    case "datetime":
      return writeJson(buffer, cell);
    case "int":
    case "bool":
      buffer.u8(quote);
      writeJson(buffer, cell);
      return buffer.u8(quote);
    default:
      return buffer.raw(encodeUtf8(quoteJson(printValueText(cell.value))));
  }
}

export function writeJson(buffer: TextBuffer, cell: StoredCell): void {
  const { jsonLength } = cell;
  const at = buffer.take(jsonLength);
  cell.copyJson(buffer.memory, at);
}

const quote = 0x22;

/** A facet's value as both formats read it back: a float always looks like one. */
export function printFacetValue({ value }: Facet): string {
  switch (value.kind) {
    case "float": {
      const text = printFloatG(value.float);
      return /^-?[0-9]+$/.test(text) ? `${text}.0` : text;
    }
    case "string":
    case "default":
      return quoteJson(value.text);
    default:
      return printValueText(value);
  }
}
