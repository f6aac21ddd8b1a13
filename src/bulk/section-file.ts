/**
 * Sections of a file: rows that lie together in the store, by the kind of their keys and the id behind it, or entries of
 * indexes on their way there.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { ByteWriter, readUint16, readUint32 } from "../base/bytes.ts";
import { sealOf, tagBytes, type SpillSeal } from "./spill-seal.ts";

/** Where a section stands. */
export interface Section {
  readonly kind: number;
  /** Of an index or a predicate; 0 where the kind has none. */
  readonly id: number;
  readonly path: string;
  readonly offset: number;
  /** Without what sealing adds. */
  readonly length: number;
  /** Of a load into a store that is encrypted: the section lies in sealed frames, the first of which has this number. */
  readonly sealed: { readonly key: Uint8Array; readonly frame: number } | undefined;
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

  /** `key`: of a load into a store that is encrypted. */
  finish(path: string, key: Uint8Array | undefined): Section[] {
    const file = openSync(path, "w", 0o600);
    const seal = sealOf(key, path);
    const made: Section[] = [];
    let offset = 0;
    let frame = 0;
    for (const { kind, id, writer } of this.#sections.values()) {
      const bytes = writer.lend();
      const { length } = bytes;
      const sealed = key === undefined ? undefined : { key, frame };
      made.push({ kind, id, path, offset, length, sealed });
      if (seal === undefined) {
        writeSync(file, bytes, 0, length, offset);
        offset += length;
        continue;
      }
      for (let from = 0; from < length; from += frameBytes) {
        const closed = seal.close(frame++, bytes.subarray(from, from + frameBytes));
        writeSync(file, closed, 0, closed.length, offset);
        offset += closed.length;
      }
    }
    closeSync(file);
    this.#sections.clear();
    return made;
  }
}

const frameBytes = 64 * 1024;

/** A section from its beginning to its end. */
export class SectionReader {
  readonly #section: Section;
  readonly #file: number;
  readonly #seal: SpillSeal | undefined;
  #read = 0;
  #at: number;
  #frame: number;

  constructor(section: Section) {
    this.#section = section;
    this.#at = section.offset;
    this.#frame = section.sealed?.frame ?? 0;
    this.#seal = sealOf(section.sealed?.key, section.path);
    this.#file = openSync(section.path, "r");
  }

  /** Behind `kept`, so many bytes more, or some more than that; fewer at the end, none behind it. */
  more(kept: Uint8Array, size: number): Uint8Array {
    const left = this.#section.length - this.#read;
    const frames = Math.ceil(Math.min(size, left) / frameBytes);
    const count = Math.min(this.#seal === undefined ? size : frames * frameBytes, left);
    const grown = new Uint8Array(kept.length + count);
    grown.set(kept);
    for (let at = kept.length; at < grown.length;) at += this.#fill(grown, at);
    this.#read += count;
    return grown;
  }

  #fill(target: Uint8Array, at: number): number {
    const wanted = target.length - at;
    if (this.#seal === undefined) {
      readSync(this.#file, target, at, wanted, this.#at);
      this.#at += wanted;
      return wanted;
    }
    const closed = Buffer.allocUnsafe(Math.min(wanted, frameBytes) + tagBytes);
    readSync(this.#file, closed, 0, closed.length, this.#at);
    this.#at += closed.length;
    const opened = this.#seal.open(this.#frame++, closed);
    target.set(opened, at);
    return opened.length;
  }

  close(): void {
    closeSync(this.#file);
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
  const reader = new SectionReader(section);
  try {
    let bytes: Uint8Array = new Uint8Array(0);
    for (;;) {
      const grown = reader.more(bytes, pieceBytes);
      if (grown.length === bytes.length) return;
      const rows: (readonly [Uint8Array, Uint8Array])[] = [];
      const end = cutRows(grown, rows);
      yield rows;
      bytes = grown.slice(end);
    }
  } finally {
    reader.close();
  }
}

/** Gives where the first row begins that is not whole. */
function cutRows(bytes: Uint8Array, rows: (readonly [Uint8Array, Uint8Array])[]): number {
  let at = 0;
  while (at + rowFront <= bytes.length) {
    const keyLength = readUint16(bytes, at);
    const from = at + rowFront;
    const length = readUint32(bytes, at + 2);
    const end = from + keyLength + length;
    if (end > bytes.length) break;
    rows.push([bytes.subarray(from, from + keyLength), bytes.subarray(from + keyLength, end)]);
    at = end;
  }
  return at;
}
