/**
 * The uids of labels, kept in a file (`--xidmap`): a later load, or the same one that was ended, gives each label the
 * node that it has. Labels are written before the first fact that names them is sent, so that none means two nodes,
 * whenever the load ends. Beside it stands how far the load is.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { Fault } from "../model/fault.ts";
import type { InputFile } from "./input-files.ts";

const magic = "weft xidmap 1\n";
/** Two halves of the label's fingerprint, and the uid. */
const recordBytes = 16;

type LabelVisitor = (low: number, high: number, uid: number) => void;

interface Progress {
  readonly files: readonly string[];
  /** Facts from the begin of the input that are stored. */
  readonly done: number;
}

export class XidMap {
  readonly #path: string;
  readonly #file: number;
  #fresh: { low: number; high: number; uid: number }[] = [];
  readonly #files: readonly string[];

  /** Fault E_USAGE for a file that is something else. */
  constructor(path: string, inputs: readonly InputFile[]) {
    this.#path = path;
    this.#files = inputs.map(({ name, size }) => `${name} ${size}`);
    if (!existsSync(path)) writeFileSync(path, magic, { mode: 0o600 });
    if (readFileSync(path).subarray(0, magic.length).toString("latin1") !== magic) {
      throw new Fault("E_USAGE", `--xidmap: ${path} is no map of labels`);
    }
    this.#file = openSync(path, "a");
  }

  /** Labels of loads before. What a kill has cut is left out. */
  visit(visitor: LabelVisitor): void {
    const bytes = readFileSync(this.#path);
    for (let at = magic.length; at + recordBytes <= bytes.length; at += recordBytes) {
      visitor(bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readDoubleLE(at + 8));
    }
  }

  readonly note: LabelVisitor = (low, high, uid) => void this.#fresh.push({ low, high, uid });

  /** Before facts with new labels are sent. */
  flush(): void {
    if (this.#fresh.length === 0) return;
    const bytes = Buffer.alloc(this.#fresh.length * recordBytes);
    for (const [i, { low, high, uid }] of this.#fresh.entries()) {
      bytes.writeUInt32LE(low, i * recordBytes);
      bytes.writeUInt32LE(high, i * recordBytes + 4);
      bytes.writeDoubleLE(uid, i * recordBytes + 8);
    }
    writeSync(this.#file, bytes);
    this.#fresh = [];
  }

  get #progressPath(): string {
    return `${this.#path}.progress`;
  }

  /** Facts that an ended load of the same files has stored. */
  readDone(): number {
    if (!existsSync(this.#progressPath)) return 0;
    const { files, done } = JSON.parse(readFileSync(this.#progressPath, "utf8")) as Progress;
    return JSON.stringify(files) === JSON.stringify(this.#files) ? done : 0;
  }

  writeDone(done: number): void {
    const progress: Progress = { files: this.#files, done };
    writeFileSync(`${this.#progressPath}.new`, JSON.stringify(progress), { mode: 0o600 });
    renameSync(`${this.#progressPath}.new`, this.#progressPath);
  }

  /** The load is whole. */
  finish(): void {
    this.flush();
    rmSync(this.#progressPath, { force: true });
  }

  close(): void {
    closeSync(this.#file);
  }
}
