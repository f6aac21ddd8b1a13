/** The fields about the machines that share a log. They are this server's own: the reference has none. */
import type { ClusterFacts } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import { succeed, type FieldTable } from "./field.ts";

export interface ClusterParts {
  /** undefined: this machine is alone. */
  facts(): Promise<ClusterFacts | undefined>;
  /** Gives the lead up, where this machine has it. */
  resign(): Promise<boolean>;
}

export function makeClusterFields(cluster: ClusterParts): FieldTable {
  return {
    "Query.cluster": () => cluster.facts(),
    "Mutation.resignLead": async () => {
      const facts = await cluster.facts();
      if (facts === undefined) {
        throw new Fault("E_CLUSTER", "this machine is alone: it was started without --cluster");
      }
      if (await cluster.resign()) return succeed(`${facts.node} has given the lead up`);
      const leader = facts.leader ?? "no machine that can be reached";
      throw new Fault("E_CLUSTER", `${facts.node} does not lead: ${leader} does`);
    },
  };
}
