/** Which backups stay. */
import { pruneSegments } from "./archive.ts";
import { blockPath, type BackupParts } from "./backup.ts";
import { readManifests, removeManifest } from "./manifest.ts";

/** All but the newest `keep` backups go, and all blocks and segments that no other one needs. */
export async function pruneBackups(
  { place, seal }: BackupParts,
  { keep, nowMs }: { readonly keep: number; readonly nowMs: number },
): Promise<Pruned> {
  const release = await place.claim(nowMs);
  try {
    const manifests = await readManifests(place, seal);
    const gone = manifests.slice(0, Math.max(0, manifests.length - keep));
    const kept = manifests.slice(gone.length);
    // Manifests first: a backup never lacks a block.
    for (const manifest of gone) await removeManifest(place, manifest);
    const needed = new Set(kept.flatMap(({ blocks }) => blocks.map(({ name }) => blockPath(name))));
    let blocks = 0;
    for (const name of await place.list("blocks")) {
      const path = `blocks/${name}`;
      if (needed.has(path)) continue;
      await place.remove(path);
      blocks++;
    }
    const segments = await pruneSegments(place, kept);
    return { backups: gone.length, kept: kept.length, blocks, segments };
  } finally {
    await release();
  }
}

interface Pruned {
  readonly backups: number;
  readonly kept: number;
  readonly blocks: number;
  readonly segments: number;
}
