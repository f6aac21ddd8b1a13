/** How much memory there is for this process: the machine's, or less where a container or a service manager says so. */
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";

/** Reads a file as text; undefined where there is none. */
type ReadText = (file: string) => string | undefined;

/** Bytes. The lowest bound of this process's control group and of the groups above it counts, version 1 and 2. */
export function findMachineMemory(read: ReadText = readText, machineBytes = totalmem()): number {
  return Math.min(machineBytes, ...findGroupBounds(read));
}

const root = "/sys/fs/cgroup";

function findGroupBounds(read: ReadText): number[] {
  const bounds: number[] = [];
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [id, controllers, ...rest] = line.split(":");
    const path = rest.join(":");
    if (path === "") continue;
    if (id === "0") bounds.push(...readUpwards(read, { root, path, file: "memory.max" }));
    else if (controllers?.split(",").includes("memory") === true) {
      const place = { root: join(root, "memory"), path, file: "memory.limit_in_bytes" };
      bounds.push(...readUpwards(read, place));
    }
  }
  return bounds;
}

/** In a container the path of a group may be the one outside: its root is then the container's own. */
function* readUpwards(
  read: ReadText,
  place: { readonly root: string; readonly path: string; readonly file: string },
): Generator<number> {
  for (let path = place.path; ; path = dirname(path)) {
    const text = read(join(place.root, path, place.file))?.trim();
    // "max" is none; so are numbers near 2^63, in version 1.
    if (text !== undefined && /^\d+$/.test(text) && Number(text) > 0) yield Number(text);
    if (path === "/" || path === ".") return;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
