/** `weft compact`: gives the room that a store no longer needs back to the disk. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { compactStore } from "../stores/compact.ts";
import type { UserKey } from "../stores/encryption.ts";
import { readEncryption } from "./encryption.ts";
import type { CompactFlags } from "./store-commands.ts";
import { say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";

export async function runCompact({ data: dir, encryption }: CompactFlags): Promise<void> {
  await compactWithBar(dir, { encryption: readEncryption(encryption) });
}

/** `isRewrite`: under a new data key. */
export async function compactWithBar(
  dir: string,
  options: { readonly encryption: UserKey | undefined; readonly isRewrite?: boolean },
): Promise<void> {
  const total = statSync(join(dir, "data.mdb"), { throwIfNoEntry: false })?.size ?? 0;
  const bar = startProgressBar("compacting the store", "rows");
  const { rows, bytesBefore, bytesAfter } = await compactStore(dir, {
    ...options,
    onProgress: (bytes, done) => bar.update(Math.min(bytes, total), total, done),
  });
  bar.update(total, total, rows);
  bar.finish();
  say(`${dir} takes ${printMiB(bytesAfter)}, before ${printMiB(bytesBefore)}`);
}

function printMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
