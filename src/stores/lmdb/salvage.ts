/**
 * What a damaged store can be rebuilt from, the better first: the newest synced state with the journal's records behind
 * it, or the data file as it stands. After a death of the processes alone the second holds all that was acknowledged;
 * after a stop of the machine the first does.
 */
import { join } from "node:path";
import { decodeState, stateKey } from "../commit/state.ts";
import { equalBytes } from "../../base/bytes.ts";
import { visitBlockRows } from "../sealed/salvage-blocks.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import { checksumBytes } from "./checksum.ts";
import { checksumOfMetas, dataBytes, dataName, readHeader, type Header } from "./header.ts";
import { visitRows } from "./journal-format.ts";
import { isSound, readHalves, type SoundHalf } from "./journal-halves.ts";
import { readRecords } from "./journal-scan.ts";
import { readMeta, readMetaOf, type Meta } from "./meta-pages.ts";
import { walkPages } from "./page-walk.ts";
import type { PageDamage } from "./pages.ts";
import { findForged } from "./recovery.ts";

export interface Source {
  /** The newest commit that it knows of. */
  readonly commitTs: number;
  /** Each is a thing that is not saved. */
  readonly losses: readonly string[];
  /** Sound ones of the data file. */
  readonly rows: number;
  /** Gives the sound rows with their checksums. Lent. */
  visit(onRow: (key: Buffer, stored: Buffer) => void): void;
  /** Rows of transactions, in order, to be put upon those. */
  readonly records: readonly Buffer[];
}

interface Candidate extends Source {
  readonly name: string;
  readonly pagesLost: number;
}

/** `cipher`: of a store that is encrypted. */
export function findSources(
  dir: string,
  say: (line: string) => void,
  cipher?: StoreCipher,
): readonly Source[] {
  const found = [fromFile(dir, cipher), fromJournal(dir, cipher)];
  const candidates = found.filter((one) => one !== undefined);
  for (const { name, commitTs, losses } of candidates) {
    say(`${name}: commit ${commitTs}, ${losses.length} things lost`);
  }
  return candidates.sort((a, b) => a.pagesLost - b.pagesLost || b.commitTs - a.commitTs);
}

/** The data file as it stands. */
function fromFile(dir: string, cipher: StoreCipher | undefined): Candidate | undefined {
  const meta = readMetaOf(join(dir, dataName));
  if (meta === undefined) return undefined;
  const name = "the data file as it stands";
  return examine({ dir, cipher, meta, name, records: [], journalLosses: findMismatch(dir) });
}

/** What tells that the file is not all that was acknowledged: a sound file of another day, or of another store, looks whole. */
function findMismatch(dir: string): readonly string[] {
  const header = readHeaderIfWhole(dir);
  const loss = "what was committed last may be missing, or all of it be another store's";
  if (header?.state === "closed") {
    const { metasChecksum, cleanBytes } = header;
    const isSame = metasChecksum === undefined || metasChecksum === checksumOfMetas(dir);
    if (isSame && dataBytes(dir) >= cleanBytes) return [];
    return [`${dataName} is not the file that was closed: ${loss}`];
  }
  if (header?.state === "journaled" && !readHalves(dir).some(isSound)) {
    return [`there is no sound journal beside ${dataName}: ${loss}`];
  }
  return [];
}

function fromJournal(dir: string, cipher: StoreCipher | undefined): Candidate | undefined {
  if (isClosed(dir)) return undefined;
  const halves = readHalves(dir);
  const half = halves.filter(isSound).sort((a, b) => b.base.epoch - a.base.epoch)[0];
  const meta = half && readMeta(Buffer.from(half.base.metas));
  if (half === undefined || meta === undefined) return undefined;
  if (findForged([half], cipher) !== undefined) return undefined;
  const { records, losses } = gather(half, halves, cipher);
  const name = "the last synced state and the journal";
  return examine({ dir, cipher, meta, name, records, journalLosses: losses });
}

function isClosed(dir: string): boolean {
  return readHeaderIfWhole(dir)?.state === "closed";
}

function readHeaderIfWhole(dir: string): Header | undefined {
  try {
    return readHeader(dir);
  } catch {
    return undefined;
  }
}

function gather(
  half: SoundHalf,
  halves: ReturnType<typeof readHalves>,
  cipher: StoreCipher | undefined,
): { readonly records: readonly Buffer[]; readonly losses: readonly string[] } {
  const losses: string[] = [];
  const own = readRecords(half, cipher);
  const next = halves.find(({ base }) => base?.epoch === half.base.epoch + 1);
  const later = next === undefined ? undefined : readRecords(next, cipher);
  const isWhole =
    own.damage === undefined && own.records.length >= (next?.base?.recordsBefore ?? 0);
  if (!isWhole) {
    const behind = own.behind.length + (later?.records.length ?? 0);
    losses.push(
      `${own.damage ?? `${half.name} lacks its end`}: ${behind} or more transactions behind it`,
    );
  }
  if (half.mark.isPast) losses.push("the newest file of the journal, with all transactions in it");
  if (isWhole && later?.damage !== undefined) {
    losses.push(`${later.damage}: ${later.behind.length} or more transactions behind it`);
  }
  return { records: [...own.records, ...(isWhole ? (later?.records ?? []) : [])], losses };
}

interface Examined {
  readonly dir: string;
  readonly cipher: StoreCipher | undefined;
  readonly meta: Meta;
  readonly name: string;
  readonly records: readonly Buffer[];
  readonly journalLosses: readonly string[];
}

function examine({ dir, cipher, meta, name, records, journalLosses }: Examined): Candidate {
  const path = join(dir, dataName);
  const losses = [...journalLosses];
  let pagesLost = 0;
  let commitTs = 0;
  let rows = 0;
  const note = (key: Uint8Array, stored: Uint8Array): void => {
    if (!equalBytes(key, stateKey)) return;
    const value = stored.subarray(0, stored.length - checksumBytes);
    commitTs = decodeState(value).commitTs;
  };
  const onDamage = ({ message, isRow }: PageDamage): void => {
    losses.push(message);
    if (!isRow) pagesLost++;
  };
  const lose = (what: string): void => {
    losses.push(what);
    pagesLost++;
  };
  const onRow = (key: Buffer, stored: Buffer): void => {
    rows++;
    note(key, stored);
  };
  visitFile({ path, meta, cipher }, { onRow, onDamage, lose });
  for (const record of records) {
    visitRows(record, (key, stored) => {
      if (stored !== undefined) note(key, stored);
    });
  }
  return {
    name,
    losses,
    rows,
    records,
    commitTs,
    pagesLost,
    visit: (onRow) =>
      visitFile({ path, meta, cipher }, { onRow, onDamage: () => {}, lose: () => {} }),
  };
}

/** The sound rows of a state of the data file. */
function visitFile(
  { path, meta, cipher }: { path: string; meta: Meta; cipher: StoreCipher | undefined },
  visitor: {
    readonly onRow: (key: Buffer, stored: Buffer) => void;
    readonly onDamage: (damage: PageDamage) => void;
    /** Of blocks that cannot be opened. */
    readonly lose: (what: string) => void;
  },
): void {
  let { onDamage } = visitor;
  const walk = (onRow: (key: Buffer, stored: Buffer) => void): void => {
    walkPages(path, meta, { isDeep: true, isRowsOnly: true, onDamage, onRow });
    // A second walk meets the same.
    onDamage = () => {};
  };
  if (cipher === undefined) walk(visitor.onRow);
  else visitBlockRows(walk, cipher, visitor);
}
