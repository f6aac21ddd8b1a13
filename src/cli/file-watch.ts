/** Files that somebody edits: told when their contents change. */
import { readFileSync, watch, type FSWatcher } from "node:fs";
import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";

/** An editor writes a file in several steps, or puts another in its place. */
const settleMs = 50;

interface FileWatch {
  /** From now on these. */
  follow(files: readonly string[]): void;
  close(): void;
}

/** `changed` is called once for the changes of a moment, with the files whose contents are others than before. */
function openFileWatch(
  files: readonly string[],
  changed: (files: readonly string[]) => void,
): FileWatch {
  const folders = new Map<string, FSWatcher>();
  let known = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    const different: string[] = [];
    for (const [file, before] of known) {
      const now = digest(file);
      // One that is being replaced is missing for a moment.
      if (now === before || now === "") continue;
      known.set(file, now);
      different.push(file);
    }
    if (different.length > 0) changed(different);
  };
  const notice = (): void => {
    timer ??= setTimeout(look, settleMs);
  };
  const follow = (next: readonly string[]): void => {
    const before = known;
    known = new Map(
      next.map((file) => resolve(file)).map((file) => [file, before.get(file) ?? digest(file)]),
    );
    const wanted = new Set([...known.keys()].map((file) => dirname(file)));
    for (const [folder, one] of folders) {
      if (wanted.has(folder)) continue;
      one.close();
      folders.delete(folder);
    }
    for (const folder of wanted) {
      if (folders.has(folder)) continue;
      const one = watch(folder, (_event, name) => {
        if (name === null || known.has(resolve(folder, basename(name)))) notice();
      });
      // A folder that goes away is noticed by what is read from it.
      one.on("error", () => folders.delete(folder));
      folders.set(folder, one);
    }
  };
  follow(files);
  // What changed between the digest and the watch of its folder.
  notice();
  return {
    follow,
    close() {
      clearTimeout(timer);
      for (const one of folders.values()) one.close();
    },
  };
}

/** "" where there is none to read. */
function digest(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/** Begins at once; ends when the process is told to end. */
export function watchFiles(
  files: readonly string[],
  changed: (files: readonly string[]) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const watching = openFileWatch(files, changed);
    const end = (): void => {
      watching.close();
      resolve();
    };
    process.once("SIGINT", end);
    process.once("SIGTERM", end);
  });
}
