/**
 * Rows of new records and lists, for a store that is made in one go: what a commit would write if it added all of a
 * node, or of a list, to an empty store. Rows are as the LMDB adapter keeps them, with checksums and heads apart.
 */
import { assert, must } from "../base/assert.ts";
import { compareBytes, writeUint32 } from "../base/bytes.ts";
import { EditedChunk } from "./apply/edited-chunk.ts";
import { Slots } from "./apply/slots.ts";
import { defaultTuning, type Tuning } from "./apply/tuning.ts";
import { WorkingList } from "./apply/working-list.ts";
import { WorkingRecord, type RecordHost } from "./apply/working-record.ts";
import type { KeyValue } from "./key-value.ts";
import { checksumBytes, checksumOf } from "./lmdb/checksum.ts";
import { headRowKey, liesApart, stubRow } from "./lmdb/head-rows.ts";

/** Told rows: of one record or list in the order of their keys. `stored`: with its checksum. */
type RowSink = (key: Uint8Array, stored: Uint8Array) => void;

/**
 * Chunks that nobody will soon insert into are filled as far as two of them fit a page of 4 KB, with their keys: at the
 * usual aim a sixth of each page stays empty.
 */
const packedChunkBytes = 1880;

interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class RowBuilder implements RecordHost {
  readonly tuning: Tuning = { ...defaultTuning, chunkBytesAim: packedChunkBytes };
  readonly kv: KeyValue = {
    get: () => undefined,
    put: (key, value) => void this.rows.push({ key, value }),
    remove: () => assert(false, "nothing is removed from what is new"),
    scan: () => {},
  };
  private readonly sink: RowSink;
  private rows: Row[] = [];
  private lists: WorkingList[] = [];
  private record: WorkingRecord | undefined = undefined;

  constructor(sink: RowSink) {
    this.sink = sink;
  }

  beginRecord(storageId: number, uid: number): void {
    this.record = new WorkingRecord(this, storageId, uid);
  }

  /** Of a slot that was given before, the new one counts. */
  addCell(predicate: number, slot: string, cell: Uint8Array): void {
    const entry = must(this.record, "the record was opened").entry(predicate);
    (entry.cells ??= new Slots()).set(slot, cell);
    entry.isDirty = true;
  }

  /** `facets` empty for none. Targets come in ascending order. */
  addEdge(predicate: number, target: number, facets: Uint8Array): void {
    const entry = must(this.record, "the record was opened").entry(predicate);
    (entry.edges ??= new EditedChunk(undefined)).edit(target, facets);
    entry.isDirty = true;
  }

  endRecord(): void {
    must(this.record, "the record was opened").flush();
    for (const list of this.lists) list.flush();
    this.lists = [];
    this.give();
  }

  /** `facets` by member. Members ascend. */
  addList(
    prefix: Uint8Array,
    members: readonly number[],
    facets: ReadonlyMap<number, Uint8Array> | undefined,
  ): void {
    const list = new WorkingList(this.kv, prefix, this.tuning);
    for (let i = 0; i < members.length; i++) {
      const member = must(members[i], "within bounds");
      list.edit(member, facets?.get(member) ?? noFacets);
    }
    list.flush();
    this.give();
  }

  openList(prefix: Uint8Array): WorkingList {
    const list = new WorkingList(this.kv, prefix, this.tuning);
    this.lists.push(list);
    return list;
  }

  closeList(): void {
    assert(false, "a new list does not shrink");
  }

  private give(): void {
    const { rows } = this;
    this.rows = [];
    if (rows.length > 1) rows.sort((a, b) => compareBytes(a.key, b.key));
    for (const { key, value } of rows) {
      if (liesApart(key, value)) {
        this.put(key, stubRow);
        this.put(headRowKey(key), value);
      } else this.put(key, value);
    }
  }

  private put(key: Uint8Array, value: Uint8Array): void {
    this.sink(key, toStored(key, value));
  }
}

const noFacets = new Uint8Array(0);

/** A value with its checksum. */
export function toStored(key: Uint8Array, value: Uint8Array): Uint8Array {
  const { length } = value;
  const stored = new Uint8Array(length + checksumBytes);
  stored.set(value);
  writeUint32(stored, length, checksumOf(key, value, length));
  return stored;
}
