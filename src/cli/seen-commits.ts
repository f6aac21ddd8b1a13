/** What a process of one of several machines has of what is committed, by the notices of its store. */
import { Fault } from "../model/fault.ts";
import type { SeenState } from "../http/seen-state.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { Store } from "../store/store.ts";

/** undefined: this machine is alone. */
export async function openSeenCommits(
  store: Store,
  cluster: ClusterConfig | undefined,
): Promise<SeenState | undefined> {
  if (cluster === undefined) return undefined;
  const { readWaitMs: waitMs } = cluster;
  let { commitTs: newest } = await store.describe();
  const waiters = new Set<() => void>();
  store.onCommit((commitTs) => {
    newest = Math.max(newest, commitTs);
    for (const look of waiters) look();
  });
  return {
    newestTs: () => newest,
    whenSeen: (commitTs) =>
      new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          waiters.delete(look);
        };
        const look = (): void => {
          if (newest < commitTs) return;
          end();
          resolve();
        };
        const timer = setTimeout(() => {
          end();
          const text = `commit ${commitTs} has not come to this machine (--cluster read-wait)`;
          reject(new Fault("E_NOT_CURRENT", text));
        }, waitMs);
        waiters.add(look);
        look();
      }),
  };
}
