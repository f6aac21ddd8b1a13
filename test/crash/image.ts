/**
 * What a stop of the machine may leave behind. On the disk are for certain: all that was written to the journal, and of
 * the data file the pages that the newest sound base reaches. Everything else of the data file may be of any age, or not
 * be what anybody wrote.
 */
import type { Random } from "../../src/base/random.ts";
import { baseAt, blockBytes, encodeMark, recordsAt } from "../../src/stores/lmdb/journal-format.ts";
import { reachedPages } from "./data-pages.ts";
import { viewJournal, type Copy } from "./history.ts";

export interface Image {
  readonly data: Buffer;
  readonly journal: readonly Buffer[];
  readonly header: Buffer;
  /** How the sectors were chosen. */
  readonly how: string;
  /** Transactions of the next state that have arrived, and all that it has. */
  readonly arrived: number;
  readonly coming: number;
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random.next() * items.length)]!;
}

/** The first state whose journal has the base that is the newest sound one in state `at`. */
function findBase(copies: readonly Copy[], at: number): number {
  const { bases, sound } = viewJournal(copies[at]!.journal);
  const epoch = bases[sound]!.epoch;
  const has = ({ journal }: Copy): boolean =>
    viewJournal(journal).bases.some((base) => base?.epoch === epoch);
  let first = at;
  while (first > 0 && has(copies[first - 1]!)) first--;
  return first;
}

/** Pages of the newest sound base in state `at` that were overwritten since. There may be none. */
export function overwrittenPages(copies: readonly Copy[], at: number): number[] {
  const { bases, sound } = viewJournal(copies[at]!.journal);
  const first = findBase(copies, at);
  const before = copies[first]!.data;
  const { pages, pageBytes } = reachedPages(before, Buffer.from(bases[sound]!.metas));
  const after = copies[Math.min(at + 1, copies.length - 1)]!;
  const next = viewJournal(after.journal);
  const isStillBase = next.bases[next.sound]!.epoch === bases[sound]!.epoch;
  const last = isStillBase ? after.data : copies[at]!.data;
  return [...pages.keys()].filter((page) => {
    const [start, end] = [page * pageBytes, (page + 1) * pageBytes];
    return pages[page] === 1 && before.compare(last, start, end, start, end) !== 0;
  });
}

interface Write {
  readonly file: number;
  /** Where the bytes stand in their place. */
  readonly source: Buffer;
  readonly at: number;
  readonly end: number;
  readonly isRecord: boolean;
}

/** In their order, each on the disk before the next begins. undefined: the epoch changed twice. */
function journalWrites(before: Copy, after: Copy): Write[] | undefined {
  const [a, b] = [viewJournal(before.journal), viewJournal(after.journal)];
  const [old, now] = [a.bases[a.newest]!, b.bases[b.newest]!];
  if (now.epoch > old.epoch + 1) return undefined;
  const writes: Write[] = [];
  const addRecords = (file: number, from: number): void => {
    const ends = b.records[file]!;
    for (let i = from; i + 1 < ends.length; i++) {
      const [at, end] = [ends[i]!, ends[i + 1]!];
      writes.push({ file, source: after.journal[file]!, at, end, isRecord: true });
    }
  };
  const addMark = (file: number, epoch: number, isPast: boolean): void => {
    const source = encodeMark({ epoch, isTrusted: true, isPast });
    writes.push({ file, source, at: 0, end: blockBytes, isRecord: false });
  };
  const settle = (file: number, epoch: number): void => {
    addMark(file, epoch, false);
    addMark(1 - file, epoch - 1, true);
  };
  const isMarked = !a.isSound[a.newest] && b.isSound[a.newest]!;
  addRecords(a.newest, a.records[a.newest]!.length - 1);
  if (isMarked) settle(a.newest, old.epoch);
  if (b.newest !== a.newest) {
    const source = after.journal[b.newest]!;
    writes.push({ file: b.newest, source, at: baseAt, end: recordsAt, isRecord: false });
    addRecords(b.newest, 0);
    if (b.isSound[b.newest]!) settle(b.newest, now.epoch);
  }
  return writes;
}

interface JournalImage {
  readonly journal: readonly Buffer[];
  readonly arrived: number;
  readonly coming: number;
  readonly how: string;
}

/** The journal of `before`, and of what came next a part: whole writes, then a torn one. */
function tearJournal(random: Random, before: Copy, after: Copy | undefined): JournalImage {
  const found = after === undefined ? [] : journalWrites(before, after);
  const writes = found ?? [];
  // Writes that cannot be told apart have all to come: none of what they lead to is on the disk.
  const coming = found === undefined ? 1 : writes.filter((write) => write.isRecord).length;
  const journal = before.journal.map((file, i) => {
    const image = Buffer.alloc(Math.max(file.length, after?.journal[i]?.length ?? 0));
    file.copy(image);
    return image;
  });
  if (writes.length === 0 || random.next() < 0.3) {
    return { journal, arrived: 0, coming, how: "journal as it was" };
  }
  const cut = Math.floor(random.next() * writes.length);
  let arrived = 0;
  for (const write of writes.slice(0, cut)) {
    write.source.copy(journal[write.file]!, write.at, write.at, write.end);
    if (write.isRecord) arrived++;
  }
  const torn = writes[cut]!;
  const { source } = torn;
  const target = journal[torn.file]!;
  const share = pick(random, [0.2, 0.5, 0.9]);
  const isPrefix = random.next() < 0.5;
  let length = isPrefix ? Math.floor(random.next() * (torn.end - torn.at + 1)) : Infinity;
  for (let at = torn.at; at < torn.end;) {
    const end = Math.min(torn.end, at - (at % 512) + 512);
    if (isPrefix ? length > 0 : random.next() < share) {
      source.copy(target, at, at, Math.min(end, at + length));
    }
    length -= end - at;
    at = end;
  }
  const isWhole = target.compare(source, torn.at, torn.end, torn.at, torn.end) === 0;
  if (torn.isRecord && isWhole) arrived++;
  const kind = torn.isRecord ? "record" : torn.at === 0 ? "mark" : "base";
  return { journal, arrived, coming, how: `${cut} writes and a torn ${kind}` };
}

/** A stop after everything up to state `at` was acknowledged. */
export function makeImage(random: Random, copies: readonly Copy[], at: number): Image {
  const before = copies[at]!;
  const { journal, arrived, coming, how } = tearJournal(random, before, copies[at + 1]);
  const { bases, sound } = viewJournal(journal);
  const base = bases[sound]!;
  // Where the mark of the next base has just arrived, its first state is a later one.
  const holders = copies.slice(0, at + 2);
  const first = holders.findIndex(({ journal: files }) =>
    viewJournal(files).bases.some((one) => one?.epoch === base.epoch),
  );
  const versions = holders.slice(first);
  const { pages, pageBytes } = reachedPages(holders[first]!.data, Buffer.from(base.metas));
  const reachedEnd = (pages.lastIndexOf(1) + 1) * pageBytes;
  const longest = Math.max(...versions.map(({ data }) => data.length));
  const shortest = Math.max(reachedEnd, Math.min(...versions.map(({ data }) => data.length)));
  const length =
    shortest + Math.floor((random.next() * (longest - shortest)) / pageBytes) * pageBytes;
  const sectorBytes = pick(random, [512, 4096]);
  const mode = pick(random, ["mixed", "mixed", "noise", "first", "last"]);
  const data = Buffer.alloc(length);
  // What the base reaches nobody may have overwritten since.
  const newest = copies[Math.max(first, at)]!.data;
  versions[0]!.data.copy(data, 0, 0, length);
  for (let sector = 0; sector < length; sector += sectorBytes) {
    const isReached = pages[Math.floor(sector / pageBytes)] === 1;
    if (isReached) newest.copy(data, sector, sector, sector + sectorBytes);
    else fillSector(random, { data, versions, mode, sector, sectorBytes });
  }
  const metas = pick(random, ["as the rest", "as the rest", "zeros", "noise"]);
  // A commit's meta page is written when its record is on the disk.
  if (arrived < coming)
    pick(random, holders.slice(first, Math.max(first, at) + 1)).data.copy(
      data,
      0,
      0,
      2 * pageBytes,
    );
  if (metas === "zeros") data.fill(0, 0, 2 * pageBytes);
  if (metas === "noise") fillNoise(random, data, 0, 2 * pageBytes);
  return {
    data,
    journal,
    header: before.header,
    arrived,
    coming,
    how: `${how}; sectors of ${sectorBytes} bytes ${mode}, meta pages ${metas}, ${length} bytes`,
  };
}

interface SectorChoice {
  readonly data: Buffer;
  readonly versions: readonly Copy[];
  readonly mode: string;
  readonly sector: number;
  readonly sectorBytes: number;
}

function fillSector(random: Random, choice: SectorChoice): void {
  const { data, versions, mode, sector, sectorBytes } = choice;
  if (mode === "first") return;
  if (mode === "noise") {
    fillNoise(random, data, sector, sector + sectorBytes);
    return;
  }
  const version = mode === "last" ? versions.at(-1)! : pick(random, versions);
  const end = Math.min(sector + sectorBytes, version.data.length);
  if (sector < end) version.data.copy(data, sector, sector, end);
}

function fillNoise(random: Random, data: Buffer, from: number, to: number): void {
  for (let at = from; at + 4 <= Math.min(to, data.length); at += 4) {
    data.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at);
  }
}
