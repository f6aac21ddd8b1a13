/**
 * V8 takes no compiled code that was made under other flags. Those that say how large the heap may be differ from process
 * to process and from machine to machine, and mean nothing for code: they are at their defaults while a program is loaded.
 */
import { setFlagsFromString } from "node:v8";

/** Each with how its default is written. V8 has looked at them long before, and looks again for each thread. */
const heapFlags: ReadonlyMap<string, string> = new Map([
  ["--max-old-space-size", "--max-old-space-size=0"],
  ["--max-semi-space-size", "--max-semi-space-size=0"],
  ["--min-semi-space-size", "--min-semi-space-size=0"],
  ["--expose-gc", "--no-expose-gc"],
]);

/** The result of `work`. */
export function withoutHeapFlags<T>(work: () => T): T {
  const own = process.execArgv.filter((flag) => heapFlags.has(nameOf(flag)));
  for (const flag of own) setFlagsFromString(heapFlags.get(nameOf(flag)) ?? flag);
  try {
    return work();
  } finally {
    for (const flag of own) setFlagsFromString(flag);
  }
}

function nameOf(flag: string): string {
  return (flag.split("=")[0] ?? flag).replaceAll("_", "-");
}
