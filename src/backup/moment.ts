/** To which moment a store is restored: a backup, and the entries behind it. */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import type { Patch } from "../store/store.ts";
import type { LogReplay } from "../stores/log-replay.ts";
import type { LogRow } from "../stores/stored-log.ts";
import { readBehind, reachOf } from "./archive.ts";
import type { BackupParts } from "./backup.ts";
import type { BackupManifest } from "./manifest.ts";
import { listSegments } from "./segment.ts";

export interface Moment {
  readonly base: BackupManifest;
  /** The newest commit that is asked for; Infinity: all that is there. */
  readonly commitTs: number;
  /** Since 1970: nothing that was committed later; Infinity: whenever. */
  readonly ms: number;
}

/**
 * Of `at` the id of a backup, a commit number or a time; all that is there where it is undefined. Fault E_BACKUP where no
 * backup is as old.
 */
export function chooseMoment(manifests: readonly BackupManifest[], at: string | undefined): Moment {
  const newest = manifests.at(-1);
  if (newest === undefined) throw new Fault("E_BACKUP", "there are no backups");
  if (at === undefined) return { base: newest, commitTs: Infinity, ms: Infinity };
  const named = manifests.find(({ id }) => id === at);
  if (named !== undefined) return { base: named, commitTs: named.commitTs, ms: Infinity };
  if (/^\d+$/.test(at)) return chooseCommit(manifests, newest.storeId, Number(at));
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) {
    throw new Fault("E_BACKUP", `there is no backup ${at}, and that is no time and no commit`);
  }
  const base = manifests.findLast(({ createdAt }) => Date.parse(createdAt) <= ms);
  if (base !== undefined) return { base, commitTs: Infinity, ms };
  throw new Fault("E_BACKUP", `no backup is as old as ${new Date(ms).toISOString()}`);
}

/** Commits of the store that was backed up last. */
function chooseCommit(
  manifests: readonly BackupManifest[],
  storeId: string,
  commitTs: number,
): Moment {
  const base = manifests.findLast((one) => one.storeId === storeId && one.commitTs <= commitTs);
  if (base !== undefined) return { base, commitTs, ms: Infinity };
  throw new Fault("E_BACKUP", `no backup is as old as commit ${commitTs}`);
}

/** How far a store was brought. */
interface Reached {
  readonly commitTs: number;
  /** Since 1970: of that commit; undefined where nothing was added to the backup. */
  readonly committedMs: number | undefined;
  /** Whether there is an entry that was not wanted any more: without one nothing is known of later ones. */
  readonly isEndSeen: boolean;
}

/** Entries in one transaction. */
const appliedAtOnce = 256;

/**
 * Applies the entries behind the moment's backup to the store that was made of it. Fault E_BACKUP where they do not
 * reach to the commit that is asked for, or a segment is damaged before.
 */
export async function replayTo(
  parts: BackupParts,
  { base, commitTs, ms }: Moment,
  replay: LogReplay,
  {
    isLeftOut,
    onProgress,
  }: {
    readonly isLeftOut: (patch: Patch) => boolean;
    /** How much of the way is done, from 0 to 1. */
    readonly onProgress: (share: number, entries: number) => void;
  },
): Promise<Reached> {
  let entries = 0;
  let committedMs: number | undefined;
  let isEndSeen = commitTs === base.commitTs;
  const isWanted = (row: LogRow): boolean => row.commitTs <= commitTs && row.committedMs <= ms;
  try {
    if (!isEndSeen) {
      const way = (await findLast(parts, { base, commitTs, ms })) - base.commitTs;
      for await (const rows of readBehind(parts, base)) {
        const end = rows.findIndex((row) => !isWanted(row));
        const wanted = end === -1 ? rows : rows.slice(0, end);
        for (let i = 0; i < wanted.length; i += appliedAtOnce) {
          replay.apply(wanted.slice(i, i + appliedAtOnce), isLeftOut);
          await new Promise((resolve) => setImmediate(resolve));
        }
        committedMs = wanted.at(-1)?.committedMs ?? committedMs;
        entries += wanted.length;
        onProgress(Math.min(1, (replay.commitTs - base.commitTs) / Math.max(1, way)), entries);
        isEndSeen = end !== -1 || must(rows.at(-1), "it has entries").commitTs === commitTs;
        if (isEndSeen) break;
      }
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const reached = `before it the backups reach to commit ${replay.commitTs}: --at ${replay.commitTs} restores that`;
    throw new Fault("E_BACKUP", `${error.message}; ${reached}`, { cause: error });
  }
  if (!isEndSeen && commitTs !== Infinity) {
    throw new Fault(
      "E_BACKUP",
      `the backups reach to commit ${replay.commitTs}, not to ${commitTs}`,
    );
  }
  return { commitTs: replay.commitTs, committedMs, isEndSeen };
}

/** The newest commit that may be wanted, by what the names of segments tell. */
async function findLast({ place }: BackupParts, { base, commitTs, ms }: Moment): Promise<number> {
  const segments = (await listSegments(place)).filter(({ firstMs }) => firstMs <= ms);
  return Math.min(commitTs, reachOf(base, segments).commitTs);
}
