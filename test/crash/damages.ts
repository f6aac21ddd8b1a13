/** Damage to a store's files: single bits in each kind of place, files that are cut, gone or of an earlier day. */
import type { Random } from "../../src/base/random.ts";
import {
  baseAt,
  recordHeadBytes,
  recordsAt,
  secondMarkAt,
} from "../../src/stores/lmdb/journal-format.ts";
import { reachedPages } from "./data-pages.ts";
import { viewJournal } from "./history.ts";

/** By name; undefined: it is not there. */
export type Files = ReadonlyMap<string, Buffer | undefined>;

export interface Damage {
  /** The kind of place. */
  readonly where: string;
  readonly how: string;
  readonly files: Files;
}

/** Bytes of a file, from and to. */
interface Region {
  readonly where: string;
  readonly name: string;
  readonly at: number;
  readonly end: number;
}

const pageBytes = 4096;
const headBytes = 24;

function regionsOfPage(page: Buffer, start: number): Region[] {
  const name = "data.mdb";
  const region = (where: string, from: number, to: number): Region => ({
    where,
    name,
    at: start + from,
    end: start + to,
  });
  const flags = page.readUInt16LE(18);
  if ((flags & 4) !== 0)
    return [region("long value's head", 0, headBytes), region("long value", headBytes, pageBytes)];
  if ((flags & 3) === 0) return [];
  const kind = (flags & 1) !== 0 ? "branch" : "leaf";
  const count = page.readUInt16LE(20) >> 1;
  const regions = [
    region(`${kind} page's head`, 0, headBytes),
    region(`${kind} page's places`, headBytes, headBytes + 2 * count),
  ];
  for (let i = 0; i < count; i++) {
    const node = page.readUInt16LE(headBytes + 2 * i) + headBytes;
    const keyEnd = node + 8 + page.readUInt16LE(node + 6);
    regions.push(region(`${kind} row's head`, node, node + 8));
    if (keyEnd > node + 8) regions.push(region(`${kind} row's key`, node + 8, keyEnd));
    if (kind === "branch") continue;
    const isLong = (page.readUInt16LE(node + 4) & 1) !== 0;
    const size = isLong ? 8 : page.readUInt32LE(node);
    regions.push(
      region(
        isLong ? "leaf row's place of a long value" : "leaf row's value",
        keyEnd,
        keyEnd + size,
      ),
    );
  }
  return regions;
}

function regionsOf(files: Files): Region[] {
  const regions: Region[] = [];
  const header = files.get("weft.store")!;
  regions.push({ where: "header", name: "weft.store", at: 0, end: header.length });
  const keys = files.get("weft.keys");
  if (keys !== undefined)
    regions.push({ where: "keys", name: "weft.keys", at: 0, end: keys.length });
  const data = files.get("data.mdb")!;
  for (const start of [0, pageBytes]) {
    regions.push({ where: "meta page", name: "data.mdb", at: start, end: start + 200 });
  }
  const { pages } = reachedPages(data, data.subarray(0, 2 * pageBytes));
  for (let number = 2; number < pages.length; number++) {
    if (pages[number] !== 1) continue;
    const page = data.subarray(number * pageBytes, (number + 1) * pageBytes);
    regions.push(...regionsOfPage(page, number * pageBytes));
    // Those behind the first page of a long value have no head.
    if ((page.readUInt16LE(18) & 4) !== 0) number += page.readUInt32LE(20) - 1;
  }
  const names = ["journal.0", "journal.1"];
  const journal = names.flatMap((name) => files.get(name) ?? []);
  if (journal.length < names.length) return regions;
  const view = viewJournal(journal);
  names.forEach((name, i) => {
    const add = (where: string, at: number, end: number): void => {
      regions.push({ where: `journal's ${where}`, name, at, end });
    };
    add("mark", 0, 16);
    add("second mark", secondMarkAt, secondMarkAt + 16);
    add("base", baseAt, baseAt + 100);
    add("base", baseAt + 100, baseAt + 8300);
    const ends = view.records[i]!;
    for (let k = 0; k + 1 < ends.length; k++) {
      add("record's length", ends[k]!, ends[k]! + 4);
      add("record's head", ends[k]! + 4, ends[k]! + recordHeadBytes);
      add("record", ends[k]! + recordHeadBytes, ends[k + 1]!);
    }
    add(
      "end",
      ends.at(-1)!,
      recordsAt + 4096 > ends.at(-1)! ? ends.at(-1)! + 4096 : ends.at(-1)! + 100,
    );
  });
  return regions;
}

function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random.next() * (high - low));
}

/** In each kind of place `count` bits. */
export function* flipBits(random: Random, files: Files, count: number): Generator<Damage> {
  const kinds = new Map<string, Region[]>();
  for (const region of regionsOf(files)) {
    const known = kinds.get(region.where);
    if (known === undefined) kinds.set(region.where, [region]);
    else known.push(region);
  }
  for (const [where, regions] of kinds) {
    for (let i = 0; i < count; i++) {
      const { name, at, end } = regions[between(random, 0, regions.length)]!;
      const file = Buffer.from(files.get(name)!);
      const place = Math.min(between(random, at, end), file.length - 1);
      const bit = between(random, 0, 8);
      file[place] = file[place]! ^ (1 << bit);
      yield {
        where,
        how: `bit ${bit} of byte ${place} of ${name}`,
        files: new Map(files).set(name, file),
      };
    }
  }
}

/** Each file is cut `count` times, removed, and exchanged for its older copies. */
export function* spoilFiles(
  random: Random,
  files: Files,
  older: readonly Files[],
  count: number,
): Generator<Damage> {
  for (const [name, file] of files) {
    if (file === undefined) continue;
    const change = (where: string, how: string, changed: Buffer | undefined): Damage => ({
      where: `${where} ${name}`,
      how,
      files: new Map(files).set(name, changed),
    });
    yield change("without", "removed", undefined);
    for (let i = 0; i < count; i++) {
      const length = between(random, 0, file.length);
      yield change("cut", `to ${length} bytes`, file.subarray(0, length));
    }
    for (const [i, copies] of older.entries()) {
      const before = copies.get(name);
      if (before !== undefined && !before.equals(file)) yield change("older", `copy ${i}`, before);
    }
  }
}
