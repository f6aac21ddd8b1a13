/** Looks at the files of a project: which of them are other, new or gone. */
import { createHash } from "node:crypto";
import { readFileSync, statSync, watch, type FSWatcher } from "node:fs";
import { dirname, resolve } from "node:path";

interface WatchedInputs {
  /** As they are now; some may not be there. */
  files(): readonly string[];
  /** In which new files may come. */
  folders(): readonly string[];
  /** Called for the changes of a moment, also while what it did before is under way. Paths are absolute. */
  changed(files: ReadonlySet<string>): void;
}

/** An editor writes a file in several steps, or puts another in its place. */
const settleMs = 50;
/** Some file systems (mounted, shared) tell nobody of changes. */
const pollMs = 1_000;

interface Known {
  readonly stamp: string;
  readonly digest: string;
}

export class DevWatch {
  readonly #inputs: WatchedInputs;
  #known = new Map<string, Known>();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;

  /** What changes from here on is told. */
  constructor(inputs: WatchedInputs) {
    this.#inputs = inputs;
    this.#known = this.#read();
    this.#follow();
    this.#poll = setInterval(() => this.#notice(), pollMs);
  }

  close(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const one of this.#watchers.values()) one.close();
  }

  #notice(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, settleMs);
  }

  #look(): void {
    const before = this.#known;
    this.#known = this.#read();
    this.#follow();
    const names = new Set([...before.keys(), ...this.#known.keys()]);
    const changed = [...names].filter(
      (name) => before.get(name)?.digest !== this.#known.get(name)?.digest,
    );
    if (changed.length > 0) this.#inputs.changed(new Set(changed));
  }

  /** Files that are not there are left out. */
  #read(): Map<string, Known> {
    const read = new Map<string, Known>();
    for (const file of this.#inputs.files().map((one) => resolve(one))) {
      try {
        const { mtimeMs, size, ino } = statSync(file);
        const stamp = `${mtimeMs} ${size} ${ino}`;
        const known = this.#known.get(file);
        const isSame = known?.stamp === stamp;
        read.set(file, isSame ? known : { stamp, digest: digestOf(file) });
      } catch {
        continue;
      }
    }
    return read;
  }

  #follow(): void {
    const wanted = new Set([
      ...[...this.#known.keys()].map((file) => dirname(file)),
      ...this.#inputs.folders().map((folder) => resolve(folder)),
    ]);
    for (const [folder, one] of this.#watchers) {
      if (wanted.has(folder)) continue;
      one.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) {
      if (this.#watchers.has(folder)) continue;
      try {
        const one = watch(folder, () => this.#notice());
        one.on("error", () => this.#watchers.delete(folder));
        this.#watchers.set(folder, one);
      } catch {
        // It went away meanwhile, or the system watches no more folders: it is looked at every second all the same.
        continue;
      }
    }
  }
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
