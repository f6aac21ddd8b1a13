/** Resident memory of other processes, from outside: array buffers are in no heap limit. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/** Bytes by pid; processes that are gone are left out. */
export function readResidentBytes(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  return process.platform === "linux" ? Promise.resolve(fromProc(pids)) : fromPs(pids);
}

function fromProc(pids: readonly number[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const pid of pids) {
    try {
      const text = readFileSync(`/proc/${pid}/status`, "latin1");
      const kilobytes = /^VmRSS:\s*(\d+)/m.exec(text)?.[1];
      if (kilobytes !== undefined) found.set(pid, Number(kilobytes) * 1024);
    } catch {
      // It has ended.
    }
  }
  return found;
}

function fromPs(pids: readonly number[]): Promise<Map<number, number>> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "pid=,rss=", "-p", pids.join()], (_error, text) => {
      const found = new Map<number, number>();
      for (const line of text.trim().split("\n")) {
        const [pid, kilobytes] = line.trim().split(/\s+/).map(Number);
        if (pid !== undefined && kilobytes !== undefined) found.set(pid, kilobytes * 1024);
      }
      resolve(found);
    });
  });
}
