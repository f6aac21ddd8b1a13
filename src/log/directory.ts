/**
 * The log in a directory: a file for each record, which gets its name when it is whole and on the disk, by `link(2)`:
 * that fails where the name is taken. For one machine, perhaps with a second disk: who reads another machine's
 * directory over a network file system has that system's promises, not these.
 *
 *     records/0000000000000042.wlr   a record: head, then body
 *     lease/0000000000000007.json    who leads; the highest number counts
 *     wishes/a.wish                  machine a does not reach the leader
 *     trimmed                        the oldest number that is kept
 */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs/promises";
import { watch as watchFolder } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { asSealed } from "./record.ts";
import {
  LogAbsent,
  LogDamaged,
  LogTrimmed,
  LogUnavailable,
  LogUnknown,
  type Appended,
  type LeadWish,
  type Lease,
  type LogLease,
  type ReplicatedLog,
  type SealedRecord,
} from "./replicated-log.ts";

/** Makes the directory where there is none. Fault E_STARTUP where that cannot be. */
export async function openDirectoryLog(root: string, clock: Clock): Promise<ReplicatedLog> {
  try {
    for (const folder of ["records", "lease", "new"]) {
      await fs.mkdir(join(root, folder), { recursive: true, mode: 0o700 });
    }
    await syncFolder(root);
    await syncFolder(dirname(root));
    await removeLeftovers(join(root, "new"), clock.nowMs());
  } catch (error) {
    throw new Fault("E_STARTUP", `the log at ${root} cannot be opened: ${wordsOf(error)}`);
  }
  return new DirectoryLog(root);
}

/** Of machines: one that is not there, since its disk is not mounted, is not made. */
export function findDirectoryLog(root: string): ReplicatedLog {
  return new DirectoryLog(root);
}

/** Of processes that were ended between making a file and naming it. */
async function removeLeftovers(folder: string, nowMs: number): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await fs.stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > leftoverMs) await fs.rm(path, { force: true });
  }
}

const leftoverMs = 3_600_000;

class DirectoryLog implements ReplicatedLog {
  readonly lease: LogLease;
  readonly #root: string;
  readonly #records: string;
  /** Numbers up to it were seen. */
  #known = 0;
  /** A folder's sync failed: what is on the disk is not known from now on. */
  #broken: unknown;
  readonly #watchers = new Set<() => void>();

  constructor(root: string) {
    this.#root = root;
    this.#records = join(root, "records");
    this.lease = new DirectoryLease(root, (place, bytes) => this.#putIfAbsent(place, bytes));
  }

  async append(records: readonly SealedRecord[]): Promise<Appended> {
    await this.#assertThere();
    if (this.#broken !== undefined) {
      throw new LogUnknown("a sync of the log's directory has failed", { cause: this.#broken });
    }
    try {
      for (const record of records) {
        if ((await this.#appendOne(record)) === "fenced") return "fenced";
      }
      await this.#syncRecords();
    } catch (error) {
      throw new LogUnknown("the outcome of an append is unknown", { cause: error });
    }
    return "kept";
  }

  async #appendOne(record: SealedRecord): Promise<Appended> {
    const path = this.#pathOf(record.seq);
    if (!(await this.#hasPlace(record))) return "fenced";
    const isNew = await this.#putIfAbsent(path, Buffer.concat([record.head, record.body]));
    if (!isNew && !(await this.#isThere(record))) return "fenced";
    // What it stands behind is trimmed first: while that is there, its own number was not taken and trimmed before.
    if (await this.#hasPlace(record)) return "kept";
    if (isNew) await fs.rm(path, { force: true });
    return "fenced";
  }

  async #hasPlace({ seq, prev }: SealedRecord): Promise<boolean> {
    if (seq === 1) return (await this.#first()) <= 1;
    const before = await this.#readOne(seq - 1);
    return before !== undefined && before.sum.equals(prev) && (await this.#first()) < seq;
  }

  async #isThere({ seq, sum }: SealedRecord): Promise<boolean> {
    const there = await this.#readOne(seq);
    return there !== undefined && there.sum.equals(sum);
  }

  /** Durable before it has its name; the name is not. */
  async #putIfAbsent(path: string, bytes: Uint8Array): Promise<boolean> {
    const made = join(this.#root, "new", randomUUID());
    try {
      await fs.writeFile(made, bytes, { flag: "wx", mode: 0o600, flush: true });
      await fs.link(made, path);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    } finally {
      await fs.rm(made, { force: true });
    }
  }

  /** A failed sync may have lost what it had to write, and the next one says nothing of it. */
  async #syncRecords(): Promise<void> {
    try {
      await syncFolder(this.#records);
    } catch (error) {
      this.#broken = error;
      throw error;
    }
  }

  async read(after: number, bytesMax: number): Promise<readonly SealedRecord[]> {
    const found: SealedRecord[] = [];
    try {
      for (let bytes = 0, seq = after + 1; bytes < bytesMax; seq++) {
        const record = await this.#readNext(seq, found.length > 0);
        if (record === undefined) break;
        found.push(record);
        bytes += record.head.length + record.body.length;
      }
      if (found.length === 0) await this.#assertThere();
      // Looked at last: a deposed leader's file may lie where others were trimmed.
      const first = await this.#first();
      if (after + 1 < first) throw new LogTrimmed(first);
    } catch (error) {
      throw passOn(error);
    }
    this.#known = Math.max(this.#known, found.at(-1)?.seq ?? 0);
    return found;
  }

  async tail(): Promise<number> {
    try {
      // One that is missing is not the end.
      if (this.#known === 0) this.#known = await this.#findLast();
      let seq = Math.max(this.#known, (await this.#first()) - 1);
      while (await exists(this.#pathOf(seq + 1))) seq++;
      await this.#assertThere();
      this.#known = seq;
      return seq;
    } catch (error) {
      throw passOn(error);
    }
  }

  async #findLast(): Promise<number> {
    const names = await readFolderIfThere(this.#records);
    const numbers = names.filter((name) => name.endsWith(".wlr")).map((name) => parseInt(name, 10));
    return numbers.reduce((last, number) => Math.max(last, number), 0);
  }

  watch(wake: () => void): () => void {
    let watcher: ReturnType<typeof watchFolder>;
    try {
      watcher = watchFolder(this.#records, { persistent: false }, () => wake());
    } catch {
      return () => {};
    }
    // It is a hint: who watches looks now and then by himself.
    watcher.on("error", () => watcher.close());
    const stop = (): void => {
      this.#watchers.delete(stop);
      watcher.close();
    };
    this.#watchers.add(stop);
    return stop;
  }

  async trim(below: number): Promise<void> {
    try {
      const first = Math.min(below, await this.tail());
      if (first <= (await this.#first())) return;
      await replaceFile(join(this.#root, "trimmed"), Buffer.from(String(first)));
      await syncFolder(this.#root);
      const names = await fs.readdir(this.#records);
      for (const name of names.filter((each) => each < nameOf(first)).toSorted()) {
        await fs.rm(join(this.#records, name), { force: true });
      }
    } catch (error) {
      throw passOn(error);
    }
  }

  async close(): Promise<void> {
    for (const stop of this.#watchers) stop();
  }

  /** What is not found in a directory that is not there says nothing of the log. */
  async #assertThere(): Promise<void> {
    if (await exists(this.#records)) return;
    throw new LogAbsent(`the log cannot be reached: ${this.#root} does not hold it`);
  }

  #pathOf(seq: number): string {
    return join(this.#records, `${nameOf(seq)}.wlr`);
  }

  async #readOne(seq: number): Promise<SealedRecord | undefined> {
    const bytes = await readIfThere(this.#pathOf(seq));
    if (bytes === undefined) return undefined;
    const headBytes = bytes.length < 6 ? bytes.length : bytes.readUInt16LE(4);
    let record: SealedRecord;
    try {
      record = asSealed(bytes.subarray(0, headBytes), bytes.subarray(headBytes));
    } catch (cause) {
      throw new LogDamaged(seq, "is damaged: its file holds no record", { cause });
    }
    if (record.seq === seq) return record;
    throw new LogDamaged(seq, `is damaged: its file says that it is record ${record.seq}`);
  }

  /** What lies before one that cannot be read is read. */
  async #readNext(seq: number, isBehind: boolean): Promise<SealedRecord | undefined> {
    try {
      return await this.#readOne(seq);
    } catch (error) {
      if (isBehind && error instanceof LogDamaged) return undefined;
      throw error;
    }
  }

  placeOf(seq: number): string {
    return `the file ${this.#pathOf(seq)}`;
  }

  /** The oldest number that is kept. */
  async #first(): Promise<number> {
    const text = await readIfThere(join(this.#root, "trimmed"));
    if (text === undefined) return 1;
    const first = Number(text.toString());
    if (Number.isSafeInteger(first) && first >= 1) return first;
    throw new Fault("E_LOG", `${join(this.#root, "trimmed")} does not hold a number`);
  }
}

const noLease: Lease = { term: 0, beat: 0, node: "", address: "", lastsMs: 0 };

/** Files that follow each other; each is the lease as it then was. */
class DirectoryLease implements LogLease {
  readonly #root: string;
  readonly #folder: string;
  readonly #put: (path: string, bytes: Uint8Array) => Promise<boolean>;

  constructor(root: string, put: (path: string, bytes: Uint8Array) => Promise<boolean>) {
    this.#root = root;
    this.#folder = join(root, "lease");
    this.#put = put;
  }

  async read(): Promise<Lease> {
    return (await this.#newest()).lease;
  }

  async take(seen: Lease, { term, node, address, lastsMs }: Omit<Lease, "beat">): Promise<boolean> {
    const { number, lease } = await this.#newest();
    if (lease.term !== seen.term || lease.beat !== seen.beat) return false;
    return this.#write(number + 1, { term, node, address, lastsMs, beat: 0 });
  }

  async beat(term: number): Promise<boolean> {
    const { number, lease } = await this.#newest();
    if (lease.term !== term || lease.beat < 0) return false;
    return this.#write(number + 1, { ...lease, beat: lease.beat + 1 });
  }

  async giveUp(term: number): Promise<void> {
    const { number, lease } = await this.#newest();
    if (lease.term === term) await this.#write(number + 1, { ...lease, beat: -1 });
  }

  /** One line, named for the machine; names have no blanks. */
  async wish({ node, address, term, count, reaches }: LeadWish): Promise<void> {
    const folder = join(this.#root, "wishes");
    try {
      await fs.mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      const line = [term, count, address, ...reaches].join(" ");
      await replaceFile(join(folder, `${node}.wish`), Buffer.from(line));
    } catch (error) {
      throw passOn(error);
    }
  }

  async wishes(): Promise<readonly LeadWish[]> {
    const folder = join(this.#root, "wishes");
    const wishes: LeadWish[] = [];
    try {
      for (const name of await readFolderIfThere(folder)) {
        const bytes = name.endsWith(".wish") ? await readIfThere(join(folder, name)) : undefined;
        const [term, count, address = "", ...reaches] = bytes?.toString().split(" ") ?? [];
        const node = name.slice(0, -".wish".length);
        if (address !== "")
          wishes.push({ node, address, term: Number(term), count: Number(count), reaches });
      }
    } catch (error) {
      throw passOn(error);
    }
    return wishes;
  }

  /** false: another was written meanwhile. */
  async #write(number: number, lease: Lease): Promise<boolean> {
    const path = this.#pathOf(number);
    try {
      if (!(await this.#put(path, Buffer.from(JSON.stringify(lease))))) return false;
      const numbers = await this.#numbers();
      const newest = Math.max(...numbers);
      for (const old of numbers) {
        if (old < newest) await fs.rm(this.#pathOf(old), { force: true });
      }
      // Its number may have been that of one which was removed since.
      return newest === number;
    } catch (error) {
      throw passOn(error);
    }
  }

  async #newest(): Promise<{ readonly number: number; readonly lease: Lease }> {
    for (;;) {
      const number = Math.max(0, ...(await this.#numbers()));
      if (number === 0) return { number, lease: noLease };
      const bytes = await readIfThere(this.#pathOf(number));
      if (bytes === undefined) continue;
      const held = JSON.parse(bytes.toString()) as Partial<Lease>;
      return { number, lease: { ...noLease, ...held } };
    }
  }

  async #numbers(): Promise<readonly number[]> {
    try {
      return (await fs.readdir(this.#folder)).map((name) => Number.parseInt(name, 10));
    } catch (error) {
      if (codeOf(error) === "ENOENT") {
        throw new LogAbsent(`the log cannot be reached: ${this.#root} does not hold it`);
      }
      throw passOn(error);
    }
  }

  #pathOf(number: number): string {
    return join(this.#folder, `${nameOf(number)}.json`);
  }
}

function nameOf(number: number): string {
  return String(number).padStart(16, "0");
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await fs.readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function readFolderIfThere(path: string): Promise<readonly string[]> {
  try {
    return await fs.readdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await fs.access(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const made = `${path}.new`;
  await fs.writeFile(made, bytes, { mode: 0o600, flush: true });
  await fs.rename(made, path);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

function passOn(error: unknown): unknown {
  const isKnown = error instanceof LogTrimmed || error instanceof LogUnavailable;
  if (error instanceof Fault || isKnown) return error;
  return new LogUnavailable(`the log cannot be reached: ${wordsOf(error)}`, { cause: error });
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
