/**
 * The records of an epoch. The last one may be torn: its write was never acknowledged. Where one that is not whole is
 * followed by another, or lies in a file that was cut, the journal is damaged, and what follows was acknowledged.
 */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import {
  epochPlace,
  openRecord,
  readRecordHead,
  recordsAt,
  type RecordName,
} from "./journal-format.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import type { Half } from "./journal-halves.ts";
import { openRows } from "./journal-seal.ts";

interface EpochRecords {
  readonly records: readonly Buffer[];
  /** As a part of a sentence; undefined: there is none, but perhaps a torn end. */
  readonly damage: string | undefined;
  /** Whether what follows the last record is the beginning of one that was never acknowledged. */
  readonly isTorn: boolean;
  /** Of the damage: whole records behind it. */
  readonly behind: readonly Buffer[];
}

/** `cipher`: of a store that is encrypted. */
export function readRecords({ path, name, base }: Half, cipher?: StoreCipher): EpochRecords {
  if (base === undefined) return { records: [], damage: undefined, isTorn: false, behind: [] };
  const { epoch, salt } = base;
  const file = fs.readFileSync(path);
  const records: Buffer[] = [];
  for (let at = recordsAt; ;) {
    const wanted = { epoch, salt, number: records.length };
    const rows = openRecord(file, at, wanted);
    if (rows === undefined) return { records, ...judgeEnd(file, at, wanted, name) };
    const opened = cipher === undefined ? rows : openRows(cipher, rows, wanted);
    if (opened === undefined) {
      const damage = `record ${wanted.number + 1} of ${name} is not what was written`;
      return { records, damage, isTorn: false, behind: [] };
    }
    records.push(opened);
    at = must(readRecordHead(file, at, wanted), "the record was opened").end;
  }
}

function judgeEnd(
  file: Buffer,
  at: number,
  wanted: RecordName,
  name: string,
): Omit<EpochRecords, "records"> {
  const behind = findBehind(file, at, wanted);
  const head = readRecordHead(file, at, wanted);
  // A file grows before a record is written to it.
  const isCut = head !== undefined && head.end > file.length;
  const what = `record ${wanted.number + 1} of ${name} is damaged`;
  if (isCut) return { damage: `${name} is truncated`, isTorn: false, behind };
  return {
    damage: behind.length > 0 ? what : undefined,
    isTorn: behind.length === 0 && head !== undefined,
    behind,
  };
}

/** Records of greater numbers behind `at`, wherever they begin: of the one that is damaged the length is not known. */
function findBehind(file: Buffer, at: number, wanted: RecordName): Buffer[] {
  const pattern = Buffer.alloc(4);
  pattern.writeUInt32LE(wanted.epoch);
  const offset = epochPlace(wanted.salt);
  const found: Buffer[] = [];
  let from = at;
  for (;;) {
    const place = file.indexOf(pattern, from + offset);
    if (place < 0) return found;
    from = place - offset + 1;
    const head = readRecordHead(file, place - offset, wanted);
    if (head === undefined || head.number <= wanted.number) continue;
    const rows = openRecord(file, place - offset, { ...wanted, number: head.number });
    found.push(rows ?? Buffer.alloc(0));
    if (rows !== undefined) from = head.end;
  }
}
