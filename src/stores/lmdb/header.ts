/**
 * The header file, and all that is checked before LMDB sees a directory: over a truncated file it ends the process
 * with SIGBUS, over damaged meta pages with SIGSEGV (architecture 3.2).
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { Fault } from "../../model/fault.ts";
import { linkName } from "./link-address.ts";
import type { Witness } from "./machine.ts";
import { findLoss, type Loss } from "./recovery.ts";

const magic = "weft store\n";
/**
 * 1: lists of several chunks have no open chunk. 2: their heads may hold one (`codec/chunk.ts`). 3: heads may lie apart
 * from their lists (`head-rows.ts`); a head where an older format put it is read there, and moves when it is written
 * again. 4: a journal may lie beside the data (`journal.ts`). So each upgrade is the header alone.
 */
const formatVersion = 4;
const headerName = "weft.store";
export const dataName = "data.mdb";
/** Names that may lie in a new store's directory. */
const ignoredNames: ReadonlySet<string> = new Set(["lost+found", headerName + ".new", linkName]);

export interface StoreHeader {
  /** 32 hex digits. */
  readonly storeId: string;
  /** Bytes of the data file when it was closed in order; 0 while it is open. */
  readonly cleanBytes: number;
  /** What wrote it is older than this program; a writer says so in the header before it writes anything else. */
  readonly isOlderFormat: boolean;
  /** It was open when the witness's predecessor stopped: a writer must bring it back first (`recovery.ts`). */
  readonly isLost: boolean;
}

function refuse(dir: string, reason: string, cause?: unknown): Fault {
  return new Fault("E_STARTUP", `cannot open the store at ${dir}: ${reason}`, {
    cause,
  });
}

/** The header of a store that is there and looks sound; undefined for a directory where one may be made. */
export function inspectStore(dir: string, witness: Witness = {}): StoreHeader | undefined {
  let names: string[];
  try {
    names = fs.readdirSync(dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw refuse(dir, "it is not a directory", error);
    throw refuse(dir, "the directory cannot be read", error);
  }
  if (!names.includes(headerName)) {
    if (names.every((name) => ignoredNames.has(name))) return undefined;
    throw refuse(dir, "the directory is not empty and is not a store");
  }
  const header = readHeader(dir);
  const loss = header.cleanBytes === 0 ? findLoss(dir, join(dir, dataName), witness) : undefined;
  checkData(dir, header, loss);
  return { ...header, isLost: loss !== undefined };
}

function readHeader(dir: string): StoreHeader {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(join(dir, headerName));
  } catch (error) {
    throw refuse(dir, `${headerName} cannot be read`, error);
  }
  const front = magic.length;
  if (bytes.length < front + 4 || bytes.toString("latin1", 0, front) !== magic) {
    throw refuse(dir, `${headerName} is damaged`);
  }
  const version = bytes.readUInt32LE(front);
  if (version > formatVersion) {
    throw refuse(dir, `its format ${version} is newer than this program's (${formatVersion})`);
  }
  if (
    bytes.length !== front + 32 ||
    crc32(bytes.subarray(0, front + 28)) !== bytes.readUInt32LE(front + 28)
  ) {
    throw refuse(dir, `${headerName} is damaged`);
  }
  return {
    storeId: bytes.toString("hex", front + 4, front + 20),
    cleanBytes: bytes.readDoubleLE(front + 20),
    isOlderFormat: version < formatVersion,
    isLost: false,
  };
}

/** Synced with its directory, and never half written. */
export function writeHeader(dir: string, header: StoreHeader): void {
  const front = magic.length;
  const bytes = Buffer.alloc(front + 32);
  bytes.write(magic, 0, "latin1");
  bytes.writeUInt32LE(formatVersion, front);
  bytes.write(header.storeId, front + 4, "hex");
  bytes.writeDoubleLE(header.cleanBytes, front + 20);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, front + 28)), front + 28);
  const made = join(dir, headerName + ".new");
  const file = fs.openSync(made, "w", 0o600);
  try {
    fs.writeSync(file, bytes);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(made, join(dir, headerName));
  syncDirectory(dir);
}

export function syncDirectory(dir: string): void {
  const handle = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

/** A new store's directory and header. The claim for writing must be held. */
export function createStore(dir: string): StoreHeader {
  const isNew = fs.mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined;
  if (isNew) syncDirectory(dirname(dir));
  const header = {
    storeId: randomBytes(16).toString("hex"),
    cleanBytes: 0,
    isOlderFormat: false,
    isLost: false,
  };
  writeHeader(dir, header);
  return header;
}

/** 0 also of a file that is all zeros: a first start made it, and the machine stopped before anything was synced. */
export function dataBytes(dir: string): number {
  const path = join(dir, dataName);
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > blankBytesMax) return size;
  return size > 0 && fs.readFileSync(path).some((byte) => byte !== 0) ? size : 0;
}

const blankBytesMax = 1024 * 1024;

const pageBytes = 4096;
const metaMagic = 0xbeefc0de;
/** Pages at the file's end that LMDB may have counted and never written. */
const unwrittenPagesMax = 1024;

/** The pages are those that a start would take: of the base where there is a loss. */
function checkData(dir: string, header: StoreHeader, loss: Loss | undefined): void {
  const size = dataBytes(dir);
  if (header.cleanBytes > 0 && size < header.cleanBytes) {
    const lost = `${dataName} has ${size} bytes and had ${header.cleanBytes}`;
    throw refuse(dir, size === 0 ? `${dataName} is missing` : `it is truncated, ${lost}`);
  }
  // A start that ended before LMDB's first sync leaves nothing or an empty file.
  if (size === 0 && loss === undefined) return;
  if (size < 2 * pageBytes) throw refuse(dir, `${dataName} is truncated`);
  const pages = loss === undefined ? readMetas(dir) : Buffer.from(loss.base.metas);
  let last = 0;
  for (const at of [0, pageBytes]) {
    if (pages.readUInt32LE(at + 24) !== metaMagic) throw refuse(dir, `${dataName} is damaged`);
    last = Math.max(last, Number(pages.readBigUInt64LE(at + 144)));
  }
  const needed = (last + 1 - unwrittenPagesMax) * pageBytes;
  if (size < needed) {
    throw refuse(dir, `it is truncated, ${dataName} has ${size} bytes and needs ${needed}`);
  }
}

function readMetas(dir: string): Buffer {
  const pages = Buffer.alloc(2 * pageBytes);
  const file = fs.openSync(join(dir, dataName), "r");
  try {
    fs.readSync(file, pages, 0, pages.length, 0);
  } finally {
    fs.closeSync(file);
  }
  return pages;
}
