/**
 * The header file: whose store it is, its format, and how it was left. (What is checked besides before LMDB sees a
 * directory is in `inspect.ts`.)
 */
import { must } from "../../base/assert.ts";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { Fault } from "../../model/fault.ts";
import { keysName } from "../sealed/keys-name.ts";
import { readMetaOf } from "./meta-pages.ts";

const magic = "weft store\n";
/**
 * 1: lists of several chunks have no open chunk. 2: their heads may hold one (`codec/chunk.ts`). 3: heads may lie apart
 * from their lists (`head-rows.ts`); a head where an older format put it is read there, and moves when it is written
 * again. 4: a journal may lie beside the data (`journal.ts`). 5: the header says how the store was left, the journal's
 * records have heads that are checked by themselves; 128 slots, whose row says which are the writer's, and the state's
 * row has its version (`state.ts`). So each upgrade is the header alone.
 */
export const formatVersion = 5;
/** Beside the number of the format: `weft.keys` opens the store (`sealed/store-keys.ts`). */
const encryptedBit = 0x1_0000;
export const headerName = "weft.store";
export const dataName = "data.mdb";

/**
 * How the store was left. closed: the data file is whole without a journal. new: it is being made, and holds nothing.
 * journaled: a journal says what the data file may lack. unjournaled: none was kept, each commit was synced. untold: it
 * was not closed, and the header is of a format that says no more.
 */
type StoreState = "closed" | "new" | "journaled" | "unjournaled" | "untold";

/** As the header has them. */
const states: readonly StoreState[] = ["closed", "new", "journaled", "unjournaled"];

export interface Header {
  /** 32 hex digits. */
  readonly storeId: string;
  readonly state: StoreState;
  /** What wrote it last. */
  readonly version: number;
  readonly isEncrypted: boolean;
  /** Bytes of the data file when it was closed in order, else 0. */
  readonly cleanBytes: number;
  /** Of LMDB's meta pages when it was closed in order; undefined where the header does not say. */
  readonly metasChecksum: number | undefined;
}

export function refuseStore(dir: string, reason: string, cause?: unknown): Fault {
  return new Fault("E_STARTUP", `cannot open the store at ${dir}: ${reason}`, {
    cause,
  });
}

/** What is there is not what was written. */
export function refuseDamage(dir: string, reason: string): Fault {
  return new Fault(
    "E_STORE_CORRUPT",
    `cannot open the store at ${dir}: ${reason}; see what "weft check --repair" can save`,
  );
}

const front = magic.length;
/** Of formats below 5. */
const oldBytes = front + 32;
const headerBytes = front + 40;

/** Fault E_STARTUP, or E_STORE_CORRUPT where it is damaged. */
export function readHeader(dir: string): Header {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(join(dir, headerName));
  } catch (error) {
    throw refuseStore(dir, `${headerName} cannot be read`, error);
  }
  if (bytes.length < front + 4 || bytes.toString("latin1", 0, front) !== magic) {
    throw refuseDamage(dir, `${headerName} is damaged`);
  }
  const told = bytes.readUInt32LE(front);
  const isEncrypted = (told & encryptedBit) !== 0;
  const version = isEncrypted ? told - encryptedBit : told;
  const isOlder = version < 5;
  const length = isOlder ? oldBytes : headerBytes;
  const isWhole =
    bytes.length === length &&
    crc32(bytes.subarray(0, length - 4)) === bytes.readUInt32LE(length - 4);
  if (!isWhole && version <= formatVersion) throw refuseDamage(dir, `${headerName} is damaged`);
  if (version > formatVersion) {
    throw refuseStore(dir, `its format ${version} is newer than this program's (${formatVersion})`);
  }
  const cleanBytes = bytes.readDoubleLE(front + 20);
  const state = isOlder
    ? cleanBytes > 0
      ? "closed"
      : "untold"
    : must(states[bytes.readUInt32LE(front + 28)], "a whole header has a known state");
  return {
    storeId: bytes.toString("hex", front + 4, front + 20),
    state,
    version,
    isEncrypted,
    cleanBytes,
    metasChecksum: isOlder || state !== "closed" ? undefined : bytes.readUInt32LE(front + 32),
  };
}

/** Of a header's bytes, whole or not; "" for too few. */
export function readStoreId(bytes: Buffer): string {
  return bytes.length < front + 20 ? "" : bytes.toString("hex", front + 4, front + 20);
}

type NewHeader = Pick<Header, "storeId" | "cleanBytes" | "metasChecksum"> & {
  readonly state: Exclude<StoreState, "untold">;
};

/** In the newest format, of an encrypted store where its keys are. Synced with its directory, and never half written. */
function writeHeader(dir: string, header: NewHeader): void {
  const bytes = Buffer.alloc(headerBytes);
  bytes.write(magic, 0, "latin1");
  const isEncrypted = fs.existsSync(join(dir, keysName));
  bytes.writeUInt32LE(formatVersion + (isEncrypted ? encryptedBit : 0), front);
  bytes.write(header.storeId, front + 4, "hex");
  bytes.writeDoubleLE(header.cleanBytes, front + 20);
  bytes.writeUInt32LE(states.indexOf(header.state), front + 28);
  bytes.writeUInt32LE(header.metasChecksum ?? 0, front + 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, headerBytes - 4)), headerBytes - 4);
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

/** The data file is whole and synced: what it is like now is what the next start must find. */
export function writeClosed(dir: string, storeId: string): void {
  writeHeader(dir, {
    storeId,
    state: "closed",
    cleanBytes: dataBytes(dir),
    metasChecksum: checksumOfMetas(dir),
  });
}

/** While it is written. */
export function writeOpen(dir: string, storeId: string, state: "journaled" | "unjournaled"): void {
  writeHeader(dir, { storeId, state, cleanBytes: 0, metasChecksum: undefined });
}

/** Of the two pages that say which state of the data file is the newest. */
export function checksumOfMetas(dir: string): number {
  const path = join(dir, dataName);
  const pageBytes = readMetaOf(path)?.pageBytes ?? smallestPageBytes;
  const pages = Buffer.alloc(2 * pageBytes);
  const file = fs.openSync(path, "r");
  try {
    fs.readSync(file, pages, 0, pages.length, 0);
  } finally {
    fs.closeSync(file);
  }
  return crc32(pages);
}

const smallestPageBytes = 4096;

export function syncDirectory(dir: string): void {
  const handle = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

/**
 * A new store's directory and header; `weft.keys`, if any, is there. The claim for writing must be held. `storeId`: of a
 * store that other machines have; 32 hex digits.
 */
export function createStore(dir: string, storeId = randomBytes(16).toString("hex")): Header {
  makeDirectory(dir);
  const header = {
    storeId,
    state: "new",
    version: formatVersion,
    isEncrypted: fs.existsSync(join(dir, keysName)),
    cleanBytes: 0,
    metasChecksum: undefined,
  } as const;
  writeHeader(dir, header);
  syncDirectory(dirname(resolve(dir)));
  return header;
}

/**
 * One level at a time: `recursive` goes round for ever where a file system refuses with ENOENT, as /proc does. What was
 * made is in its parent on the disk, too: a store that is acknowledged and not found later is lost.
 */
export function makeDirectory(dir: string): void {
  if (fs.existsSync(dir)) return;
  const parent = dirname(resolve(dir));
  if (parent !== dir) makeDirectory(parent);
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another start was quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  syncDirectory(parent);
}

/** 0 also of a file that is all zeros: a first start made it, and the machine stopped before anything was synced. */
export function dataBytes(dir: string): number {
  const path = join(dir, dataName);
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > blankBytesMax) return size;
  return size > 0 && fs.readFileSync(path).some((byte) => byte !== 0) ? size : 0;
}

const blankBytesMax = 1024 * 1024;
