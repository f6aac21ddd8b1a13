/** What a machine tells of how it stands among the others. */
import { metrics } from "../base/metrics.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";

export function showMachine(facts: () => ClusterFacts): void {
  metrics.gauge("weft_cluster_leads", "Whether this machine leads (1), or not (0)", () =>
    facts().role === "leading" ? 1 : 0,
  );
  metrics.gauge(
    "weft_cluster_led",
    "Whether a machine leads that can be reached (1), or none (0)",
    () => (facts().leader === undefined ? 0 : 1),
  );
  metrics.gauge("weft_cluster_term", "The term of the machine that leads", () => facts().term);
  metrics.gauge(
    "weft_cluster_applied_record",
    "Up to which record this machine has applied the log",
    () => facts().applied,
  );
  metrics.gauge(
    "weft_cluster_lag_records",
    "Records that are kept, and that this machine has not applied",
    () => facts().kept - facts().applied,
  );
  metrics.gauge(
    "weft_cluster_members",
    "Machines that are connected to the leader, and itself",
    () => facts().members.filter(({ isAway }) => !isAway).length,
  );
  metrics.gauge(
    "weft_cluster_able",
    "Whether this machine can write its store, and reaches the log and whoever leads (1), or not (0)",
    () => (facts().problem === undefined ? 1 : 0),
  );
  metrics.gauge(
    "weft_cluster_stopped",
    "Whether this machine is out of service (1): it has diverged, or is behind the log",
    () => (facts().role === "stopped" ? 1 : 0),
  );
}
