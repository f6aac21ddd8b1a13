/**
 * Numbers that are handed out and never again (reference/dql 1.9). Uids and namespaces come from counters; times are
 * those of an empty commit that no process gives to its transactions, so each is later than all before it.
 */
import { Fault } from "../model/fault.ts";
import { leasedTimesMax } from "./start-time.ts";

export type LeaseKind = "uids" | "timestamps" | "namespaces";

/** At a time. More uids and namespaces would only burn numbers: both end at 2^53, names of the latter at 2^31. */
const leaseMax: Readonly<Record<LeaseKind, number>> = {
  uids: 2 ** 40,
  timestamps: leasedTimesMax,
  namespaces: 100_000,
};

/** Throws Fault E_LEASE. */
export function checkLease(kind: LeaseKind, count: number): void {
  if (count === 0) throw new Fault("E_LEASE", "Nothing to be leased");
  if (Number.isInteger(count) && count > 0 && count <= leaseMax[kind]) return;
  throw new Fault("E_LEASE", `Cannot lease ${count} ${kind}: up to ${leaseMax[kind]} at a time`);
}
