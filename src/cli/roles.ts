/** What the children of a supervisor are for. */

/** both: a worker that is the writer, too. lambda: the lambda server beside them. */
export type Role = "both" | "writer" | "worker" | "lambda";

/**
 * Up to so many workers the first of them writes, too: a process of its own for writing costs a tenth to a quarter
 * more CPU for each write (decision 0016).
 */
export const answeringWriterMax = 2;
