/**
 * The facts of a commit with their values before (reference/storage 9.2), for people and programs: subscriptions,
 * hooks, the change feed. What the store did with them is kept beside, as patches (`store/patch-codec.ts`).
 */
import { ByteReader, ByteWriter } from "../base/bytes.ts";

/** What a commit says about itself. Times in ms since 1970. */
interface LogEntry {
  readonly namespace: number;
  readonly storageId: number;
  readonly schemaVersion: number;
  /** Who asked for it, as far as known: a user's name, or "". */
  readonly author: string;
  readonly committedMs: number;
  readonly facts: readonly Fact[];
}

/** One thing that changed about a subject. Cells and facets are encoded (`codec/cell.ts`, `codec/facets.ts`). */
type Fact =
  | {
      readonly kind: "value";
      readonly subject: number;
      readonly predicate: number;
      readonly language: string;
      /** undefined: there was none (is none any more). */
      readonly before: Uint8Array | undefined;
      readonly after: Uint8Array | undefined;
    }
  | {
      readonly kind: "edge";
      readonly subject: number;
      readonly predicate: number;
      readonly object: number;
      /** The edge's facets, empty for none; undefined: no edge. */
      readonly before: Uint8Array | undefined;
      readonly after: Uint8Array | undefined;
    };

export function encodeLogEntry(entry: LogEntry): Uint8Array {
  const writer = new ByteWriter(entry.facts.length === 0 ? 64 : 256);
  writer.u8(1);
  writer.varint(entry.namespace);
  writer.u32(entry.storageId);
  writer.varint(entry.schemaVersion);
  writer.text(entry.author);
  writer.f64(entry.committedMs);
  writer.varint(entry.facts.length);
  for (const fact of entry.facts) writeFact(writer, fact);
  return writer.finish();
}

function writeFact(writer: ByteWriter, fact: Fact): void {
  writer.u8(fact.kind === "value" ? 0 : 1);
  writer.varint(fact.subject);
  writer.u32(fact.predicate);
  if (fact.kind === "value") writer.text(fact.language);
  else writer.varint(fact.object);
  writeOptional(writer, fact.before);
  writeOptional(writer, fact.after);
}

export function writeOptional(writer: ByteWriter, bytes: Uint8Array | undefined): void {
  writer.u8(bytes === undefined ? 0 : 1);
  if (bytes !== undefined) writer.run(bytes);
}

export function readOptional(reader: ByteReader): Uint8Array | undefined {
  return reader.u8() === 0 ? undefined : reader.run();
}

/** Shares the memory of `bytes`. Empty bytes (an empty commit) are undefined. */
export function decodeLogEntry(bytes: Uint8Array): LogEntry | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new ByteReader(bytes, 1);
  const namespace = reader.varint();
  const storageId = reader.u32();
  const schemaVersion = reader.varint();
  const author = reader.text();
  const committedMs = reader.f64();
  const facts: Fact[] = [];
  for (let left = reader.varint(); left > 0; left--) facts.push(readFact(reader));
  return { namespace, storageId, schemaVersion, author, committedMs, facts };
}

function readFact(reader: ByteReader): Fact {
  const isValue = reader.u8() === 0;
  const subject = reader.varint();
  const predicate = reader.u32();
  if (isValue) {
    const language = reader.text();
    const before = readOptional(reader);
    return { kind: "value", subject, predicate, language, before, after: readOptional(reader) };
  }
  const object = reader.varint();
  const before = readOptional(reader);
  return { kind: "edge", subject, predicate, object, before, after: readOptional(reader) };
}
