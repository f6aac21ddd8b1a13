/** `backup` and `listBackups`. */
import { Fault } from "../model/fault.ts";
import type { FieldTable } from "./field.ts";
import {
  readCredentials,
  type CredentialsInput,
  type PlaceCredentials,
} from "./place-credentials.ts";

/** A place as the caller names it, and as whom it is reached. */
export interface PlaceWish {
  /** A path, `file:///PATH` or `s3://BUCKET/PREFIX`. */
  readonly location: string;
  readonly credentials: PlaceCredentials | undefined;
}

/** A backup as it is listed, the newest first. */
interface ListedBackup {
  readonly backupId: string;
  readonly createdAt: string;
  readonly encrypted: boolean;
  /** Of its manifest. */
  readonly path: string;
  readonly commitTs: number;
}

/** Backups are made beside the server's own processes. */
export interface Backups {
  /** The task's id, as `0x1a`. Fault E_BACKUP for a place that cannot be. */
  start(wish: PlaceWish): Promise<string>;
  /** Fault E_BACKUP where they cannot be read. */
  list(wish: PlaceWish): Promise<readonly ListedBackup[]>;
}

interface ListInput extends CredentialsInput {
  readonly location: string;
  readonly sinceDate?: string | null;
  readonly untilDate?: string | null;
  readonly lastNDays?: number | null;
  readonly fullManifest?: boolean | null;
}

export function makeBackupFields(backups: Backups | undefined, nowMs: () => number): FieldTable {
  return {
    "Query.listBackups": async ({ input }: { input: ListInput }) => {
      const period = readPeriod(input, nowMs());
      if (backups === undefined) throw notYet("listBackups");
      const wish = { location: input.location, credentials: readCredentials(input, "E_BACKUP") };
      const listed = await backups.list(wish).catch((error: unknown) => {
        throw error instanceof Fault ? new Fault("E_BACKUP", `Error: ${error.message}`) : error;
      });
      return listed
        .map((one, i) => ({ ...one, backupNum: listed.length - i }))
        .filter(({ createdAt }) => period.since <= createdAt && createdAt <= period.until)
        .map(({ backupId, backupNum, encrypted, path, commitTs }) => ({
          backupId,
          backupNum,
          encrypted,
          path,
          since: commitTs,
          // Each stands by itself.
          type: "full",
        }));
    },
    "Mutation.backup": async ({ input }: { input: CredentialsInput & { destination: string } }) => {
      if (input.destination === "") {
        throw new Fault("E_BACKUP", "you must specify a 'destination' value");
      }
      if (backups === undefined) throw notYet("backup");
      const wish = { location: input.destination, credentials: readCredentials(input, "E_BACKUP") };
      const taskId = await backups.start(wish);
      return { response: { code: "Success", message: `Backup queued with ID ${taskId}` }, taskId };
    },
  };
}

/** An empty text is as good as none. */
function given(text: string | null | undefined): string | undefined {
  return text === null || text === "" ? undefined : text;
}

const dayMs = 24 * 60 * 60 * 1000;

/** As ISO 8601, so that texts compare as times do. */
function readPeriod(
  { sinceDate, untilDate, lastNDays }: ListInput,
  nowMs: number,
): { readonly since: string; readonly until: string } {
  const until = readDate("untilDate", untilDate) ?? "9";
  if (lastNDays === undefined || lastNDays === null) {
    return { since: readDate("sinceDate", sinceDate) ?? "", until };
  }
  if (lastNDays <= 0) {
    throw new Fault("E_BACKUP", `lastNDays must be a positive integer, got ${lastNDays}`);
  }
  if (given(sinceDate) !== undefined) {
    throw new Fault("E_BACKUP", "lastNDays and sinceDate are mutually exclusive");
  }
  return { since: new Date(nowMs - lastNDays * dayMs).toISOString(), until };
}

function readDate(name: string, text: string | null | undefined): string | undefined {
  const date = given(text);
  if (date === undefined) return undefined;
  const ms = Date.parse(date);
  if (Number.isNaN(ms)) throw new Fault("E_BACKUP", `invalid ${name} "${date}": it is no date`);
  return new Date(ms).toISOString();
}

/** In the words of the reference. */
export function explainMissing(path: string): string {
  return `getManifestWithoutUpgrade: The uri path: "${path}" doesn't exists`;
}

function notYet(name: string): Fault {
  return new Fault("E_NOT_YET", `${name} is not available yet`);
}
