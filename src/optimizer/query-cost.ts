/**
 * What a query costs, in one number: records looked at, with lists, tokens and members of lists as parts of a record
 * (`costs.ts`). Of what is expected (`estimate.ts`) it is known before the query runs, of what was read afterwards.
 */
import { makeLimitFault } from "../model/limits.ts";
import { membersPerRecord, stepsPerRecord } from "./costs.ts";

/** What is read of the store. */
export interface Reads {
  /** Nodes whose records are looked at. */
  readonly records: number;
  /** Lists of uids that are read, looked through or counted. */
  readonly lists: number;
  /** Tokens and counts of indexes that are walked over. */
  readonly tokens: number;
  /** Uids that come from lists and indexes. */
  readonly uids: number;
}

/** In records; a whole number. */
export function costOf({ records, lists, tokens, uids }: Reads): number {
  return Math.ceil(records + lists + tokens / stepsPerRecord + uids / membersPerRecord);
}

/** Throws Fault E_LIMIT for a query that is expected to cost more than it may. */
export function checkCost(cost: number, costMax: number): void {
  if (cost <= costMax) return;
  throw makeLimitFault(
    "query-cost",
    `the query is expected to cost ${cost} records, more than ${costMax}`,
  );
}
