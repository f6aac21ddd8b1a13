/**
 * Which store of a machine this is: a file beside it, made with it. A machine that was evicted is known by it, whatever
 * it is called, and one whose directory was made anew is another.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const fileName = "machine.id";

/** Written down by `keepIncarnation`, when there is a store. */
export function readIncarnation(dir: string): string {
  const path = `${dir}/${fileName}`;
  const found = existsSync(path) ? readFileSync(path, "latin1").trim() : "";
  return /^[\da-f]{32}$/.test(found) ? found : randomBytes(16).toString("hex");
}

export function keepIncarnation(dir: string, incarnation: string): void {
  writeFileSync(`${dir}/${fileName}`, `${incarnation}\n`, { mode: 0o600 });
}
