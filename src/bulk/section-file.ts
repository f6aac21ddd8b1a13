/**
 * Sections of a file: rows that lie together in the store, by the kind of their keys and the id behind it, or entries of
 * indexes on their way there.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { ByteWriter } from "../base/bytes.ts";

/** Where a section stands. */
export interface Section {
  readonly kind: number;
  /** Of an index or a predicate; 0 where the kind has none. */
  readonly id: number;
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

export class SectionWriter {
  readonly #sections = new Map<string, { kind: number; id: number; writer: ByteWriter }>();

  of(kind: number, id: number): ByteWriter {
    const name = `${kind}/${id}`;
    let section = this.#sections.get(name);
    if (section === undefined) {
      section = { kind, id, writer: new ByteWriter(64 * 1024) };
      this.#sections.set(name, section);
    }
    return section.writer;
  }

  finish(path: string): Section[] {
    const file = openSync(path, "w", 0o600);
    const made: Section[] = [];
    let offset = 0;
    for (const { kind, id, writer } of this.#sections.values()) {
      const bytes = writer.lend();
      writeSync(file, bytes, 0, bytes.length, offset);
      made.push({ kind, id, path, offset, length: bytes.length });
      offset += bytes.length;
    }
    closeSync(file);
    this.#sections.clear();
    return made;
  }
}

/** A row as it lies in a section: lengths, key, value. */
export function writeRow(writer: ByteWriter, key: Uint8Array, stored: Uint8Array): void {
  writer.u16(key.length);
  writer.u32(stored.length);
  writer.raw(key);
  writer.raw(stored);
}

const rowFront = 6;

/** Rows of a section, piece by piece; what is given stays as it is until the next piece. */
export function* readStoredRows(
  section: Section,
  pieceBytes: number,
): Generator<readonly (readonly [key: Uint8Array, stored: Uint8Array])[], void> {
  const file = openSync(section.path, "r");
  try {
    let bytes = new Uint8Array(0);
    for (let read = 0; read < section.length;) {
      const size = Math.min(pieceBytes, section.length - read);
      const grown = new Uint8Array(bytes.length + size);
      grown.set(bytes);
      readSync(file, grown, bytes.length, size, section.offset + read);
      read += size;
      const rows: (readonly [Uint8Array, Uint8Array])[] = [];
      const end = cutRows(grown, rows);
      yield rows;
      bytes = grown.slice(end);
    }
  } finally {
    closeSync(file);
  }
}

/** Gives where the first row begins that is not whole. */
function cutRows(bytes: Uint8Array, rows: (readonly [Uint8Array, Uint8Array])[]): number {
  let at = 0;
  while (at + rowFront <= bytes.length) {
    const keyLength = bytes[at]! | (bytes[at + 1]! << 8);
    const from = at + rowFront;
    const length =
      bytes[at + 2]! | (bytes[at + 3]! << 8) | (bytes[at + 4]! << 16) | (bytes[at + 5]! << 24);
    const end = from + keyLength + length;
    if (end > bytes.length) break;
    rows.push([bytes.subarray(from, from + keyLength), bytes.subarray(from + keyLength, end)]);
    at = end;
  }
  return at;
}
