/** What a graph is made of. Data and small pure functions; no storage, no text grammar. */

/** A node's number: a safe integer from 1 to 2^53 - 1 (decision 0002). Sets of them are sorted Float64Arrays. */
type Uid = number;

/** Uids in ascending order without repeats. */
export type UidSet = Float64Array;

/** The node under which a variable holds a count(uid): the largest number of 64 bits, which no node has. */
export const countedNode: Uid = 2 ** 64;
export const countedNodeText = "0xffffffffffffffff";

export const emptyUidSet: UidSet = new Float64Array(0);

/** The printed form of every answer: `0x` and lower-case hex. */
export function printUid(uid: Uid): string {
  return "0x" + uid.toString(16);
}
