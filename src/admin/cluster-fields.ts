/** The fields about the machines that share a log. They are this server's own: the reference has none. */
import type { ClusterFacts } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import { succeed, type FieldTable } from "./field.ts";

export interface ClusterParts {
  /** undefined: this machine is alone. */
  facts(): Promise<ClusterFacts | undefined>;
  /** Gives the lead up, where this machine has it. */
  resign(): Promise<boolean>;
  /** In words what was done. Fault E_CLUSTER. */
  finalize(): Promise<string>;
  /** In words what was done. Fault E_CLUSTER. */
  evict(node: string, isForced: boolean): Promise<string>;
}

export function makeClusterFields(cluster: ClusterParts): FieldTable {
  return {
    "Query.cluster": () => cluster.facts(),
    "Mutation.finalizeCluster": async () => {
      await factsOf(cluster);
      return succeed(await cluster.finalize());
    },
    "Mutation.evictMachine": async ({ input }: { input: EvictInput }) => {
      await factsOf(cluster);
      return succeed(await cluster.evict(input.node, input.force ?? false));
    },
    "Mutation.resignLead": async () => {
      const facts = await factsOf(cluster);
      if (await cluster.resign()) return succeed(`${facts.node} has given the lead up`);
      const leader = facts.leader ?? "no machine that can be reached";
      throw new Fault("E_CLUSTER", `${facts.node} does not lead: ${leader} does`);
    },
  };
}

interface EvictInput {
  readonly node: string;
  readonly force?: boolean | null;
}

async function factsOf(cluster: ClusterParts): Promise<ClusterFacts> {
  const facts = await cluster.facts();
  if (facts !== undefined) return facts;
  throw new Fault("E_CLUSTER", "this machine is alone: it was started without --cluster");
}
