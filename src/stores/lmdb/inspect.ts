/**
 * All that is checked before LMDB sees a directory: over a truncated file it ends the process with SIGBUS, over damaged
 * meta pages with SIGSEGV (reference/storage 8.2). Nothing is written.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { readMeta, readMetaOf } from "./meta-pages.ts";
import {
  checksumOfMetas,
  dataBytes,
  dataName,
  headerName,
  readHeader,
  refuseStore,
  refuseDamage,
  type Header,
} from "./header.ts";
import { keysName } from "../sealed/keys-name.ts";
import { linkName } from "./link-address.ts";
import { readBootId, type Witness } from "./machine.ts";
import { findLoss, type Expected, type Loss } from "./recovery.ts";

/** Names that may lie in a new store's directory. */
const ignoredNames: ReadonlySet<string> = new Set([
  "lost+found",
  headerName + ".new",
  linkName,
  // A start made them, and was ended before it made the header.
  keysName,
  keysName + ".new",
]);

export interface StoreHeader extends Header {
  /** It was open when the witness's predecessor stopped: a writer must bring it back first (`recovery.ts`). */
  readonly loss: Loss | undefined;
}

/**
 * The header of a store that is there and looks sound; undefined for a directory where one may be made. Fault E_STARTUP,
 * or E_STORE_CORRUPT where something is damaged or missing.
 */
export function inspectStore(dir: string, witness: Witness = {}): StoreHeader | undefined {
  let names: string[];
  try {
    names = fs.readdirSync(dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw refuseStore(dir, "it is not a directory", error);
    throw refuseStore(dir, "the directory cannot be read", error);
  }
  if (!names.includes(headerName)) {
    if (names.every((name) => ignoredNames.has(name))) return undefined;
    if (names.includes(dataName)) {
      const what = `${headerName} is missing; weft check --repair makes it anew, and saves what ${dataName} holds`;
      throw refuseStore(dir, what);
    }
    throw refuseStore(dir, "the directory is not empty and is not a store");
  }
  for (;;) {
    const header = readHeader(dir);
    try {
      return inspectFiles(dir, header, witness);
    } catch (error) {
      // A writer beside has opened or closed it meanwhile.
      const again = readHeader(dir);
      if (again.state === header.state && again.metasChecksum === header.metasChecksum) throw error;
    }
  }
}

function inspectFiles(dir: string, header: Header, witness: Witness): StoreHeader {
  const dataPath = join(dir, dataName);
  const loss =
    header.state === "closed"
      ? undefined
      : findLoss(dir, dataPath, { witness, expected: expectedOf(header) });
  checkData(dir, header, loss);
  return { ...header, loss };
}

function expectedOf({ state, version }: Header): Expected {
  if (state === "journaled") return "journal";
  if (state === "new") return "blank";
  // Format 4 did not say whether a journal was kept; it was wherever the system tells one run of it from another.
  const wasKept = state === "untold" && version === 4 && readBootId() !== undefined;
  return wasKept ? "blank" : "maybe";
}

const pageBytesMin = 4096;
/** Pages at the file's end that LMDB may have counted and never written. */
const unwrittenPagesMax = 1024;

/** The pages are those that a start would take: of the base where there is a loss. */
function checkData(dir: string, header: Header, loss: Loss | undefined): void {
  const size = dataBytes(dir);
  if (header.cleanBytes > 0 && size < header.cleanBytes) {
    const lost = `${dataName} has ${size} bytes and had ${header.cleanBytes}`;
    throw refuseDamage(dir, size === 0 ? `${dataName} is missing` : `it is truncated, ${lost}`);
  }
  if (size === 0 && loss === undefined) {
    // A start that ended before LMDB's first sync leaves nothing or an empty file.
    if (header.state === "new" || header.state === "untold") return;
    throw refuseDamage(dir, `${dataName} is missing`);
  }
  if (size < 2 * pageBytesMin) throw refuseDamage(dir, `${dataName} is truncated`);
  const meta =
    loss === undefined
      ? readMetaOf(join(dir, dataName))
      : readMeta(Buffer.from(loss.half.base.metas));
  if (meta === undefined) throw refuseDamage(dir, `${dataName} is damaged`);
  const { metasChecksum } = header;
  if (metasChecksum !== undefined && metasChecksum !== checksumOfMetas(dir)) {
    throw refuseDamage(dir, `${dataName} is damaged, or is not the file that was closed`);
  }
  const needed = (meta.lastPage + 1 - unwrittenPagesMax) * meta.pageBytes;
  if (size < needed) {
    throw refuseDamage(dir, `it is truncated, ${dataName} has ${size} bytes and needs ${needed}`);
  }
}
