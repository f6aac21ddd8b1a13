/**
 * Backups in a directory with `blocks/`, each by its name, and `backups/`, a manifest for each backup. A manifest is
 * written last, so a backup that was ended is none; blocks that no manifest names go with the next prune.
 */
import * as fs from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isRunning } from "../base/live-process.ts";
import { Fault } from "../model/fault.ts";
import type { BackupPlace } from "./place.ts";

const lockName = "lock";

export function openDirectory(root: string): BackupPlace {
  const at = (name: string): string => join(root, name);
  return {
    sizeOf: async (name) => fs.statSync(at(name), { throwIfNoEntry: false })?.size,
    async put(name, bytes) {
      const path = at(name);
      try {
        putFile(path, bytes);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Fault("E_BACKUP", `${path} cannot be written: ${why}`, { cause: error });
      }
    },
    async get(name) {
      try {
        return fs.readFileSync(at(name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw new Fault("E_BACKUP", `${at(name)} cannot be read`, { cause: error });
      }
    },
    list: async (folder) =>
      told(at(folder), () => {
        if (!fs.existsSync(at(folder))) return [];
        return fs
          .readdirSync(at(folder), { recursive: true, encoding: "utf8" })
          .filter((name) => fs.statSync(at(join(folder, name))).isFile())
          .toSorted();
      }),
    remove: async (name) => told(at(name), () => fs.rmSync(at(name), { force: true })),
    async claim() {
      told(root, () => {
        fs.mkdirSync(root, { recursive: true, mode: 0o700 });
        claimLock(at(lockName));
      });
      return async () => fs.rmSync(at(lockName), { force: true });
    },
  };
}

/** Fault E_BACKUP for what the system refuses. */
function told<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("E_BACKUP", `${path} cannot be used: ${why}`, { cause: error });
  }
}

function putFile(path: string, bytes: Uint8Array): void {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.new`;
  try {
    const file = fs.openSync(made, "w", 0o600);
    try {
      fs.writeFileSync(file, bytes);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(made, path);
  } catch (error) {
    // A disk that is full has no room for half of it either.
    fs.rmSync(made, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  const folder = fs.openSync(path, "r");
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
}

/** A holder that has died on this machine holds it no more; of another machine nothing is known. */
function claimLock(path: string): void {
  const own: Holder = { pid: process.pid, host: hostname() };
  for (let tries = 0; tries < 2; tries++) {
    try {
      fs.writeFileSync(path, JSON.stringify(own), { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = readHolder(path);
    if (holder !== undefined && (holder.host !== own.host || isRunning(holder.pid))) {
      throw new Fault(
        "E_BACKUP",
        `process ${holder.pid} of ${holder.host} writes there; remove ${path} if it is gone`,
      );
    }
    fs.rmSync(path, { force: true });
  }
  throw new Fault("E_BACKUP", `${path} cannot be taken`);
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}
