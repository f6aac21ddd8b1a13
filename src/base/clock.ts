/** The only sources of time. Modules ask for a Clock by name; tests hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  nowMs(): number;
  /** Milliseconds that only rise, with fractions; for measuring. */
  tickMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  tickMs: () => performance.now(),
};

/**
 * Milliseconds since some moment of this boot, the same for all processes of a machine. It stands still while the machine
 * is suspended, never while a process is.
 */
export function sharedTickMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The wall clock less the shared one: another number means that one of them was moved, or that the machine stood still. */
export function wallOffsetMs(): number {
  return Date.now() - sharedTickMs();
}
