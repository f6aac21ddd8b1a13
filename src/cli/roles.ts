/** What the children of a supervisor are for. */

/**
 * both: a worker that is the writer, too. node: in place of the writer, where the server is one of several machines.
 * lambda: the lambda server beside them. backup: archives the store.
 */
export type Role = "both" | "writer" | "node" | "worker" | "lambda" | "backup";

/** Those whose death of a damaged file is the store's: the others read none of it where it is mapped. */
export function readsStore(role: Role): boolean {
  return role !== "lambda" && role !== "backup";
}

/**
 * Up to so many workers the first of them writes, too: a process of its own for writing costs a tenth to a quarter
 * more CPU for each write (decision 0016).
 */
export const answeringWriterMax = 2;
