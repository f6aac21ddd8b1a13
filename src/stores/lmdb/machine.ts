/**
 * Whether a file still holds what was written to it and not synced. It does while the processes of one run of the
 * server follow each other; it does not after the machine stopped, nor, for all that a new run knows, after a disk went
 * away and came back.
 */
import * as fs from "node:fs";
import { basename } from "node:path";

/** Who asks. */
export interface Witness {
  /** The run of the server; undefined for one that only reads, to whom every run of this boot is good enough. */
  readonly run?: string;
  /** Only tests name another boot of the machine. */
  readonly bootId?: string;
}

/** undefined where the system does not tell (Linux does): then no journal is kept. */
export function readBootId(): string | undefined {
  try {
    const text = fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A copy of the file, or the file on a copy of its disk, lies elsewhere. */
export function namePlace(path: string, bootId: string): string {
  const { dev, ino } = fs.statSync(path, { bigint: true });
  return `${bootId} ${dev} ${ino}`;
}

export function isTrusted(machine: string, path: string, { run, bootId }: Witness): boolean {
  const boot = bootId ?? readBootId();
  if (boot === undefined || !fs.existsSync(path)) return false;
  const place = namePlace(path, boot);
  return run === undefined ? machine.endsWith(` ${place}`) : machine === `${run} ${place}`;
}

/** Whether a process other than this one has the file mapped; of other users' processes only root knows. */
export function isMapped(path: string): boolean {
  const { ino } = fs.statSync(path, { bigint: true });
  const mapping = new RegExp(`^\\S+ \\S+ \\S+ \\S+ ${ino} .*${basename(path)}$`, "m");
  return fs.readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return mapping.test(fs.readFileSync(`/proc/${name}/maps`, "latin1"));
    } catch {
      // It ended, or is another user's.
      return false;
    }
  });
}
