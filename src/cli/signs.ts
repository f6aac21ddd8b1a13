/** What a child does beside its work. */
import { giveBackIdleMemory } from "./idle-memory.ts";
import type { ToSupervisor } from "./messages.ts";
import { beatMs } from "./pulse.ts";

/** From when it is ready on. */
export function giveSigns(): void {
  const beat: ToSupervisor = { kind: "beat" };
  giveBackIdleMemory();
  setInterval(() => process.send?.(beat, undefined, undefined, () => {}), beatMs).unref();
}
