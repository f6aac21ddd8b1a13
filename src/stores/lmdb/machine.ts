/**
 * Which run of which machine wrote a file. What a process wrote is still in the file after the process died, but not
 * after the machine's kernel did. Two equal names: the same kernel has run all the time, and it is the same file.
 */
import * as fs from "node:fs";

/** undefined where the system does not tell (Linux does): then no journal is kept. */
export function readBootId(): string | undefined {
  try {
    const text = fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A copy of the file, or the file on a copy of its disk, is another one. */
export function nameRun(path: string, bootId: string): string {
  const { dev, ino } = fs.statSync(path, { bigint: true });
  return `${bootId} ${dev} ${ino}`;
}
