/** `weft compact`: gives the room that a store no longer needs back to the disk. */
import { compactStore, type Compacted, type CompactProgress } from "../stores/compact.ts";
import { compactBesideServer, hasWriter } from "../stores/compact-online.ts";
import { checkStoreKey, type UserKey } from "../stores/encryption.ts";
import { readEncryption } from "./encryption.ts";
import type { CompactFlags } from "./store-commands.ts";
import { say } from "./log.ts";
import { showProgress } from "./progress-bar.ts";
import { yieldToRequests } from "./yield-to-requests.ts";

export async function runCompact({ data: dir, encryption }: CompactFlags): Promise<void> {
  const key = readEncryption(encryption);
  if (await hasWriter(dir)) {
    // Told as by every command that opens a store, though blocks are copied as they are.
    checkStoreKey(dir, key);
    yieldToRequests();
    await showCompaction(dir, (progress) => compactBesideServer(dir, progress));
  } else await compactWithBar(dir, { encryption: key });
}

/** `isRewrite`: under a new data key. */
export async function compactWithBar(
  dir: string,
  options: { readonly encryption: UserKey | undefined; readonly isRewrite?: boolean },
): Promise<void> {
  await showCompaction(dir, (progress) => compactStore(dir, { ...options, ...progress }));
}

async function showCompaction(
  dir: string,
  compact: (progress: CompactProgress) => Promise<Compacted>,
): Promise<void> {
  const { bytesBefore, bytesAfter } = await showProgress(
    { title: "compacting the store", unit: "rows" },
    (bar) => compact({ onProgress: (share, rows) => bar.update(share, 1, rows) }),
  );
  say(`${dir} takes ${printMiB(bytesAfter)}, before ${printMiB(bytesBefore)}`);
}

function printMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
