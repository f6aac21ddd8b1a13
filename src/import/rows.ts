/** Files → rows, one after another: records of tables, and objects of JSON. */
import { Readable } from "node:stream";
import { CsvError, type Options, parse } from "csv-parse";
import { JsonSplitter } from "../load/json-objects.ts";
import { Fault } from "../model/fault.ts";
import { JsonRow, type Row, type Table, TableRow } from "./row.ts";
import { readRowFile, type RowFile } from "./row-files.ts";
import { peekSeparator } from "./separator.ts";

/** In place of a separator: the one that the first line shows. */
export const guess = "guess";

interface RowInput {
  readonly files: readonly RowFile[];
  /** Between the columns of CSV; a comma unless said; `guess`: the one that the first line shows. */
  readonly separator: string | undefined;
  /** Of tables that have none. */
  readonly header: readonly string[] | undefined;
  /** Bytes of the files read so far. */
  readonly onRead: (byteCount: number) => void;
}

/** Fault E_STARTUP where a file cannot be read on; what is wrong with one row comes with the row. */
export async function* readInputRows(input: RowInput): AsyncGenerator<Row> {
  let bytesBefore = 0;
  for (const file of input.files) {
    const before = bytesBefore;
    const chunks = readRowFile(file, (count) => input.onRead(before + count));
    if (file.format === "json") yield* readObjects(file, chunks);
    else if (file.format === "ndjson") yield* readLines(file, chunks);
    else yield* readTable(file, chunks, input);
    bytesBefore += file.size;
    input.onRead(bytesBefore);
  }
}

interface TableRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* readTable(
  file: RowFile,
  given: AsyncIterable<Uint8Array>,
  input: RowInput,
): AsyncGenerator<Row> {
  const { delimiter, chunks } = await findDelimiter(file, given, input.separator);
  const options: Options = { delimiter, bom: true, info: true, relax_column_count: true };
  // Of TSV quotes are characters as others are.
  if (file.format === "tsv") options.quote = null;
  const source = Readable.from(chunks);
  // Of a file with both ends of lines each is one.
  options.record_delimiter = ["\r\n", "\n", "\r"];
  const parser = parse({ ...options, skip_empty_lines: true });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  let table = input.header === undefined ? undefined : describeTable(file, input.header, delimiter);
  try {
    for await (const { record, info } of parser as AsyncIterable<TableRecord>) {
      if (table === undefined) {
        table = describeTable(file, record, delimiter);
        continue;
      }
      // The line on which it ends is known; a text in quotes may have several.
      const line = info.lines - record.reduce((sum, cell) => sum + countLineFeeds(cell), 0);
      yield new TableRow(table, line, record);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { readonly lines?: number };
    const place = lines === undefined ? file.name : `${file.name}:${lines}`;
    const why = explainCsv(error, file, delimiter);
    throw new Fault("E_STARTUP", `${place}: ${why}`, { cause: error });
  } finally {
    source.destroy();
  }
}

async function findDelimiter(
  { format }: RowFile,
  chunks: AsyncIterable<Uint8Array>,
  separator = ",",
): Promise<{ readonly delimiter: string; readonly chunks: AsyncIterable<Uint8Array> }> {
  if (format === "tsv") return { delimiter: "\t", chunks };
  if (separator !== guess) return { delimiter: separator, chunks };
  const peeked = await peekSeparator(chunks);
  return { delimiter: peeked.separator, chunks: peeked.chunks };
}

/** What the library says of quotes is in words of its own options. */
function explainCsv(error: CsvError, { format }: RowFile, delimiter: string): string {
  if (format === "tsv" || error.code !== "CSV_INVALID_CLOSING_QUOTE") return error.message;
  return (
    `behind a value in quotes stands neither ${JSON.stringify(delimiter)} nor the end of the line. ` +
    `Where the columns are separated by something else, "separator" in the mapping says so, and --separator for a draft`
  );
}

function describeTable(file: RowFile, given: readonly string[], delimiter: string): Table {
  const names = given.map((name) => name.trim());
  const indexes = new Map<string, number>();
  for (const [i, name] of names.entries()) {
    if (indexes.has(name)) throw new Fault("E_STARTUP", `${file.name}: two columns "${name}"`);
    indexes.set(name, i);
  }
  return { file: file.name, names, indexes, delimiter, isTabbed: file.format === "tsv" };
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

async function* readObjects(file: RowFile, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  const splitter = new JsonSplitter(file.name);
  for await (const text of decode(chunks)) {
    for (const one of splitter.push(text)) yield new JsonRow(file.name, one.line, one.text);
  }
  splitter.end();
}

/** One object a line: a broken one is a faulty row, and the next line is read as if nothing were. */
async function* readLines(file: RowFile, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  let rest = "";
  let line = 0;
  for await (const text of decode(chunks)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const one of lines) {
      line++;
      if (one.trim() !== "") yield new JsonRow(file.name, line, one);
    }
  }
  if (rest.trim() !== "") yield new JsonRow(file.name, line + 1, rest);
}

async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
