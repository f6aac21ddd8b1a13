/** What the clients of a storm do. */
import { registers } from "./registers.ts";
import { bank, inverses, listAppend, upserts, type Workload } from "./workloads.ts";

export function allWorkloads(): readonly Workload[] {
  return [listAppend(), registers(), bank(), upserts(), inverses()];
}
