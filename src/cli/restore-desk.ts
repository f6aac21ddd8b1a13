/** Restores that `/admin` asks for: from where they may come, and how they are made. */
import { resolve } from "node:path";
import type { Restores, RestoreWish } from "../admin/restore-fields.ts";
import type { Controls } from "../admin/controls.ts";
import { setDraining } from "../admin/interface.ts";
import { readManifests, type BackupManifest } from "../backup/manifest.ts";
import { openPlace } from "../backup/open-place.ts";
import { readSeal } from "../backup/seal.ts";
import { checkNotRestoring } from "../engine/restore-hold.ts";
import type { SystemRows } from "../engine/system-rows.ts";
import { Fault } from "../model/fault.ts";
import type { Store } from "../store/store.ts";
import { findPlaceThere } from "./backup-desk.ts";
import type { CommandTasks } from "./command-tasks.ts";
import type { ServeConfig } from "./config.ts";
import { encryptionFlag } from "./encryption.ts";

interface RestoreParts {
  readonly config: ServeConfig;
  readonly tasks: CommandTasks;
  readonly controls: Controls;
  readonly rows: SystemRows;
  readonly store: Pick<Store, "slots">;
  /** What must always be there is made where the backup lacks it. */
  readonly onDone: () => Promise<void>;
}

const verifying = "failed to verify backup: while retrieving manifests";

export function openRestoreDesk(parts: RestoreParts): Restores {
  const { config, tasks, controls, rows, store, onDone } = parts;
  return {
    async start(wish) {
      const { to, env } = findPlaceThere(config, wish, verifying);
      const keyFile = chooseKey(config, wish.keyFile);
      const { manifests, key } = await readBackups(
        openPlace(to, { ...process.env, ...env }),
        keyFile,
      );
      const at = chooseBackup(manifests, wish);
      await checkNotRestoring(rows, store);
      const args = [
        "restore",
        "--from",
        to,
        "--into",
        config.dataDir,
        ...(at === undefined ? [] : ["--at", at]),
        ...(key === undefined ? [] : ["--key-file", key]),
        ...scopeFlags(wish),
        ...encryptionFlag(config.keyFile),
      ];
      return await tasks.start({ kind: "Restore", namespace: 0, args, env, place: to, onDone });
    },
    async drain() {
      await setDraining(controls, true);
    },
  };
}

function scopeFlags({ namespace }: RestoreWish): readonly string[] {
  if (namespace === undefined) return [];
  return ["--namespace", String(namespace.from), "--as", String(namespace.into)];
}

/** No other file is opened: whoever administers a server may not read its machine. */
function chooseKey({ backup }: ServeConfig, wish: string | undefined): string | undefined {
  const own = backup?.keyFile;
  if (wish === undefined) return own;
  if (own !== undefined && resolve(wish) === resolve(own)) return own;
  throw new Fault("E_BACKUP", `${wish} is not the key file of --backup "to=…; key-file=FILE"`);
}

interface KnownBackups {
  readonly manifests: readonly BackupManifest[];
  /** undefined: they are not encrypted. */
  readonly key: string | undefined;
}

/** A server whose backups are encrypted restores plain ones, too. */
async function readBackups(
  place: ReturnType<typeof openPlace>,
  keyFile: string | undefined,
): Promise<KnownBackups> {
  try {
    return { manifests: await readManifests(place, readSeal(undefined)), key: undefined };
  } catch (error) {
    if (keyFile === undefined) throw wrapped(error);
  }
  try {
    return { manifests: await readManifests(place, readSeal(keyFile)), key: keyFile };
  } catch (error) {
    throw wrapped(error);
  }
}

function wrapped(error: unknown): unknown {
  return error instanceof Fault ? new Fault("E_BACKUP", `${verifying}: ${error.message}`) : error;
}

/** As `weft restore --at` takes it. */
function chooseBackup(
  manifests: readonly BackupManifest[],
  { backupId, backupNum, at }: RestoreWish,
): string | undefined {
  if (manifests.length === 0) throw new Fault("E_BACKUP", "failed to verify backup: No backups");
  if (backupId === undefined && backupNum === undefined) return at;
  const number = manifests.findIndex(({ id }) => id === backupId) + 1;
  if (backupId !== undefined && number === 0) throw unknown(`the specified backup ID ${backupId}`);
  if (backupNum === undefined) return backupId;
  const numbered = manifests[backupNum - 1];
  if (numbered === undefined || (backupId !== undefined && number !== backupNum)) {
    throw unknown(`the specified backup number ${backupNum}`);
  }
  return numbered.id;
}

function unknown(what: string): Fault {
  return new Fault("E_BACKUP", `failed to verify backup: No backups with ${what}`);
}
