/**
 * A file that lines are appended to, put aside when it is large. Where it was up to a position is kept with the position:
 * what was written behind it by a run that ended is taken away again, so that no line is there twice.
 */
import { type FileHandle, open, rename } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { Fault } from "../model/fault.ts";
import type { FeedLine, Sink } from "./sink.ts";

interface FileSinkOptions {
  readonly file: string;
  /** Put aside when it is so large; Infinity for never. */
  readonly bytesMax: number;
  /** How large it was when the run before kept its position; undefined: nothing was kept. */
  readonly mark: number | undefined;
  /** The lines of an event. */
  readonly print: (line: FeedLine) => readonly string[];
}

export async function openFileSink(options: FileSinkOptions): Promise<Sink> {
  const { file, mark } = options;
  const handle = await openFile(file);
  const { size } = await handle.stat();
  // Smaller: it was put aside, or taken away, after that.
  if (mark !== undefined && size > mark) await handle.truncate(mark);
  return new FileSink(options, handle, mark === undefined ? size : Math.min(size, mark));
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    // Not for appending alone, where nothing can be taken away again.
    const handle = await open(file, "a+", 0o600);
    await handle.close();
    return await open(file, "r+");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Fault("E_STARTUP", `--out: ${file} cannot be written (${why})`, { cause: error });
  }
}

class FileSink implements Sink {
  readonly #options: FileSinkOptions;
  #handle: FileHandle;
  /** Bytes of the file, and of its events that are complete. */
  #size: number;
  #complete: number;
  #isDirty = false;
  #lastPosition = "";

  constructor(options: FileSinkOptions, handle: FileHandle, size: number) {
    this.#options = options;
    this.#handle = handle;
    this.#size = this.#complete = size;
  }

  async deliver(lines: readonly FeedLine[]): Promise<void> {
    const before = this.#size;
    let text = "";
    let completeText = 0;
    let position = this.#lastPosition;
    for (const line of lines) {
      for (const one of this.#options.print(line)) text += `${one}\n`;
      if (!line.isLast) continue;
      completeText = text.length;
      ({ position } = line);
    }
    const bytes = Buffer.from(text);
    await this.#writeAll(bytes, before);
    this.#isDirty = true;
    this.#size = before + bytes.length;
    if (completeText > 0 || lines.some(({ isLast }) => isLast)) {
      this.#complete = before + Buffer.byteLength(text.slice(0, completeText));
      this.#lastPosition = position;
    }
  }

  get isFull(): boolean {
    return this.#complete >= this.#options.bytesMax && this.#complete === this.#size;
  }

  async rewind(): Promise<void> {
    await this.#handle.truncate(this.#complete);
    this.#size = this.#complete;
  }

  /** Safe on the disk when it resolves. */
  async mark(): Promise<number> {
    if (this.#isDirty) await this.#handle.sync();
    this.#isDirty = false;
    return this.#complete;
  }

  /** Under the position of its last event. */
  async putAside(): Promise<void> {
    const { file } = this.#options;
    await this.#handle.sync();
    await this.#handle.close();
    await rename(file, `${file}.${this.#lastPosition}`);
    this.#handle = await openFile(file);
    this.#size = this.#complete = 0;
    this.#isDirty = false;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #writeAll(bytes: Uint8Array, from: number): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, from + at);
      at += bytesWritten;
    }
  }
}

/** Standard output, or whatever else takes text. */
export function openTextSink(
  write: (text: string) => Promise<void>,
  print: (line: FeedLine) => readonly string[],
): Sink {
  return {
    async deliver(lines) {
      const text = lines.flatMap((line) => print(line).map((one) => `${one}\n`)).join("");
      if (text !== "") await write(text);
    },
    close: () => Promise.resolve(),
  };
}
