/** `weft backup make`, `follow`, `list`, `verify` and `prune`. */
import { reachOf, verifySegments } from "../backup/archive.ts";
import { makeBackup, verifyBackups, type BackupParts } from "../backup/backup.ts";
import { readManifests, type BackupManifest } from "../backup/manifest.ts";
import { openPlace } from "../backup/open-place.ts";
import { listSegments } from "../backup/segment.ts";
import { pruneBackups } from "../backup/prune.ts";
import { readSeal } from "../backup/seal.ts";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { openStoredRows } from "../stores/stored-rows.ts";
import type { BackupFlags, BackupListFlags, BackupPruneFlags } from "./backup-commands.ts";
import { readEncryption, refusePlainBackup } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { showProgress } from "./progress-bar.ts";
import { readVersion } from "./version.ts";

export function openParts(place: string, keyFile: string | undefined): BackupParts {
  return { place: openPlace(place, process.env), seal: readSeal(keyFile) };
}

/** Those of a place, the oldest first. Fault E_BACKUP where there is none. */
export async function needManifests(
  parts: BackupParts,
  place: string,
): Promise<readonly BackupManifest[]> {
  const manifests = await readManifests(parts.place, parts.seal);
  if (manifests.length > 0) return manifests;
  throw new Fault("E_BACKUP", `there are no backups at ${place}`);
}

export async function runBackupMake(options: BackupFlags): Promise<void> {
  const keep = options.keep === undefined ? undefined : readKeep(options.keep);
  const parts = openParts(options.to, options.keyFile);
  const key = readEncryption(options.encryption);
  refusePlainBackup(key !== undefined, parts.seal.isEncrypted, "--key-file");
  const rows = await openStoredRows(options.data, key);
  try {
    const { manifest, newBlocks, newBytes } = await showProgress(
      { title: "backing up", unit: "rows" },
      (bar) =>
        makeBackup(parts, rows, {
          version: readVersion(),
          nowMs: systemClock.nowMs(),
          onProgress: (share, count) => bar.update(share, 1, count),
        }),
    );
    const { id, commitTs, blocks } = manifest;
    say(
      `backup ${id} of commit ${commitTs}: ${newBlocks} of ${blocks.length} blocks are new, ${printMB(newBytes)}`,
    );
  } finally {
    await rows.close();
  }
  if (options.verify) await verify(parts, options.to, true);
  if (keep !== undefined) await prune(parts, keep);
}

export function readKeep(text: string): number {
  const keep = Number(text);
  if (Number.isSafeInteger(keep) && keep >= 1) return keep;
  throw new Fault("E_USAGE", `--keep: "${text}" is no number of backups`);
}

export function printMB(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export async function runBackupList({ to, keyFile, json }: BackupListFlags): Promise<void> {
  const { place, seal } = openParts(to, keyFile);
  const manifests = await readManifests(place, seal);
  const segments = await listSegments(place);
  const shown = manifests.map((manifest) => {
    const { id, createdAt, commitTs, version, rows, bytes, blocks } = manifest;
    const packedBytes = blocks.reduce((sum, block) => sum + block.packedBytes, 0);
    const reach = reachOf(manifest, segments);
    const reachesTo = {
      commitTs: reach.commitTs,
      at: reach.committedMs === undefined ? createdAt : new Date(reach.committedMs).toISOString(),
    };
    return { id, createdAt, commitTs, version, rows, bytes, packedBytes, reachesTo };
  });
  if (json) {
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  if (shown.length === 0) process.stdout.write("there are no backups\n");
  for (const { id, commitTs, rows, bytes, packedBytes, reachesTo } of shown) {
    const log =
      reachesTo.commitTs === commitTs
        ? ""
        : `; the log to commit ${reachesTo.commitTs} of ${reachesTo.at}`;
    process.stdout.write(
      `${id}  commit ${commitTs}, ${rows.toLocaleString("en-US")} rows, ${printMB(bytes)}, packed ${printMB(packedBytes)}${log}\n`,
    );
  }
}

export async function runBackupVerify({
  to,
  keyFile,
}: Pick<BackupFlags, "to" | "keyFile">): Promise<void> {
  await verify(openParts(to, keyFile), to, false);
}

async function verify(parts: BackupParts, place: string, isNewestOnly: boolean): Promise<void> {
  const all = await needManifests(parts, place);
  const manifests = isNewestOnly ? all.slice(-1) : all;
  const problems = await showProgress({ title: "reading backups", unit: "rows" }, (bar) =>
    verifyBackups(parts, manifests, (share, rows) => bar.update(share, 1, rows)),
  );
  const log = isNewestOnly ? [] : await verifyLog(parts, all);
  for (const problem of [...problems, ...log]) complain(problem);
  if (problems.length > 0) throw new Fault("E_STARTUP", `${problems.length} blocks are damaged`);
  if (log.length > 0) throw new Fault("E_STARTUP", "the archived log is damaged");
  say(`${manifests.length} ${manifests.length === 1 ? "backup is" : "backups are"} sound`);
}

function verifyLog(
  parts: BackupParts,
  manifests: readonly BackupManifest[],
): Promise<readonly string[]> {
  return showProgress({ title: "reading the log", unit: "commits", isLate: true }, (bar) =>
    verifySegments(parts, manifests, (share, commits) => bar.update(share, 1, commits)),
  );
}

export async function runBackupPrune({ to, keyFile, keep }: BackupPruneFlags): Promise<void> {
  await prune(openParts(to, keyFile), readKeep(keep));
}

async function prune(parts: BackupParts, keep: number): Promise<void> {
  const { backups, kept, blocks, segments } = await pruneBackups(parts, {
    keep,
    nowMs: systemClock.nowMs(),
  });
  const gone =
    segments === 0
      ? `${backups} backups and ${blocks} blocks`
      : `${backups} backups, ${blocks} blocks and ${segments} segments of the log`;
  say(`${gone} are gone, ${kept} backups stay`);
}
