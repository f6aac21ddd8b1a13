/** The log of a store in a place of backups: segments behind a backup, joined by the hashes of entries. */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import { hashLogRow, type LogRow, type StoredLog } from "../stores/stored-log.ts";
import type { BackupParts } from "./backup.ts";
import type { BackupManifest } from "./manifest.ts";
import type { BackupPlace } from "./place.ts";
import {
  listSegments,
  readSegment,
  writeSegment,
  type Segment,
  type SegmentName,
} from "./segment.ts";

/** Up to which commit a history is there. */
export interface ArchiveEnd {
  readonly commitTs: number;
  /** Of its entry; undefined: a backup of an older version did not say. */
  readonly hash: string | undefined;
}

/** Entries' bytes in one segment. */
const segmentBytes = 8 * 1024 * 1024;

/** Where the newest backup of a store, and the segments behind it, end; undefined: there is none of this store. */
export async function findEnd(
  parts: BackupParts,
  manifests: readonly BackupManifest[],
  storeId: string,
): Promise<ArchiveEnd | undefined> {
  const base = manifests.findLast((manifest) => manifest.storeId === storeId);
  if (base === undefined) return undefined;
  let end = endOf(base);
  for await (const rows of readBehind(parts, base)) {
    const last = must(rows.at(-1), "a segment has entries");
    end = { commitTs: last.commitTs, hash: hashLogRow(last.row) };
  }
  return end;
}

export function endOf({ commitTs, logHash }: BackupManifest): ArchiveEnd {
  return { commitTs, hash: logHash };
}

export interface Archived {
  readonly end: ArchiveEnd;
  readonly commits: number;
  /** As they lie there. */
  readonly bytes: number;
}

/**
 * Writes what is behind `end`, each segment durable before the next one. undefined: the log no longer reaches back, or
 * is of another history, so that a backup is needed. Faults E_BACKUP, E_STORE_CORRUPT.
 */
export async function archiveLog(
  { place, seal }: BackupParts,
  log: StoredLog,
  end: ArchiveEnd,
): Promise<Archived | undefined> {
  if (!holds(log, end)) return undefined;
  let at = end;
  let commits = 0;
  let bytes = 0;
  while (at.commitTs < log.commitTs) {
    const rows = log.read(at.commitTs, segmentBytes);
    const last = rows?.at(-1);
    if (rows === undefined || last === undefined) return undefined;
    bytes += await writeSegment(place, seal, log.storeId, { before: at.hash ?? "", rows });
    commits += rows.length;
    at = { commitTs: last.commitTs, hash: hashLogRow(last.row) };
  }
  return { end: at, commits, bytes };
}

/** Whether the entry at which the archive ends is in the log, or is what its first one stands on. */
function holds(log: StoredLog, { commitTs, hash }: ArchiveEnd): boolean {
  if (commitTs > log.commitTs || hash === undefined) return false;
  const [entry] = (commitTs === 0 ? [] : log.read(commitTs - 1, 1)) ?? [];
  return entry === undefined ? hash === "" : hashLogRow(entry.row) === hash;
}

/**
 * Entries behind a backup, segment by segment, as far as they join. Fault E_BACKUP where a segment is damaged. Segments
 * whose newest entry is older than `fromMs` are read all the same: each is known by the one before it.
 */
export async function* readBehind(
  { place, seal }: BackupParts,
  base: BackupManifest,
): AsyncGenerator<readonly LogRow[]> {
  const segments = (await listSegments(place)).filter(({ storeId }) => storeId === base.storeId);
  let end = endOf(base);
  for (let isJoined = true; isJoined;) {
    isJoined = false;
    for (const name of findNext(segments, end.commitTs)) {
      const rows = joinRows(await readSegment(place, seal, name), end);
      const last = rows?.at(-1);
      if (rows === undefined || last === undefined) continue;
      yield rows;
      end = { commitTs: last.commitTs, hash: hashLogRow(last.row) };
      isJoined = true;
      break;
    }
  }
}

/** Those that hold the entry behind `commitTs`; those that reach furthest first. */
function findNext(segments: readonly SegmentName[], commitTs: number): readonly SegmentName[] {
  return segments
    .filter(({ first, last }) => first <= commitTs + 1 && last > commitTs)
    .toSorted((a, b) => b.last - a.last);
}

/** The entries behind `end`; undefined where they are of another history. */
function joinRows({ before, rows }: Segment, end: ArchiveEnd): readonly LogRow[] | undefined {
  const start = rows.findIndex(({ commitTs }) => commitTs === end.commitTs + 1);
  if (start === -1) return undefined;
  const hash = start === 0 ? before : hashLogRow(must(rows[start - 1], "one before").row);
  const isJoined = end.hash === undefined || end.hash === hash;
  return isJoined ? rows.slice(start) : undefined;
}

/** How far segments reach behind a backup, by their names alone. */
export function reachOf(
  base: BackupManifest,
  segments: readonly SegmentName[],
): { readonly commitTs: number; readonly committedMs: number | undefined } {
  let { commitTs } = base;
  let committedMs: number | undefined;
  for (const { storeId, first, last, lastMs } of segments) {
    if (storeId !== base.storeId || first > commitTs + 1 || last <= commitTs) continue;
    commitTs = last;
    committedMs = lastMs;
  }
  return { commitTs, committedMs };
}

/** Faults E_BACKUP: segments that are damaged, and those that no backup leads to, each. */
export async function verifySegments(
  parts: BackupParts,
  manifests: readonly BackupManifest[],
  onProgress: (share: number, entries: number) => void,
): Promise<readonly string[]> {
  const problems: string[] = [];
  /** By store: from where on a backup or a sound segment leads. */
  const reached = new Map<string, number>();
  let entries = 0;
  const segments = await listSegments(parts.place);
  for (const [i, name] of segments.entries()) {
    const { storeId, first, last, path } = name;
    const bases = manifests.filter(
      (base) => base.storeId === storeId && base.commitTs + 1 >= first,
    );
    const isLed =
      bases.some(({ commitTs }) => commitTs <= last) || (reached.get(storeId) ?? -1) >= first;
    if (!isLed) problems.push(`nothing leads to the segment ${path}`);
    try {
      entries += (await readSegment(parts.place, parts.seal, name)).rows.length;
      reached.set(storeId, Math.max(reached.get(storeId) ?? 0, last + 1));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      problems.push(error.message);
    }
    onProgress((i + 1) / segments.length, entries);
  }
  return problems;
}

/** Removes segments that no kept backup needs. How many. */
export async function pruneSegments(
  place: BackupPlace,
  kept: readonly BackupManifest[],
): Promise<number> {
  const oldest = new Map<string, number>();
  for (const { storeId, commitTs } of kept) {
    oldest.set(storeId, Math.min(commitTs, oldest.get(storeId) ?? Infinity));
  }
  let count = 0;
  for (const { path, storeId, last } of await listSegments(place)) {
    if (last > (oldest.get(storeId) ?? Infinity)) continue;
    await place.remove(path);
    count++;
  }
  return count;
}
