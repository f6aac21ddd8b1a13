/** What event streams look like on the wire. */
export const eventStreamType = "text/event-stream";

/** Of every answer that is one; flat. */
export const eventStreamHead: readonly string[] = [
  "Content-Type",
  `${eventStreamType}; charset=utf-8`,
  "Cache-Control",
  "no-cache, no-store",
  "X-Accel-Buffering",
  "no",
  "X-Content-Type-Options",
  "nosniff",
];

/** A comment: keeps proxies from taking the silence for an end. */
export const signOfLife = ":\n\n";
