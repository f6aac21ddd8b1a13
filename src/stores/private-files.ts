/** The files of a store are its user's alone: whoever may read them needs no credentials. */
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { dataName, headerName } from "./lmdb/header.ts";
import { keysName } from "./sealed/keys-name.ts";

const othersBits = 0o077;
const fileNames = [headerName, keysName, dataName, "lock.mdb", "journal.0", "journal.1"];

/**
 * Takes the rights of the group and of all others from the files of the store in a directory. Returns the names of those
 * that had some. The directory itself stays as it is: what else it is for is not known. Without effect on Windows, where
 * a file's mode says nothing about others. Throws what the file system says, EPERM for another user's files.
 */
export function closeStoreFiles(dir: string): readonly string[] {
  if (process.platform === "win32") return [];
  const here = new Set(readdirSync(dir));
  const open = fileNames.filter(
    (name) => here.has(name) && (statSync(join(dir, name)).mode & othersBits) !== 0,
  );
  for (const name of open) chmodSync(join(dir, name), 0o600);
  return open;
}

/** Whether other users of the machine may exchange the files of a directory for others. */
export function isOpenToWriters(dir: string): boolean {
  return process.platform !== "win32" && (statSync(dir).mode & 0o022) !== 0;
}
