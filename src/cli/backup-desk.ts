/** Backups that `/admin` asks for: where they may go, and how they are made. */
import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { explainMissing, type Backups, type PlaceWish } from "../admin/backup-fields.ts";
import { pathOfLocation } from "../admin/place-path.ts";
import type { PlaceCredentials } from "../admin/place-credentials.ts";
import { readManifests } from "../backup/manifest.ts";
import { openPlace } from "../backup/open-place.ts";
import { readSeal } from "../backup/seal.ts";
import { Fault } from "../model/fault.ts";
import type { CommandTasks } from "./command-tasks.ts";
import type { ServeConfig } from "./config.ts";
import { encryptionFlag } from "./encryption.ts";

export function openBackupDesk(config: ServeConfig, tasks: CommandTasks): Backups {
  const keyFile = config.backup?.keyFile;
  return {
    async start(wish) {
      if (config.keyFile !== undefined && keyFile === undefined) {
        const why = "the store is encrypted, and its backups would not be";
        throw new Fault("E_BACKUP", `${why}: start the server with --backup "to=…; key-file=FILE"`);
      }
      const { to, env } = findPlace(config, wish);
      const sealed = keyFile === undefined ? [] : ["--key-file", keyFile];
      const keys = [...sealed, ...encryptionFlag(config.keyFile)];
      const args = ["backup", "make", "--data", config.dataDir, "--to", to, ...keys];
      return await tasks.start({ kind: "Backup", namespace: 0, args, env, place: to });
    },
    async list(wish) {
      const { to, env } = findPlaceThere(config, wish);
      const seal = readSeal(keyFile);
      const manifests = await readManifests(openPlace(to, { ...process.env, ...env }), seal);
      return manifests.toReversed().map(({ id, createdAt, commitTs, keyCheck }) => ({
        backupId: id,
        createdAt,
        encrypted: keyCheck !== "",
        path: `backups/${id}.json`,
        commitTs,
      }));
    },
  };
}

interface ChosenPlace {
  /** As `weft backup --to` takes it. */
  readonly to: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Who may back up may not write anywhere: directories lie below that of `--backup`, or below `backups` of the store;
 * buckets are reached with credentials of the caller's own, or below that of `--backup`.
 */
function findPlace(config: ServeConfig, { location, credentials }: PlaceWish): ChosenPlace {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(location) ?? [];
  if (scheme === undefined) return findDirectory(config, location);
  if (scheme.toLowerCase() === "file") return findDirectory(config, pathOfUrl(location));
  if (scheme.toLowerCase() !== "s3") {
    throw new Fault(
      "E_BACKUP",
      `${scheme}: is not available: name a directory, or s3://BUCKET/PREFIX with AWS_ENDPOINT_URL in the server's environment`,
    );
  }
  if (credentials !== undefined) return { to: location, env: environmentOf(credentials) };
  const own = config.backup?.to;
  if (own !== undefined && (location === own || location.startsWith(`${own}/`))) {
    return { to: location, env: {} };
  }
  throw new Fault(
    "E_BACKUP",
    `${location} needs accessKey and secretKey: it does not lie below the place of --backup`,
  );
}

function rootOf({ backup, dataDir }: ServeConfig): string {
  const [, own] = /^(?:dir:)?(.*)$/s.exec(backup?.to ?? "") ?? [];
  const isDirectory = own !== undefined && own !== "" && !own.startsWith("s3:");
  return resolve(isDirectory ? own : join(dataDir, "backups"));
}

function findDirectory(config: ServeConfig, path: string): ChosenPlace {
  const root = rootOf(config);
  const place = resolve(root, path);
  if (place === root || place.startsWith(root + sep)) return { to: `dir:${place}`, env: {} };
  throw new Fault("E_BACKUP", `the place ${path} does not lie within ${root} (--backup)`);
}

/** As `findPlace`; what is not there is told as such. */
export function findPlaceThere(
  config: ServeConfig,
  wish: PlaceWish,
  failing = `cannot read manifests at location ${wish.location}`,
): ChosenPlace {
  const path = pathOfLocation(wish.location);
  if (path !== undefined && !existsSync(resolve(rootOf(config), path))) {
    throw new Fault("E_BACKUP", `${failing}: ${explainMissing(path)}`);
  }
  return findPlace(config, wish);
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new Fault("E_BACKUP", `invalid destination: ${url}`);
  }
}

/** As the commands that write to a bucket read them. */
export function environmentOf({
  accessKey,
  secretKey,
  sessionToken,
}: PlaceCredentials): ChosenPlace["env"] {
  return {
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_SESSION_TOKEN: sessionToken ?? "",
  };
}
