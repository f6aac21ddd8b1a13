/** Drafts a mapping from the header and the first rows of a file, and a type where the schema has none. */
import { stringify } from "yaml";
import type {
  CompiledSchema,
  EdgeSource,
  FieldDefinition,
  NodeType,
} from "../graphql/schema/compiled-schema.ts";
import { type ColumnShape, shapeColumn } from "./column-shape.ts";
import { JsonRow, type Row, TableRow } from "./row.ts";
import { guess, readInputRows } from "./rows.ts";
import type { RowFile } from "./row-files.ts";

interface DraftOptions {
  readonly files: readonly RowFile[];
  readonly type: string;
  /** undefined where the server has none. */
  readonly schema: CompiledSchema | undefined;
  readonly separator: string | undefined;
}

/** Rows that are looked at. */
const sampleRows = 1_000;

/** A mapping in YAML, with comments on what it is unsure of. */
export async function draftMapping(options: DraftOptions): Promise<string> {
  const { files, type: name, schema } = options;
  const rows = await readSample(files.slice(0, 1), options.separator ?? guess);
  const separator = options.separator ?? separatorOf(rows);
  const columns = columnsOf(rows).map((column) =>
    shapeColumn(
      column,
      rows.map((row) => row.get(column)),
    ),
  );
  const type = schema?.nodes.find((one) => one.name === name);
  const head = `# Drafted from ${files[0]?.name ?? ""} (${rows.length} rows). Look at each line; weft import --dry-run shows what it does.\n`;
  const top =
    stringify({ type: name, ...(separator === undefined ? {} : { separator }) }) +
    draftReading(type, columns);
  if (type === undefined) return head + draftType(name, columns) + top + draftPlain(columns);
  return head + top + draftColumns(type, columns) + noteUnfilled(type, columns);
}

async function readSample(
  files: readonly RowFile[],
  separator: string | undefined,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of readInputRows({
    files,
    separator,
    header: undefined,
    onRead: () => {},
  })) {
    if (row.fault === undefined) rows.push(row);
    if (rows.length >= sampleRows) break;
  }
  return rows;
}

/** undefined where it is the one that a mapping need not name. */
function separatorOf([row]: readonly Row[]): string | undefined {
  if (!(row instanceof TableRow) || row.table.isTabbed) return undefined;
  return row.table.delimiter === "," ? undefined : row.table.delimiter;
}

/** How all columns write numbers and yes and no, where a mapping has to say it. */
function draftReading(type: NodeType | undefined, columns: readonly ColumnShape[]): string {
  const taken = new Set<string>();
  const kindOf = ({ name, scalar }: ColumnShape): string | undefined => {
    if (type === undefined)
      return scalar === "Boolean" ? "bool" : scalar === "Float" ? "float" : undefined;
    const field = findField(type, name, taken);
    if (field !== undefined) taken.add(field.name);
    return field?.source.kind === "value" ? field.source.valueKind : undefined;
  };
  const kinds = columns.map((column) => ({ column, kind: kindOf(column) }));
  const words = kinds.flatMap(({ column: { words: one }, kind }) =>
    kind === "bool" && one !== undefined ? [one] : [],
  );
  const list = (lists: readonly (readonly string[])[]): string =>
    stringify([...new Set(lists.flat())], { collectionStyle: "flow" }).trim();
  const trues = list(words.map((one) => one.trues));
  const falses = list(words.map((one) => one.falses));
  const isComma = kinds.some(({ column, kind }) => kind === "float" && column.hasDecimalComma);
  return [
    isComma ? stringify({ decimal: "," }) : "",
    words.length === 0 ? "" : `booleans: { true: ${trues}, false: ${falses} }\n`,
  ].join("");
}

function columnsOf(rows: readonly Row[]): readonly string[] {
  const names = rows.flatMap((row) => (row instanceof JsonRow ? row.names() : (row.header ?? [])));
  return [...new Set(names)];
}

function draftColumns(type: NodeType, columns: readonly ColumnShape[]): string {
  const taken = new Set<string>();
  const lines = columns.map((column) => {
    const field = findField(type, column.name, taken);
    if (field === undefined) {
      return `  ${key(column.name)}: skip # no field of ${type.name} has this name; it holds ${column.scalar}\n`;
    }
    taken.add(field.name);
    return `  ${key(column.name)}: ${draftField(field, column)}\n`;
  });
  return `columns:\n${lines.join("")}`;
}

/** Flow form: one line a column, so that what has to be looked at stands below each other. */
function draftField(field: FieldDefinition, column: ColumnShape): string {
  const { source } = field;
  const how: Record<string, unknown> = {};
  let note = "";
  if (source.kind === "edge") note = draftLink(source, how);
  else if (source.kind === "value") {
    const isTime = source.valueKind === "datetime";
    if (isTime && column.dates.length > 0 && column.dates[0] !== "iso") {
      how["date"] = column.dates.length === 1 ? column.dates[0] : column.dates;
    }
    if (isTime && column.isUnsureDate) note = "day and month may be the other way round";
    if (source.valueKind === "geo") how["geo"] = "lat,lon";
    if (source.xid !== undefined)
      note = `@id: a row whose ${field.name} is there already updates it`;
  }
  const isList = (source.kind === "edge" || source.kind === "value") && source.isList;
  if (isList && column.listSeparator !== undefined) how["separator"] = column.listSeparator;
  const text =
    Object.keys(how).length === 0
      ? stringify(field.name).trim()
      : stringify({ field: field.name, ...how }, { collectionStyle: "flow", lineWidth: 0 }).trim();
  return note === "" ? text : `${text} # ${note}`;
}

function draftLink({ target }: EdgeSource, how: Record<string, unknown>): string {
  const node = target.kind === "union" ? undefined : target.node;
  const [xid, ...others] = node?.xids ?? [];
  if (xid === undefined) {
    return `a link to ${target.name}, which has no @id field: it cannot be imported`;
  }
  how["by"] = xid.name;
  how["missing"] = "require";
  const names = others.map((one) => one.name).join(", ");
  return `a link to ${target.name}; "missing: create" makes those that are not there${names === "" ? "" : `; or by ${names}`}`;
}

function noteUnfilled(type: NodeType, columns: readonly ColumnShape[]): string {
  const taken = new Set<string>();
  for (const { name } of columns) {
    const field = findField(type, name, taken);
    if (field !== undefined) taken.add(field.name);
  }
  const unfilled = [...type.fields.values()].filter(
    ({ name, source }) =>
      !taken.has(name) &&
      ((source.kind === "value" && !source.isReadOnly) ||
        (source.kind === "edge" && !source.isReverse)),
  );
  if (unfilled.length === 0) return "";
  const names = unfilled.map((one) => `${one.name}: ${one.type.text}`).join(", ");
  return `# Fields that no column fills: ${names}\n`;
}

/** By name, whatever the case and the characters between words: `first_name`, `First Name`, `firstName`. */
function findField(
  type: NodeType,
  column: string,
  taken: ReadonlySet<string>,
): FieldDefinition | undefined {
  const wanted = normalise(column);
  const free = [...type.fields.values()].filter(
    ({ name, source }) =>
      !taken.has(name) &&
      ((source.kind === "value" && !source.isReadOnly) ||
        (source.kind === "edge" && !source.isReverse)),
  );
  const prefix = normalise(type.name);
  return (
    free.find(({ name }) => normalise(name) === wanted) ??
    free.find(({ name }) => prefix + normalise(name) === wanted) ??
    free.find(({ name }) => [`${normalise(name)}s`, `${normalise(name)}id`].includes(wanted))
  );
}

function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** The schema has no such type: what one could look like. */
function draftType(name: string, columns: readonly ColumnShape[]): string {
  const fields = columns.map(({ name: column, scalar, isList, isKey }) => {
    const type = isList ? `[${scalar}]` : scalar;
    return `#   ${fieldName(column)}: ${type}${isKey ? "! @id" : ""}\n`;
  });
  return `# The schema has no type ${name}. One that fits the file:\n# type ${name} {\n${fields.join("")}# }\n`;
}

function draftPlain(columns: readonly ColumnShape[]): string {
  const lines = columns.map(({ name, dates, listSeparator, scalar, isUnsureDate }) => {
    const how: Record<string, unknown> = { field: fieldName(name) };
    if (scalar === "DateTime" && dates[0] !== "iso") how["date"] = dates[0];
    if (listSeparator !== undefined) how["separator"] = listSeparator;
    const note = isUnsureDate ? " # day and month may be the other way round" : "";
    const text =
      Object.keys(how).length === 1
        ? fieldName(name)
        : stringify(how, { collectionStyle: "flow", lineWidth: 0 }).trim();
    return `  ${key(name)}: ${text}${note}\n`;
  });
  return `columns:\n${lines.join("")}`;
}

function fieldName(column: string): string {
  const words = column.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const [first = "column", ...rest] = words;
  const joined = [
    first.charAt(0).toLowerCase() + first.slice(1),
    ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)),
  ].join("");
  return /^[A-Za-z]/.test(joined) ? joined : `column${joined}`;
}

function key(name: string): string {
  return stringify(name, { lineWidth: 0 }).trim();
}
