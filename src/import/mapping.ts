/** The mapping file of `weft import`: which column goes to which field, and how. YAML, of which JSON is a part. */
import { Fault } from "../model/fault.ts";
import { openMappingFile, type MappingSection } from "./mapping-file.ts";
import { inputFormats, type InputFormat } from "./row-files.ts";

export interface Mapping {
  /** Of the mapping file, for messages. */
  readonly name: string;
  readonly type: string;
  /** Where names of files do not say it. */
  readonly format: InputFormat | undefined;
  /** Between the columns of CSV. */
  readonly separator: string | undefined;
  /** Names of the columns, of files that have no header. */
  readonly header: readonly string[] | undefined;
  /** Texts that say nothing. */
  readonly nulls: readonly string[];
  readonly decimal: "." | ",";
  readonly trues: readonly string[];
  readonly falses: readonly string[];
  /** What becomes of a node that has a row's key. */
  readonly existing: "update" | "keep" | "refuse";
  /** Of columns that the mapping does not name. */
  readonly otherColumns: "refuse" | "skip";
  readonly columns: readonly ColumnMapping[];
}

export interface ColumnMapping {
  /** undefined for a constant. */
  readonly column: string | undefined;
  readonly constant: unknown;
  /** undefined: skipped. */
  readonly field: string | undefined;
  /** Of a link: the `@id` field of the other type. */
  readonly by: string | undefined;
  /** Of a link: whether a node that is not there is made. */
  readonly missing: "require" | "create" | undefined;
  /** Of a list within a text. */
  readonly separator: string | undefined;
  readonly dates: readonly string[];
  readonly language: string | undefined;
  readonly geo: "lon,lat" | "lat,lon" | undefined;
  /** Of the mapping file: `people.yaml:7:3`. */
  readonly place: string;
}

const columnWords = {
  missing: ["require", "create"],
  geo: ["lon,lat", "lat,lon"],
} as const;

/** Fault E_STARTUP with file, line and column for what is no mapping. */
export function readMapping(text: string, name: string): Mapping {
  const file = openMappingFile(text, name);
  const booleans = file.section("booleans");
  const mapping: Mapping = {
    name,
    type: file.requiredText("type"),
    format: file.oneOf("format", inputFormats),
    separator: file.text("separator"),
    header: file.texts("header"),
    nulls: file.texts("null") ?? [""],
    decimal: file.oneOf("decimal", [".", ","] as const) ?? ".",
    trues: booleans?.texts("true") ?? [],
    falses: booleans?.texts("false") ?? [],
    existing: file.oneOf("existing", ["update", "keep", "refuse"] as const) ?? "update",
    otherColumns: file.oneOf("other-columns", ["refuse", "skip"] as const) ?? "refuse",
    columns: [...readColumns(file), ...readConstants(file)],
  };
  booleans?.refuseOthers();
  file.refuseOthers();
  return mapping;
}

function readColumns(file: MappingSection): ColumnMapping[] {
  const columns = file.section("columns");
  if (columns === undefined) {
    throw new Fault("E_STARTUP", `${file.place}: the mapping has no "columns"`);
  }
  return columns.keys().map((column) => readColumn(columns, column));
}

function readColumn(columns: MappingSection, column: string): ColumnMapping {
  const place = columns.placeOf(column);
  const field = columns.plain(column);
  if (typeof field === "string") {
    return { ...plainColumn, column, field: field === "skip" ? undefined : field, place };
  }
  const one = columns.section(column);
  if (one === undefined) {
    throw new Fault("E_STARTUP", `${place}: ${column} wants a field's name, "skip", or a mapping`);
  }
  const mapped = { ...readSettings(one), column, constant: undefined, place };
  one.refuseOthers();
  return mapped;
}

const plainColumn = {
  constant: undefined,
  by: undefined,
  missing: undefined,
  separator: undefined,
  dates: [],
  language: undefined,
  geo: undefined,
} as const;

function readSettings(one: MappingSection): Omit<ColumnMapping, "column" | "constant" | "place"> {
  return { field: one.requiredText("field"), ...readHow(one) };
}

function readHow(
  one: MappingSection,
): Omit<ColumnMapping, "column" | "constant" | "place" | "field"> {
  return {
    by: one.text("by"),
    missing: one.oneOf("missing", columnWords.missing),
    separator: one.text("separator"),
    dates: one.texts("date") ?? [],
    language: one.text("language"),
    geo: one.oneOf("geo", columnWords.geo),
  };
}

/** `constants: {status: new, country: {value: NO, by: code}}` */
function readConstants(file: MappingSection): ColumnMapping[] {
  const constants = file.section("constants");
  return (constants?.keys() ?? []).map((field) => {
    const place = constants?.placeOf(field) ?? file.place;
    const one = constants?.section(field);
    if (one === undefined) {
      const constant = constants?.plain(field);
      return { ...plainColumn, column: undefined, constant, field, place };
    }
    const constant = one.plain("value");
    const mapped = { ...readHow(one), column: undefined, constant, field, place };
    one.refuseOthers();
    return mapped;
  });
}
