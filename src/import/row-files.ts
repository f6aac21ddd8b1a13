/** What `weft import --files` names: tables and objects in files and folders, plain or packed, and standard input. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Fault } from "../model/fault.ts";
import { beginsAsGzip, readInput } from "../load/input-files.ts";

export const inputFormats = ["csv", "tsv", "json", "ndjson"] as const;
export type InputFormat = (typeof inputFormats)[number];

export interface RowFile {
  /** `-`: standard input. */
  readonly name: string;
  readonly format: InputFormat;
  readonly isGzip: boolean;
  /** 0 for standard input. */
  readonly size: number;
}

const endings =
  /\.(?:(?<csv>csv)|(?<tsv>tsv|tab)|(?<ndjson>ndjson|jsonl)|(?<json>json))(?:\.gz)?$/i;

/**
 * Of a folder those files that have a known name, in their order, and of its folders. `format`: of files whose names do
 * not say it. Fault E_STARTUP for what is not there or of no format.
 */
export function findRowFiles(
  names: readonly string[],
  format: InputFormat | undefined,
): readonly RowFile[] {
  return names.flatMap((name) => {
    if (name === "-") return [describeInput(format)];
    const stats = statSync(name, { throwIfNoEntry: false });
    if (stats === undefined) throw new Fault("E_STARTUP", `there is no file ${name}`);
    if (!stats.isDirectory()) return [describeFile(name, format)];
    const found = listFolder(name);
    if (found.length > 0) return found;
    throw new Fault("E_STARTUP", `${name} has no files that end in ${knownEndings}`);
  });
}

const knownEndings = ".csv, .tsv, .json or .ndjson (or these with .gz)";

function describeInput(format: InputFormat | undefined): RowFile {
  if (format !== undefined) return { name: "-", format, isGzip: false, size: 0 };
  throw new Fault("E_STARTUP", "standard input has no name: --format says what it is");
}

function listFolder(folder: string): RowFile[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const name = join(folder, entry.name);
    if (entry.isDirectory()) return listFolder(name);
    return formatOf(name) === undefined ? [] : [describeFile(name, undefined)];
  });
}

function formatOf(name: string): InputFormat | undefined {
  const groups = endings.exec(name)?.groups;
  return inputFormats.find((one) => groups?.[one] !== undefined);
}

function describeFile(name: string, given: InputFormat | undefined): RowFile {
  const format = given ?? formatOf(name);
  if (format !== undefined) {
    return { name, format, isGzip: beginsAsGzip(name), size: statSync(name).size };
  }
  const why = `its name does not end in ${knownEndings}`;
  throw new Fault("E_STARTUP", `${name}: ${why}; --format says what it is`);
}

/** The plain bytes; `onRead` is told how many of the file as it lies there are read. */
export async function* readRowFile(
  file: RowFile,
  onRead: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  if (file.name !== "-") {
    yield* readInput(file, onRead);
    return;
  }
  const chunks = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const first = await chunks.next();
  if (first.done === true) return;
  const all = Readable.from(continueWith(first.value, chunks));
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b;
  const plain = isGzip ? all.pipe(createGunzip()) : all;
  all.on("error", (error) => plain.destroy(error));
  yield* plain as AsyncIterable<Uint8Array>;
}

async function* continueWith(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
