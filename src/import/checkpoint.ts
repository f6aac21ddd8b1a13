/**
 * How far an import is, in a file: rows from the begin of the input that are stored, and which uids were leased for
 * which rows. So a row has the same node in each attempt, whenever the one before ended, also where it has no key.
 */
import { createHash, type Hash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Fault } from "../model/fault.ts";

/** Uids of the rows from `row` on. */
interface Lease {
  readonly row: number;
  readonly uid: number;
  readonly count: number;
}

/** The file: imports of several sets of files by one mapping do not get in each other's way. */
interface Stored {
  readonly weftImport: 1;
  readonly imports: Readonly<Record<string, StoredImport>>;
}

interface StoredImport extends Progress {
  readonly leases: readonly Lease[];
}

interface Progress {
  /** Rows that are done, and the digest of all of them. */
  readonly rows: number;
  readonly digest: string;
  /** Bytes of the file of rejected rows. */
  readonly rejectedBytes: number;
}

/** What is imported where. */
interface ImportName {
  readonly files: readonly string[];
  readonly type: string;
  readonly namespace: number;
}

const begin: Progress = { rows: 0, digest: "", rejectedBytes: 0 };

/** Asked for at once; those that are left over are lost, which costs nothing out of 2^53. */
const leaseCount = 20_000;

export class Checkpoint {
  readonly path: string;
  readonly #others: Record<string, StoredImport>;
  readonly #name: string;
  #progress: Progress = begin;
  #leases: Lease[] = [];

  /** `anew`: what is there of this import counts for nothing. Fault E_USAGE for a file that is something else. */
  constructor(path: string, { files, type, namespace }: ImportName, anew: boolean) {
    this.path = path;
    this.#name = `${type} ${namespace} ${files.join(",")}`;
    this.#others = existsSync(path) ? { ...readStored(path).imports } : {};
    const stored = this.#others[this.#name];
    if (anew || stored === undefined) return;
    const { leases, ...progress } = stored;
    this.#progress = progress;
    this.#leases = [...leases];
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** The node of a row. Its lease must be there. */
  uidOf(row: number): number {
    const lease = this.#leases.findLast((one) => one.row <= row && row < one.row + one.count);
    return lease === undefined ? 0 : lease.uid + row - lease.row;
  }

  /** Sees to it that a row has a uid, and that this is written down before the row is sent. */
  async prepare(row: number, lease: (count: number) => Promise<number>): Promise<void> {
    const last = this.#leases.at(-1);
    if (last !== undefined && row < last.row + last.count) return;
    this.#leases.push({ row, uid: await lease(leaseCount), count: leaseCount });
    this.#write();
  }

  note(progress: Progress): void {
    this.#progress = progress;
    this.#write();
  }

  #write(): void {
    const own = { ...this.#progress, leases: this.#leases };
    const stored: Stored = { weftImport: 1, imports: { ...this.#others, [this.#name]: own } };
    writeFileSync(`${this.path}.new`, JSON.stringify(stored), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }
}

function readStored(path: string): Stored {
  const text = readFileSync(path, "utf8");
  try {
    const stored = JSON.parse(text) as Stored;
    if (stored.weftImport === 1) return stored;
  } catch {
    // Told below.
  }
  throw new Fault("E_USAGE", `--progress: ${path} is no progress of an import`);
}

/** Of all rows so far. */
export class RowDigest {
  readonly #hash: Hash = createHash("sha256");

  add(text: string): void {
    this.#hash.update(text).update("\u001E");
  }

  get text(): string {
    return this.#hash.copy().digest("base64url");
  }
}
