/** Whose connection it is: a server on this machine sees a port, and the system knows which process has it (Linux). */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Of `/proc/net/tcp`: the columns that count. */
const localColumn = 1;
const inodeColumn = 9;

/** Whether one of the processes has the end of a connection with this port. */
export function ownsPort(pids: readonly number[], port: number): boolean {
  const inodes = inodesOf(port);
  return (
    inodes.length > 0 && pids.some((pid) => socketsOf(pid).some((one) => inodes.includes(one)))
  );
}

function inodesOf(port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "latin1")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[localColumn]?.endsWith(suffix) === true)
    .flatMap((columns) => columns[inodeColumn] ?? []);
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    // It has ended.
    return [];
  }
}
