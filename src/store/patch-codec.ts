/** Patches, changes and commits as bytes: for the log and for the way to the writer. */
import { assert, Broken, must, unreachable } from "../base/assert.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { readOptional, writeOptional } from "../codec/log-entry.ts";
import type { AppliedPatch, Change, ChangeId, Commit, Patch, TouchVisitor } from "./store.ts";

const patchKinds = ["cell", "edge", "member", "meta"] as const satisfies readonly Patch["kind"][];

const kindNumbers = { cell: 0, edge: 1, member: 2, meta: 3 } as const satisfies Readonly<
  Record<Patch["kind"], number>
>;

function writePatch(writer: ByteWriter, patch: Patch): void {
  switch (patch.kind) {
    case "cell":
      writer.u8(kindNumbers.cell);
      writer.u32(patch.storageId);
      writer.varint(patch.uid);
      writer.u32(patch.predicate);
      writer.latin1(patch.slot);
      writeOptional(writer, patch.cell);
      return writer.u32(patch.countIndex);
    case "edge":
      writer.u8(kindNumbers.edge);
      writer.u32(patch.storageId);
      writer.varint(patch.uid);
      writer.u32(patch.predicate);
      writer.varint(patch.target);
      writer.u8(patch.add ? 1 : 0);
      writeOptional(writer, patch.facets);
      return writer.u32(patch.countIndex);
    case "member":
      writer.u8(kindNumbers.member);
      writer.run(patch.list);
      writer.varint(patch.member);
      writer.u8(patch.add ? 1 : 0);
      writeOptional(writer, patch.facets);
      writer.u32(patch.countIndex);
      return writer.varint(patch.owner);
    case "meta":
      writer.u8(kindNumbers.meta);
      writer.run(patch.key);
      writeOptional(writer, patch.value);
      if (patch.expected === "any") return writer.u8(2);
      return writeOptional(writer, patch.expected);
    default:
      return unreachable(patch);
  }
}

/** Shares the reader's memory. */
function readPatch(reader: ByteReader): Patch {
  const kind = patchKinds[reader.u8()];
  switch (kind) {
    case "cell": {
      const storageId = reader.u32();
      const uid = reader.varint();
      const predicate = reader.u32();
      const slot = reader.latin1();
      const cell = readOptional(reader);
      return { kind, storageId, uid, predicate, slot, cell, countIndex: reader.u32() };
    }
    case "edge": {
      const storageId = reader.u32();
      const uid = reader.varint();
      const predicate = reader.u32();
      const target = reader.varint();
      const add = reader.u8() === 1;
      const facets = readOptional(reader);
      const countIndex = reader.u32();
      return { kind, storageId, uid, predicate, target, add, facets, countIndex };
    }
    case "member": {
      const list = reader.run();
      const member = reader.varint();
      const add = reader.u8() === 1;
      const facets = readOptional(reader);
      const countIndex = reader.u32();
      return { kind, list, member, add, facets, countIndex, owner: reader.varint() };
    }
    case "meta": {
      const key = reader.run();
      const value = readOptional(reader);
      const mark = reader.u8();
      const expected = mark === 2 ? "any" : mark === 1 ? reader.run() : undefined;
      return { kind, key, value, expected };
    }
    default:
      throw new Broken("a stored patch has a known kind");
  }
}

function writeChangeId(writer: ByteWriter, id: ChangeId): void {
  writer.u8(id.slot);
  writer.varint(id.floorTs);
  writer.varint(id.sequence);
}

function readChangeId(reader: ByteReader): ChangeId {
  const slot = reader.u8();
  const floorTs = reader.varint();
  return { slot, floorTs, sequence: reader.varint() };
}

/** One text for an id, as a key of maps. */
export function changeIdText(id: ChangeId): string {
  return `${id.slot}.${id.floorTs}.${id.sequence}`;
}

export function writeChange(writer: ByteWriter, change: Change): void {
  writeChangeId(writer, change.id);
  writer.varint(change.startTs);
  writer.varint(change.basisTs);
  writer.varint(change.fence);
  writer.u8(change.raisesFence === true ? 1 : 0);
  writer.varint(change.conflictKeys.length);
  for (const key of change.conflictKeys) writer.latin1(key);
  writer.varint(change.basisKeys.length);
  for (const key of change.basisKeys) writer.latin1(key);
  writeKeys(writer, change.touched);
  writeKeys(writer, change.deleted);
  writer.varint(change.patches.length);
  for (const patch of change.patches) writePatch(writer, patch);
  writer.run(change.log);
}

function writeKeys(writer: ByteWriter, keys: readonly string[] = noKeys): void {
  writer.varint(keys.length);
  for (const key of keys) writer.latin1(key);
}

const noKeys: readonly string[] = [];

/** Shares the reader's memory. */
export function readChange(reader: ByteReader): Change {
  const id = readChangeId(reader);
  const startTs = reader.varint();
  const basisTs = reader.varint();
  const fence = reader.varint();
  const raisesFence = reader.u8() === 1;
  const conflictKeys = readMany(reader, () => reader.latin1());
  const basisKeys = readMany(reader, () => reader.latin1());
  const touched = readMany(reader, () => reader.latin1());
  const deleted = readMany(reader, () => reader.latin1());
  const patches = readMany(reader, () => readPatch(reader));
  const log = reader.run();
  return {
    id,
    startTs,
    basisTs,
    fence,
    raisesFence,
    conflictKeys,
    basisKeys,
    touched,
    deleted,
    patches,
    log,
  };
}

function readMany<T>(reader: ByteReader, read: () => T): T[] {
  const items: T[] = [];
  for (let left = reader.varint(); left > 0; left--) items.push(read());
  return items;
}

const commitFormat = 1;

/** A row of the log. `committedMs`: by the writer's clock, for the retention. */
export function encodeCommit(commit: Commit, committedMs: number): Uint8Array {
  const writer = rowWriter;
  writer.reset();
  writeFront(writer, commit, committedMs);
  for (const applied of commit.applied) writeApplied(writer, applied);
  const row = writer.finish();
  if (row.length > rowBytesKept) rowWriter = new ByteWriter(rowBytesFirst);
  return row;
}

/** Patches that are written in one piece: some hundred microseconds. */
const patchesInPiece = 256;

/** `encodeCommit`, which rests between pieces of a large commit. */
export function* encodeCommitInPieces(
  commit: Commit,
  committedMs: number,
): Generator<void, Uint8Array, void> {
  const { applied } = commit;
  if (applied.length <= patchesInPiece) return encodeCommit(commit, committedMs);
  // Not the one for all rows: others may be written between two pieces.
  const writer = new ByteWriter(rowBytesKept);
  writeFront(writer, commit, committedMs);
  for (let i = 0; i < applied.length; i++) {
    writeApplied(writer, must(applied[i], "within bounds"));
    if (i % patchesInPiece === patchesInPiece - 1) yield;
  }
  return writer.finish();
}

function writeFront(writer: ByteWriter, commit: Commit, committedMs: number): void {
  writer.u8(commitFormat);
  writer.f64(committedMs);
  writeChangeId(writer, commit.id);
  writer.run(commit.log);
  writer.varint(commit.applied.length);
}

function writeApplied(writer: ByteWriter, { patch, existed, before }: AppliedPatch): void {
  writePatch(writer, patch);
  writer.u8(existed ? 1 : 0);
  writeOptional(writer, before);
}

/** One for all rows: growing anew for each cost as much as writing it. */
const rowBytesFirst = 4096;
let rowWriter = new ByteWriter(rowBytesFirst);
/** After a longer row its memory goes back. */
const rowBytesKept = 1024 * 1024;

/** The front of a log row: all that the writer needs after a restart. */
export function readCommitFront(row: Uint8Array): { committedMs: number; id: ChangeId } {
  const reader = new ByteReader(row);
  assert(reader.u8() === commitFormat, "a log row has a known format");
  const committedMs = reader.f64();
  return { committedMs, id: readChangeId(reader) };
}

/** Shares the memory of `row`. */
export function decodeCommit(commitTs: number, row: Uint8Array): Commit {
  const { id, log, applied } = openCommit(row);
  return { commitTs, id, log, applied: [...applied] };
}

/**
 * A log row that is decoded patch by patch: a commit may have millions of them. `applied` can be walked once. Shares
 * the memory of `row`.
 */
export function openCommit(row: Uint8Array): OpenCommit {
  const reader = new ByteReader(row, committedMsAt);
  const committedMs = reader.f64();
  const id = readChangeId(reader);
  const log = reader.run();
  return { committedMs, id, log, applied: readApplied(reader) };
}

interface OpenCommit extends Pick<Commit, "id" | "log"> {
  /** By the clock of whoever wrote it. */
  readonly committedMs: number;
  readonly applied: Iterable<AppliedPatch>;
}

const committedMsAt = 1;

function* readApplied(reader: ByteReader): Generator<AppliedPatch, void> {
  for (let left = reader.varint(); left > 0; left--) {
    const patch = readPatch(reader);
    const existed = reader.u8() === 1;
    yield { patch, existed, before: readOptional(reader) };
  }
}

/** Visits what a log row's patches touched, in their order: values are stepped over, nothing is kept. */
export function visitTouched(row: Uint8Array, visitor: TouchVisitor): void {
  const reader = new ByteReader(row, 9);
  readChangeId(reader);
  reader.skipRun();
  for (let left = reader.varint(); left > 0; left--) visitPatch(reader, visitor);
}

function visitPatch(reader: ByteReader, visitor: TouchVisitor): void {
  const kind = patchKinds[reader.u8()];
  switch (kind) {
    case "cell":
    case "edge": {
      const storageId = reader.u32();
      const uid = reader.varint();
      const predicate = reader.u32();
      if (kind === "cell") reader.skipRun();
      else reader.varint();
      const isSet = kind === "edge" ? reader.u8() === 1 : skipOptional(reader);
      if (kind === "edge") skipOptional(reader);
      reader.u32();
      const existed = reader.u8() === 1;
      visitor.record(storageId, uid, predicate, existed && isSet);
      break;
    }
    case "member": {
      const length = reader.varint();
      const list = visitor.wantsMembers ? reader.raw(length) : reader.skip(length);
      const member = reader.varint();
      const isAdded = reader.u8() === 1;
      skipOptional(reader);
      reader.u32();
      reader.varint();
      reader.u8();
      if (list !== undefined) visitor.member(list, member, isAdded);
      break;
    }
    case "meta":
      reader.skipRun();
      skipOptional(reader);
      if (reader.u8() === 1) reader.skipRun();
      reader.u8();
      visitor.meta();
      break;
    default:
      throw new Broken("a stored patch has a known kind");
  }
  skipOptional(reader);
}

/** Whether there was something. */
function skipOptional(reader: ByteReader): boolean {
  if (reader.u8() === 0) return false;
  reader.skipRun();
  return true;
}
