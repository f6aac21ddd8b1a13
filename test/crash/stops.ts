/**
 * A machine that stops at any call of the file system: `watch` is told of each one before it is made, and keeps what is
 * on the disk for certain and what may be. For a test file that replaces `node:fs` by `watchedFs`.
 */
import type * as NodeFs from "node:fs";
import { join } from "node:path";
import type { Random } from "../../src/base/random.ts";

type Fs = typeof NodeFs;

/** Calls that change the disk, or say what is on it. */
const changing = [
  "writeSync",
  "writeFileSync",
  "ftruncateSync",
  "truncateSync",
  "fdatasyncSync",
  "fsyncSync",
  "rmSync",
  "unlinkSync",
  "renameSync",
] as const;

/** A change of the directory is on the disk with its sync; of these files it holds what was written to them. */
const names = ["journal.0", "journal.1", "weft.store"] as const;
type Entries = ReadonlyMap<string, Buffer>;

interface Entry {
  readonly inode: number;
  readonly bytes: Buffer;
}

/** What there is when the machine stops. */
export interface Stop {
  /** The call that is not made any more. */
  readonly call: string;
  /** The data file as of its last sync, and as it was written since. */
  readonly synced: Buffer;
  readonly written: Buffer;
  /** The directory as of its last sync, and as it is. */
  readonly syncedEntries: Entries;
  readonly entries: Entries;
}

export interface Remains {
  readonly data: Buffer;
  readonly entries: Entries;
  readonly how: string;
}

class Watch {
  readonly stops: Stop[] = [];
  private readonly fs: Fs;
  private readonly dir: string;
  private synced: Buffer;
  private syncedEntries: Map<string, Entry>;

  constructor(fs: Fs, dir: string, synced: Buffer) {
    this.fs = fs;
    this.dir = dir;
    this.synced = synced;
    this.syncedEntries = this.readEntries();
  }

  before(call: string): void {
    const now = this.readEntries();
    // A name that is gone or has another file may come back, with all that was written to its file.
    for (const [name, { inode }] of this.syncedEntries) {
      const entry = now.get(name);
      if (entry?.inode === inode) this.syncedEntries.set(name, entry);
    }
    this.stops.push({
      call: `${this.stops.length}, ${call}`,
      synced: this.synced,
      written: this.readData(),
      syncedEntries: bytesOf(this.syncedEntries),
      entries: bytesOf(now),
    });
  }

  after(call: string, file: unknown): void {
    if ((call !== "fsyncSync" && call !== "fdatasyncSync") || typeof file !== "number") return;
    const { ino } = this.fs.fstatSync(file);
    if (ino === this.fs.statSync(this.dir).ino) this.syncedEntries = this.readEntries();
    else if (ino === this.fs.statSync(this.dataPath).ino) this.synced = this.readData();
  }

  private get dataPath(): string {
    return join(this.dir, "data.mdb");
  }

  private readData(): Buffer {
    return this.fs.readFileSync(this.dataPath);
  }

  private readEntries(): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const name of names) {
      const path = join(this.dir, name);
      const inode = this.fs.statSync(path, { throwIfNoEntry: false })?.ino;
      if (inode !== undefined) entries.set(name, { inode, bytes: this.fs.readFileSync(path) });
    }
    return entries;
  }
}

function bytesOf(entries: ReadonlyMap<string, Entry>): Entries {
  return new Map([...entries].map(([name, { bytes }]) => [name, bytes]));
}

export interface WatchedFs {
  readonly fs: Fs;
  /** Every stop of the machine while `work` runs. `synced`: of the data file, what is on the disk already. */
  watch(dir: string, synced: Buffer, work: () => Promise<void>): Promise<Stop[]>;
}

export function watchFs(real: Fs): WatchedFs {
  let watching: Watch | undefined;
  const calls = Object.fromEntries(
    changing.map((name) => [
      name,
      (...args: unknown[]): unknown => {
        watching?.before(name);
        const result = (real[name] as (...given: unknown[]) => unknown)(...args);
        watching?.after(name, args[0]);
        return result;
      },
    ]),
  );
  const fs = { ...real, ...calls } as Fs;
  return {
    fs,
    watch: async (dir, synced, work) => {
      const watch = new Watch(real, dir, synced);
      watching = watch;
      try {
        await work();
      } finally {
        watching = undefined;
      }
      return watch.stops;
    },
  };
}

/** Every choice of which changes of the directory have arrived; the data file's unsynced sectors are of any age. */
export function* remainsOf(random: Random, stop: Stop): Generator<Remains> {
  const open = names.filter((name) => isOpen(stop.syncedEntries.get(name), stop.entries.get(name)));
  for (let choice = 0; choice < 1 << open.length; choice++) {
    const entries = new Map(stop.entries);
    const old = open.filter((_, i) => (choice & (1 << i)) !== 0);
    for (const name of old) {
      const before = stop.syncedEntries.get(name);
      if (before === undefined) entries.delete(name);
      else entries.set(name, before);
    }
    const how = `before call ${stop.call}, as before: ${old.join(" ") || "nothing"}`;
    yield { data: mixData(random, stop), entries, how };
  }
}

function isOpen(before: Buffer | undefined, after: Buffer | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after;
  return !before.equals(after);
}

function mixData(random: Random, { synced, written }: Stop): Buffer {
  const data = Buffer.alloc(Math.max(synced.length, written.length));
  synced.copy(data);
  const share = random.next();
  for (let at = 0; at < written.length; at += 512) {
    if (random.next() < share) written.copy(data, at, at, Math.min(at + 512, written.length));
  }
  return data;
}
