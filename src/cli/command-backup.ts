/** `weft backup make`, `list`, `verify`, `prune`, and `weft restore`. */
import {
  chooseBackup,
  makeBackup,
  pruneBackups,
  restoreBackup,
  verifyBackups,
  type BackupParts,
} from "../backup/backup.ts";
import { readManifests } from "../backup/manifest.ts";
import { openPlace } from "../backup/open-place.ts";
import { readSeal } from "../backup/seal.ts";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { makeStoreOfRows, openStoredRows } from "../stores/stored-rows.ts";
import type {
  BackupFlags,
  BackupListFlags,
  BackupPruneFlags,
  RestoreFlags,
} from "./backup-commands.ts";
import { readEncryption } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";
import { readVersion } from "./version.ts";

function openParts(place: string, keyFile: string | undefined): BackupParts {
  return { place: openPlace(place, process.env), seal: readSeal(keyFile) };
}

export async function runBackupMake(options: BackupFlags): Promise<void> {
  const keep = options.keep === undefined ? undefined : readKeep(options.keep);
  const parts = openParts(options.to, options.keyFile);
  const key = readEncryption(options.encryption);
  if (key !== undefined && !parts.seal.isEncrypted) {
    throw new Fault(
      "E_STARTUP",
      "the store is encrypted, and its backup would not be: give --key-file (another key than the store's)",
    );
  }
  const rows = await openStoredRows(options.data, key);
  const bar = startProgressBar("backing up", "rows");
  try {
    const { manifest, newBlocks, newBytes } = await makeBackup(parts, rows, {
      version: readVersion(),
      nowMs: systemClock.nowMs(),
      onProgress: (bytes, count) => bar.update(bytes, Math.max(rows.fileBytes, bytes), count),
    });
    bar.update(1, 1, manifest.rows);
    bar.finish();
    const { id, commitTs, blocks } = manifest;
    say(
      `backup ${id} of commit ${commitTs}: ${newBlocks} of ${blocks.length} blocks are new, ${printMB(newBytes)}`,
    );
  } finally {
    await rows.close();
  }
  if (options.verify) await verify(parts, true);
  if (keep !== undefined) await prune(parts, keep);
}

function readKeep(text: string): number {
  const keep = Number(text);
  if (Number.isSafeInteger(keep) && keep >= 1) return keep;
  throw new Fault("E_STARTUP", `--keep: "${text}" is no number of backups`);
}

function printMB(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export async function runBackupList({ to, keyFile, json }: BackupListFlags): Promise<void> {
  const { place, seal } = openParts(to, keyFile);
  const manifests = await readManifests(place, seal);
  const shown = manifests.map(({ id, createdAt, commitTs, version, rows, bytes, blocks }) => {
    const packedBytes = blocks.reduce((sum, block) => sum + block.packedBytes, 0);
    return { id, createdAt, commitTs, version, rows, bytes, packedBytes };
  });
  if (json) {
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  if (shown.length === 0) process.stdout.write("there are no backups\n");
  for (const { id, commitTs, rows, bytes, packedBytes } of shown) {
    process.stdout.write(
      `${id}  commit ${commitTs}, ${rows.toLocaleString("en-US")} rows, ${printMB(bytes)}, packed ${printMB(packedBytes)}\n`,
    );
  }
}

export async function runBackupVerify({
  to,
  keyFile,
}: Pick<BackupFlags, "to" | "keyFile">): Promise<void> {
  await verify(openParts(to, keyFile), false);
}

async function verify(parts: BackupParts, isNewestOnly: boolean): Promise<void> {
  const all = await readManifests(parts.place, parts.seal);
  const manifests = isNewestOnly ? all.slice(-1) : all;
  const total = manifests.reduce((sum, { bytes }) => sum + bytes, 0);
  const bar = startProgressBar("reading backups", "rows");
  const problems = await verifyBackups(parts, manifests, (bytes, rows) =>
    bar.update(bytes, Math.max(total, bytes), rows),
  );
  bar.finish();
  for (const problem of problems) complain(problem);
  if (problems.length > 0) throw new Fault("E_STARTUP", `${problems.length} blocks are damaged`);
  say(`${manifests.length} ${manifests.length === 1 ? "backup is" : "backups are"} sound`);
}

export async function runBackupPrune({ to, keyFile, keep }: BackupPruneFlags): Promise<void> {
  await prune(openParts(to, keyFile), readKeep(keep));
}

async function prune(parts: BackupParts, keep: number): Promise<void> {
  const { backups, kept, blocks } = await pruneBackups(parts, { keep, nowMs: systemClock.nowMs() });
  say(`${backups} backups and ${blocks} blocks are gone, ${kept} backups stay`);
}

export async function runRestore(options: RestoreFlags): Promise<void> {
  const { from, data, at, keyFile } = options;
  const key = readEncryption(options.encryption);
  const parts = openParts(from, keyFile);
  const manifest = chooseBackup(await readManifests(parts.place, parts.seal), at);
  const store = await makeStoreOfRows(data, key);
  const bar = startProgressBar("restoring", "rows");
  try {
    await restoreBackup(parts, manifest, store, (bytes, rows) =>
      bar.update(bytes, manifest.bytes, rows),
    );
  } catch (error) {
    await store.abandon();
    throw error;
  }
  const bytes = await store.finish();
  bar.finish();
  say(`${data} holds backup ${manifest.id} of commit ${manifest.commitTs}, ${printMB(bytes)}`);
}
