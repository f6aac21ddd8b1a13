/**
 * The writer's journal: what each transaction put and removed, on the disk before the transaction is committed. So LMDB
 * need not sync its pages, which lie scattered, for each of them: one write in sequence takes the place of two syncs
 * (decision 0018). `checkpoints.ts` says when the data file itself is synced.
 *
 * Two files take turns, an epoch each. While the base of an epoch is not sound yet, its records follow those of the
 * epoch before.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { assert, must } from "../../base/assert.ts";
import { metrics } from "../../base/metrics.ts";
import type { Clock } from "../../base/clock.ts";
import {
  baseAt,
  encodeBase,
  encodeMark,
  journalNames,
  recordHeadBytes,
  recordsAt,
  sealRecord,
  type Base,
  type Mark,
  type RowWriter,
} from "./journal-format.ts";
import { FatalEngineError } from "../key-value.ts";
import type { Sealer, StoreCipher } from "../sealed/store-cipher.ts";
import { JournalFile } from "./journal-file.ts";
import { authenticateBase, sealRows } from "./journal-seal.ts";
import { SyncTime } from "./sync-time.ts";

const journalBytes = metrics.counter(
  "weft_journal_bytes_total",
  "Bytes that were written to the journal",
);
const journalRecords = metrics.counter(
  "weft_journal_records_total",
  "Transactions of the store that the journal holds",
);
const journalSeconds = metrics.histogram(
  "weft_journal_write_seconds",
  "Time in which a record of the journal came to the disk",
);

/** What a file keeps of its size between its turns. */
const keptBytes = 16 * 1024 * 1024;

export class Journal {
  private readonly files: readonly JournalFile[];
  private readonly machine: string;
  private readonly clock: Clock;
  private readonly salt = randomBytes(4).readUInt32LE();
  private readonly time = new SyncTime();
  private sound: Base | undefined = undefined;
  private pending: Base | undefined = undefined;
  private epoch = 0;
  /** Of the epoch. */
  private records = 0;
  /** Where the next record goes. */
  private end = recordsAt;
  /** Bytes of the record at the end, until its transaction is committed. */
  private written = 0;
  /** Writes that are under way. */
  private readonly aside = new Set<Promise<void>>();
  private readonly cipher: StoreCipher | undefined;
  private readonly sealer: Sealer | undefined;
  /** The record at the end, sealed once: it may be written twice. */
  private sealed: Buffer | undefined = undefined;

  /** Makes both files anew. `machine`: as `isTrusted` reads it; `cipher`: of a store that is encrypted. */
  constructor(dir: string, machine: string, clock: Clock, cipher?: StoreCipher) {
    this.cipher = cipher;
    this.sealer = cipher?.sealer();
    this.machine = machine;
    this.clock = clock;
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

  /** Whether an epoch may begin: what is under way belongs to the one at hand. */
  get isQuiet(): boolean {
    return this.aside.size === 0 && this.written === 0;
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
    const { machine, salt } = this;
    const plain: Base = { epoch, recordsBefore: this.records, salt, machine, metas };
    const base = this.cipher === undefined ? plain : authenticateBase(this.cipher, plain);
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
    const before = this.sound;
    this.mark(this.pending, { isTrusted: true, isPast: false });
    this.sound = this.pending;
    this.pending = undefined;
    if (before !== undefined) this.mark(before, { isTrusted: true, isPast: true });
  }

  /** A sync of the data file failed: the next start trusts none of its pages but those of the sound base. */
  distrust(): void {
    if (this.sound !== undefined) this.mark(this.sound, { isTrusted: false, isPast: false });
  }

  private mark({ epoch }: Base, bits: Omit<Mark, "epoch">): void {
    this.fileOf(epoch).write(encodeMark({ epoch, ...bits }), 0);
  }

  /** Whether the next record had better be written aside. */
  isSlow(): boolean {
    return this.time.isLong();
  }

  /** Whether rows that it was given are still being read. */
  get isWriting(): boolean {
    return this.aside.size > 0;
  }

  /** One record at the end of the epoch, durable when it resolves. Rejects as `JournalFile` throws. */
  async write(rows: RowWriter): Promise<void> {
    const { file, record } = this.seal(rows);
    const written = file.writeAside(record, this.end);
    const startMs = this.clock.tickMs();
    this.aside.add(written);
    try {
      await written;
    } finally {
      this.aside.delete(written);
      journalSeconds.observe((this.clock.tickMs() - startMs) / 1000);
    }
  }

  /** The same, durable when it returns, also when a `write` of it is under way: both write the same. */
  writeNow(rows: RowWriter): void {
    const { file, record } = this.seal(rows);
    const startMs = this.clock.tickMs();
    file.write(record, this.end);
    const tookMs = this.clock.tickMs() - startMs;
    journalSeconds.observe(tookMs / 1000);
    this.time.note(tookMs);
  }

  private seal(rows: RowWriter): { readonly file: JournalFile; readonly record: Uint8Array } {
    const { epoch, salt, sealer } = this;
    const name = { epoch, number: this.records, salt };
    if (sealer !== undefined) this.sealed ??= sealRows(sealer, rows, name);
    const bytes = this.sealed ?? rows.bytes;
    const length = this.sealed?.length ?? rows.length;
    sealRecord(bytes, length, name);
    const file = this.fileOf(this.epoch);
    file.grow(this.end + length);
    this.written = length;
    return { file, record: bytes.subarray(0, length) };
  }

  /** The transaction is committed. */
  keep(): void {
    journalBytes.count += this.written;
    journalRecords.count++;
    this.end += this.written;
    this.written = 0;
    this.sealed = undefined;
    this.records++;
  }

  /** The transaction was not committed. FatalEngineError when the record stays: a later start would bring it back. */
  takeBack(): void {
    this.sealed = undefined;
    if (this.written === 0) return;
    this.written = 0;
    try {
      assert(this.aside.size === 0, "a record that is being written cannot be taken back");
      this.fileOf(this.epoch).write(Buffer.alloc(recordHeadBytes), this.end);
    } catch (cause) {
      throw new FatalEngineError("the journal's last record cannot be taken back", { cause });
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.aside);
    for (const file of this.files) file.close();
  }

  private fileOf(epoch: number): JournalFile {
    return must(this.files[epoch % this.files.length], "a remainder is below the length");
  }
}
