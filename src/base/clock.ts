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
