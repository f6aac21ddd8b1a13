/** A clock that all processes of a machine read alike, and how it stands to the wall clock. */
import type { Clock } from "./clock.ts";

/**
 * Milliseconds since some moment of this boot, the same for all processes of a machine. It stands still while the machine
 * is suspended, never while a process is.
 */
export function sharedTickMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The wall clock less the shared one: another number means that one of them was moved, or that the machine stood still. */
export function wallOffsetMs(clock: Pick<Clock, "nowMs">): number {
  return clock.nowMs() - sharedTickMs();
}

/** A wall clock that was moved by more, or a machine that stood still for longer, makes a term void. */
const offsetMsMax = 500;

/** Whether the clock still stands to the shared one as it did when `offsetMs` was taken (`wallOffsetMs`). */
export function isOffsetKept(clock: Pick<Clock, "nowMs">, offsetMs: number): boolean {
  return Math.abs(wallOffsetMs(clock) - offsetMs) < offsetMsMax;
}
