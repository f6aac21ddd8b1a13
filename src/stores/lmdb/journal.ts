/**
 * The writer's journal: what each transaction put and removed, on the disk before the transaction is committed. So LMDB
 * need not sync its pages, which lie scattered, for each of them: one write in sequence takes the place of two syncs
 * (decision 0018). `checkpoints.ts` says when the data file itself is synced.
 *
 * Two files take turns, an epoch each. While the base of an epoch is not sound yet, its records follow those of the
 * epoch before.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import {
  baseAt,
  encodeBase,
  encodeMark,
  journalNames,
  recordHeadBytes,
  recordsAt,
  RowWriter,
  sealRecord,
  type Base,
} from "./journal-format.ts";
import { JournalFile } from "./journal-file.ts";

/** The run of a base when the pages above it are not to be trusted in any. */
export const distrusted = "";

/** What a file keeps of its size between its turns. */
const keptBytes = 16 * 1024 * 1024;

export class Journal {
  private readonly files: readonly JournalFile[];
  private readonly rows = new RowWriter();
  private readonly machine: string;
  private sound: Base | undefined = undefined;
  private pending: Base | undefined = undefined;
  private epoch = 0;
  /** Of the epoch. */
  private records = 0;
  /** Where the next record goes. */
  private end = recordsAt;
  private isWritten = false;

  /** Makes both files anew. `machine`: of `nameRun`. */
  constructor(dir: string, machine: string) {
    this.machine = machine;
    this.files = journalNames.map((name) => new JournalFile(join(dir, name)));
  }

  /** Bytes of the epoch's records. */
  get bytes(): number {
    return this.end - recordsAt;
  }

  /** Transactions of the epoch. */
  get count(): number {
    return this.records;
  }

  /** Whether the epoch's base waits for `settle`. */
  get isTurning(): boolean {
    return this.pending !== undefined;
  }

  /**
   * Begins an epoch above the state whose meta pages these are. Until `settle` a start goes back to the base before.
   * When it throws, the epoch of before goes on.
   */
  turn(metas: Uint8Array): void {
    assert(this.pending === undefined, "an epoch begins when the one before is sound");
    const epoch = this.epoch + 1;
    const base: Base = { epoch, recordsBefore: this.records, machine: this.machine, metas };
    const file = this.fileOf(epoch);
    file.shrink(keptBytes);
    file.grow(recordsAt);
    file.write(encodeBase(base), baseAt);
    this.pending = base;
    this.epoch = epoch;
    this.records = 0;
    this.end = recordsAt;
  }

  /** All that the pending base names is on the disk: a start goes back to it at most. */
  settle(): void {
    assert(this.pending !== undefined, "there is a base that is not sound");
    this.fileOf(this.pending.epoch).write(encodeMark(this.pending.epoch), 0);
    this.sound = this.pending;
    this.pending = undefined;
  }

  /** A sync of the data file failed: the next start trusts none of its pages but those of the sound base. */
  distrust(): void {
    const { sound } = this;
    if (sound === undefined) return;
    this.fileOf(sound.epoch).write(encodeBase({ ...sound, machine: distrusted }), baseAt);
  }

  begin(): void {
    this.rows.clear();
    this.isWritten = false;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.rows.add(key, value);
  }

  remove(key: Uint8Array): void {
    this.rows.add(key, undefined);
  }

  /** What was put and removed since `begin`: one record, on the disk when this returns. Throws as `JournalFile`. */
  write(): void {
    const { rows } = this;
    if (rows.isEmpty) return;
    sealRecord(rows.bytes, rows.length, this.epoch, this.records);
    const file = this.fileOf(this.epoch);
    file.grow(this.end + rows.length);
    this.isWritten = true;
    file.write(rows.bytes.subarray(0, rows.length), this.end);
  }

  /** The transaction is committed. False when it wrote nothing. */
  keep(): boolean {
    if (!this.isWritten) return false;
    this.isWritten = false;
    this.end += this.rows.length;
    this.records++;
    return true;
  }

  /** The transaction was not committed. Throws when the record stays: a later start might bring it back. */
  takeBack(): void {
    if (!this.isWritten) return;
    this.isWritten = false;
    this.fileOf(this.epoch).write(Buffer.alloc(recordHeadBytes), this.end);
  }

  close(): void {
    for (const file of this.files) file.close();
  }

  private fileOf(epoch: number): JournalFile {
    return this.files[epoch % this.files.length]!;
  }
}
