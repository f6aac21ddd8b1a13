import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

/** For each room: the rooms it may enter, and the outside packages it may call. Ground floor first. */
export type Floors = Readonly<Record<string, Floor>>;
export interface Floor {
  readonly below: readonly string[];
  readonly outside?: readonly string[];
}

// The formatter writes every specifier in double quotes, so a pattern is enough: no parser to keep.
// `new URL("./…")` is how a child process or a worker thread is started: that is an import too.
const importPattern = /(?:\bfrom |^import |\bimport\(|\bnew URL\((?="\.))"(?<specifier>[^"]+)"/gm;

/** One line per import that goes up, goes sideways, or enters a room by the window. */
export function findFloorFaults(root: string, floors: Floors): string[] {
  const faults: string[] = [];
  for (const file of listSource(root)) {
    const room = roomOf(file);
    const floor = floors[room];
    if (floor === undefined) {
      faults.push(`${file}: ${room} is not in the floor table`);
      continue;
    }
    for (const match of readFileSync(join(root, file), "utf8").matchAll(importPattern)) {
      const fault = judge(file, room, floor, match.groups?.["specifier"] ?? "");
      if (fault !== undefined) faults.push(`${file}: ${fault}`);
    }
  }
  return faults.sort();
}

/** A table that is not written bottom-up is itself a fault, so a cycle of rooms cannot be written. */
export function findTableFaults(floors: Floors): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const [room, floor] of Object.entries(floors)) {
    for (const name of floor.below) {
      if (!seen.has(name)) faults.push(`${room} names ${name}, which is not below it`);
    }
    seen.add(room);
  }
  return faults;
}

function judge(file: string, room: string, floor: Floor, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) {
    const allowed =
      floor.outside?.some((name) => specifier === name || specifier.startsWith(`${name}/`)) ??
      false;
    return allowed ? undefined : `${room} may not call ${specifier}`;
  }
  const target = normalize(join(dirname(file), specifier));
  const targetRoom = roomOf(target);
  if (targetRoom === room) return undefined;
  if (!floor.below.includes(targetRoom)) return `${room} may not enter ${targetRoom} (${target})`;
  const depth = target.split(sep).length;
  return depth === 2 ? undefined : `${target} is not a door of ${targetRoom}`;
}

function listSource(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
}

/** A file directly in src is a room of its own: main.ts is the room "main". */
function roomOf(file: string): string {
  return (file.split(sep)[0] ?? "").replace(/\.ts$/, "");
}
