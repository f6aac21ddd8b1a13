/** `weft compact`: gives the room that a store no longer needs back to the disk. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { compactStore, type Compacted, type CompactProgress } from "../stores/compact.ts";
import { compactBesideServer, hasWriter } from "../stores/compact-online.ts";
import { checkStoreKey, type UserKey } from "../stores/encryption.ts";
import { readEncryption } from "./encryption.ts";
import type { CompactFlags } from "./store-commands.ts";
import { say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";
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
  const total = statSync(join(dir, "data.mdb"), { throwIfNoEntry: false })?.size ?? 0;
  const bar = startProgressBar("compacting the store", "rows");
  let isBegun = false;
  let done: Compacted;
  try {
    done = await compact({
      onProgress: (bytes, rows) => {
        isBegun = true;
        bar.update(Math.min(bytes, total), total, rows);
      },
    });
  } catch (error) {
    if (isBegun) bar.finish();
    throw error;
  }
  bar.update(total, total, done.rows);
  bar.finish();
  const { bytesBefore, bytesAfter } = done;
  say(`${dir} takes ${printMiB(bytesAfter)}, before ${printMiB(bytesBefore)}`);
}

function printMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
