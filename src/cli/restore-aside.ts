/**
 * The folders beside a store in which `weft restore --into` makes the store of a backup, each named for its process. What
 * a process that was killed has left goes with the next restore, or the next start of the server.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../base/live-process.ts";

const prefix = "restore-";

/** Of this process. Not made yet. */
export function nameRestoreAside(dir: string): string {
  return join(dir, `${prefix}${process.pid}-${randomBytes(6).toString("hex")}`);
}

/** `isAlone`: no other process restores into the store, whatever runs. */
export function clearRestoreAsides(dir: string, isAlone: boolean): void {
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(/^\d+(?=-)/.exec(name.slice(prefix.length))?.[0] ?? 0);
    if (isAlone || !isRunning(pid)) rmSync(join(dir, name), { recursive: true, force: true });
  }
}
