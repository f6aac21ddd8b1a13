/**
 * Entries of lists (presence, index, reverse, count) between threads: lists in the order of their keys, each with its
 * members. An entry begins with its length, so that it can be read from a part of a file.
 */
import { must } from "../base/assert.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";

export interface ListEntry {
  readonly list: Uint8Array;
  readonly members: readonly number[];
  /** By member; undefined where none has any. */
  readonly facets: ReadonlyMap<number, Uint8Array> | undefined;
}

const scratch = new ByteWriter(4096);

export function writeListEntry(writer: ByteWriter, { list, members, facets }: ListEntry): void {
  scratch.reset();
  scratch.run(list);
  scratch.varint(members.length);
  scratch.u8(facets === undefined ? 0 : 1);
  let before = 0;
  for (let i = 0; i < members.length; i++) {
    const member = must(members[i], "within bounds");
    scratch.varint(member - before);
    before = member;
    if (facets !== undefined) scratch.run(facets.get(member) ?? noFacets);
  }
  const bytes = scratch.lend();
  writer.u32(bytes.length);
  writer.raw(bytes);
}

const noFacets = new Uint8Array(0);

/** Of an entry behind its length. Shares no memory but the list's key. */
export function readListEntry(bytes: Uint8Array): ListEntry {
  const reader = new ByteReader(bytes);
  const list = reader.run();
  const count = reader.varint();
  const hasFacets = reader.u8() === 1;
  const members: number[] = [];
  const facets = hasFacets ? new Map<number, Uint8Array>() : undefined;
  let member = 0;
  for (let i = 0; i < count; i++) {
    member += reader.varint();
    members.push(member);
    if (facets === undefined) continue;
    const own = reader.run();
    if (own.length > 0) facets.set(member, own.slice());
  }
  return { list, members, facets };
}
