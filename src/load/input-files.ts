/** What `--files` names: files and folders of RDF and JSON, plain or packed. */
import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Fault } from "../model/fault.ts";

export interface InputFile {
  readonly name: string;
  readonly kind: "rdf" | "json";
  readonly isGzip: boolean;
  readonly size: number;
}

type InputFormat = InputFile["kind"];

/**
 * All files are looked at before the first is read. Of a folder those that have a known name, in their order, and of
 * its folders. `format`: of files whose names do not say it. Fault E_STARTUP for what is not there or of no kind.
 */
export function findInputs(names: readonly string[], format?: InputFormat): readonly InputFile[] {
  return names.flatMap((name) => {
    const stats = statSync(name, { throwIfNoEntry: false });
    if (stats === undefined) throw new Fault("E_STARTUP", `there is no file ${name}`);
    if (!stats.isDirectory()) return [describeFile(name, stats.size, format)];
    const found = listFolder(name);
    if (found.length > 0) return found;
    throw new Fault(
      "E_STARTUP",
      `${name} has no files that end in .rdf or .json (or these with .gz)`,
    );
  });
}

function listFolder(folder: string): InputFile[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const name = join(folder, entry.name);
    if (entry.isDirectory()) return listFolder(name);
    return kindOf(name) === undefined ? [] : [describeFile(name, statSync(name).size, undefined)];
  });
}

function kindOf(name: string): InputFormat | undefined {
  if (/\.(?:rdf|nq|nt)(?:\.gz)?$/i.test(name)) return "rdf";
  return /\.json(?:\.gz)?$/i.test(name) ? "json" : undefined;
}

function describeFile(name: string, size: number, format: InputFormat | undefined): InputFile {
  const kind = format ?? kindOf(name);
  if (kind !== undefined) return { name, kind, size, isGzip: beginsAsGzip(name) };
  const why = "its name ends neither in .rdf nor in .json (nor these with .gz)";
  throw new Fault("E_STARTUP", `${name}: ${why}; --format says what it is`);
}

export function beginsAsGzip(name: string): boolean {
  const handle = openSync(name, "r");
  const magic = new Uint8Array(2);
  readSync(handle, magic, 0, 2, 0);
  closeSync(handle);
  return magic[0] === 0x1f && magic[1] === 0x8b;
}

/** The plain bytes of a file; `onRead` is told how many of the file as it lies there are read. */
export async function* readInput(
  file: Pick<InputFile, "name" | "isGzip">,
  onRead: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const source = createReadStream(file.name, { highWaterMark: 256 * 1024 });
  const plain: Readable = file.isGzip
    ? source.pipe(createGunzip({ chunkSize: 256 * 1024 }))
    : source;
  source.on("error", (error) => plain.destroy(error));
  try {
    for await (const chunk of plain) {
      onRead(source.bytesRead);
      yield chunk as Uint8Array;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("E_STARTUP", `${file.name}: cannot be read to its end (${why})`, {
      cause: error,
    });
  } finally {
    source.destroy();
  }
}
