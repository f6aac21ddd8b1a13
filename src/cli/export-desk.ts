/** Exports that `/admin` asks for: where they go, and how they are made. */
import { mkdirSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { Exports } from "../admin/export-fields.ts";
import type { PlaceCredentials } from "../admin/place-credentials.ts";
import { isBucketPlace } from "../backup/open-place.ts";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import type { CommandTasks } from "./command-tasks.ts";
import { environmentOf } from "./backup-desk.ts";
import { encryptionFlag } from "./encryption.ts";

interface ExportParts {
  readonly tasks: CommandTasks;
  readonly dataDir: string;
  /** Of an encrypted store. */
  readonly keyFile: string | undefined;
  /** Below it all exports lie; undefined: there are none. */
  readonly exportDir: string | undefined;
  /** The newest commit, for the name of the folder. */
  readonly commitTs: () => Promise<number>;
  readonly clock: Clock;
}

export function openExports(parts: ExportParts): Exports {
  const { tasks, dataDir, keyFile, exportDir, commitTs, clock } = parts;
  return {
    async start({ format, namespace, destination, credentials }) {
      if (exportDir === undefined) {
        const why = "the store is encrypted, and exports are not";
        throw new Fault(
          "E_TASK",
          `${why}: start the server with --export DIR to say where they go`,
        );
      }
      const folder = nameFolder(await commitTs(), clock.nowMs());
      const isBucket = destination.startsWith("s3:");
      const place = isBucket
        ? `${checkBucket(destination, credentials)}/${folder}`
        : join(makeParent(exportDir, destination), folder);
      const env = credentials === undefined ? {} : environmentOf(credentials);
      const wishes = ["--format", format, "--namespace", String(namespace)];
      const key = encryptionFlag(keyFile);
      const args = ["export", "--data", dataDir, "--to", place, ...wishes, ...key];
      return tasks.start({ kind: "Export", namespace, args, env, place });
    },
  };
}

/** Buckets are reached with credentials of the caller's own. Gives the place without a slash at its end. */
function checkBucket(destination: string, credentials: PlaceCredentials | undefined): string {
  if (credentials === undefined) {
    throw new Fault("E_TASK", `${destination} needs accessKey and secretKey`);
  }
  if (!isBucketPlace(destination)) {
    throw new Fault("E_TASK", `invalid destination: ${destination} (as s3://BUCKET/PREFIX)`);
  }
  return destination.replace(/\/+$/, "");
}

function makeParent(exportDir: string, destination: string): string {
  const parent = findPlace(exportDir, destination);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return parent;
}

/** Who may export may not write anywhere. */
function findPlace(exportDir: string, destination: string): string {
  const root = resolve(exportDir);
  const place = resolve(root, destination);
  if (place === root || place.startsWith(root + sep)) return place;
  throw new Fault(
    "E_TASK",
    `the destination ${destination} does not lie within ${root} (--export)`,
  );
}

/** As the reference names them: commit, month, day and time. */
function nameFolder(commitTs: number, nowMs: number): string {
  const [date, time] = new Date(nowMs).toISOString().split("T") as [string, string];
  const day = date.slice(5).replace("-", "");
  return `dgraph.r${commitTs}.u${day}.${time.slice(0, 5).replace(":", "")}`;
}
