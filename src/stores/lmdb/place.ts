/**
 * Where a store lies: its files as the file system knows them, whatever their path leads to by now. What is written
 * through handles of before, when the path leads elsewhere, nobody finds again.
 */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../../model/fault.ts";
import { dataName, headerName, readStoreId } from "./header.ts";
import { journalNames } from "./journal-format.ts";

/** Device and number of each file; "" where there is none. */
export interface Place {
  readonly directory: string;
  readonly data: string;
  /** A data file that may be in its place by now: the one that is there was to be exchanged for it. */
  readonly nextData?: string;
  /**
   * The id that the header says, which is written anew whenever the store is opened or closed; undefined where it could
   * not be read now.
   */
  readonly header: string | undefined;
  /** Of both; they are made anew whenever the store is opened for writing. */
  readonly journals: string;
}

const named = "each path has a name, if an empty one";

/** Seconds may pass on a file system that hangs; nobody else waits for it. */
export async function readPlace(dir: string): Promise<Place> {
  const name = async (path: string): Promise<string> => {
    try {
      return nameOf(await fs.promises.stat(path, { bigint: true }));
    } catch {
      return "";
    }
  };
  const [header, directory, data, ...journals] = await Promise.all([
    fs.promises.readFile(join(dir, headerName)).then(readStoreId, headerOfNone),
    ...pathsOf(dir).map(name),
  ]);
  return {
    directory: must(directory, named),
    data: must(data, named),
    header,
    journals: journals.join(" "),
  };
}

/** The same, before it returns. */
export function readPlaceNow(dir: string): Place {
  const name = (path: string): string => {
    try {
      const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
      return stats === undefined ? "" : nameOf(stats);
    } catch {
      return "";
    }
  };
  const [directory, data, ...journals] = pathsOf(dir).map(name);
  let header: string | undefined;
  try {
    header = readStoreId(fs.readFileSync(join(dir, headerName)));
  } catch (error) {
    header = headerOfNone(error);
  }
  return {
    directory: must(directory, named),
    data: must(data, named),
    header,
    journals: journals.join(" "),
  };
}

/** A process that has no file to open left (EMFILE) knows nothing of it. */
function headerOfNone(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR" ? "" : undefined;
}

function pathsOf(dir: string): string[] {
  return [dir, ...[dataName, ...journalNames].map((file) => join(dir, file))];
}

/** Of one file, as a place has it. */
export function nameFile(path: string): string {
  return nameOf(fs.statSync(path, { bigint: true }));
}

function nameOf({ dev, ino }: fs.BigIntStats): string {
  return `${dev}:${ino}`;
}

/** What has become of a store, in words for whoever asks the server; undefined for nothing. */
export function findMove(before: Place, now: Place): string | undefined {
  return findStoreMove(before, now) ?? findJournalMove(before, now);
}

/** The same, without a look at the journals. */
export function findStoreMove(before: Place, now: Place): string | undefined {
  if (now.directory === "") return `its directory is gone; ${back}`;
  if (now.directory !== before.directory) {
    return `another directory is in the place of its own; ${back}`;
  }
  if (now.data === "") return `${dataName} is gone; ${back}`;
  if (now.data !== before.data && now.data !== before.nextData)
    return `another file is in the place of ${dataName}; ${back}`;
  if (now.header === "") return `${headerName} is gone; ${back}`;
  const isKnown = now.header !== undefined && before.header !== undefined;
  if (isKnown && now.header !== before.header) return `${headerName} is another store's; ${back}`;
  return undefined;
}

const back = "writes go on when it is back as it was";

function findJournalMove(before: Place, now: Place): string | undefined {
  if (now.journals === before.journals) return undefined;
  return "its journal is gone; end the server in order, and start it again";
}

export function movedFault(move: string): Fault {
  return new Fault("E_STORE_UNAVAILABLE", explainMove(move));
}

export function explainMove(move: string): string {
  return `the store cannot be written: ${move}`;
}

/** What the processes of one server insist on: the store that the first of them opened. */
export interface StoreIdentity extends Place {
  readonly storeId: string;
}

/** Fault E_STARTUP where `dir` does not hold the store that it did. `storeId`: of what is there; undefined for nothing. */
export function refuseAnother(
  dir: string,
  storeId: string | undefined,
  identity: StoreIdentity | undefined,
): void {
  if (identity === undefined) return;
  const move =
    storeId === identity.storeId ? findStoreMove(identity, readPlaceNow(dir)) : "it is another one";
  if (move === undefined) return;
  const refused = `cannot open the store at ${dir}: it is not what this server has opened: ${move}`;
  throw new Fault("E_STARTUP", refused);
}
